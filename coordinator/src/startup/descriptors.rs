//! File descriptors: as many as the system allows, and a number of connections that fits.

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::runtime::config::Limits;

/// Descriptors for everything but clients: the index, packages, lookups and Postgres.
const RESERVED: u64 = 1_024;

/// Raises the limit of open files as far as this user may, and reduces the number of connections
/// to what is possible.
pub(super) fn make_room_for_connections(limits: &mut Limits) {
    let Ok((soft, hard)) = getrlimit(Resource::RLIMIT_NOFILE) else { return };
    let raised = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    let files = if raised.is_ok() { hard } else { soft };
    let wanted = limits.connections;
    fit(limits, files);
    if limits.connections < wanted {
        tracing::warn!(
            files,
            wanted,
            connections = limits.connections,
            "the limit of open files allows fewer connections than configured; raise it \
             (LimitNOFILE of the unit, or ulimit -n)"
        );
    }
}

/// Reduces the connections to what `files` allows; agents keep the share that they have.
fn fit(limits: &mut Limits, files: u64) {
    // Even a low limit leaves half of the files to clients.
    let possible = files.saturating_sub(RESERVED).max(files / 2).max(2);
    let possible = u32::try_from(possible).unwrap_or(u32::MAX);
    if limits.connections <= possible {
        return;
    }
    let share = u64::from(limits.connections_for_agents) * u64::from(possible);
    let for_agents = share / u64::from(limits.connections);
    limits.connections_for_agents = u32::try_from(for_agents).unwrap_or(possible - 1);
    limits.connections = possible;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(files: u64) -> (u32, u32) {
        let mut limits = Limits::default();
        fit(&mut limits, files);
        (limits.connections, limits.connections_for_agents)
    }

    #[test]
    fn connections_fit_into_the_open_files() {
        assert_eq!(fitted(65_536), (4_096, 2_048));
        assert_eq!(fitted(3_072), (2_048, 1_024));
        assert_eq!(fitted(1_024), (512, 256));
    }
}
