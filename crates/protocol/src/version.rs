//! Versions of the protocol.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Version of the protocol: one number, raised with each change that an older side would
/// misunderstand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProtocolVersion(pub u16);

/// Version of this build.
pub const CURRENT: ProtocolVersion = ProtocolVersion(6);

/// Oldest version that this build understands.
pub const OLDEST: ProtocolVersion = ProtocolVersion(1);

/// First version with [`crate::heartbeat::HostOrder`]s and leases. Agents before it get neither and
/// keep the hosts that they have.
pub const HANDOVERS: ProtocolVersion = ProtocolVersion(2);

/// First version in which the coordinator signs its answers to enrolment and sessions, and the
/// agent signs its whole profile. Older agents that have enrolled keep working; new ones cannot
/// enrol.
pub const SIGNED_ANSWERS: ProtocolVersion = ProtocolVersion(3);

/// First version whose agents hand a host over as a bundle, and take such bundles. While an agent
/// before it works, hosts are handed over URL by URL.
pub const HOST_BUNDLES: ProtocolVersion = ProtocolVersion(5);

/// First version whose agents say where they are. Of an agent before it the coordinator knows the
/// country of its home subnet at best.
pub const PLACES: ProtocolVersion = ProtocolVersion(6);

/// The other side speaks a version that this one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The agent is newer than this coordinator.
    #[error(
        "the agent speaks protocol {0}, this coordinator up to {CURRENT}: update the coordinator"
    )]
    Newer(ProtocolVersion),
    /// The agent is older than this coordinator supports.
    #[error(
        "the agent speaks protocol {0}, this coordinator needs at least {OLDEST}: update the agent"
    )]
    Older(ProtocolVersion),
    /// The agent is too old to enrol.
    #[error(
        "the agent speaks protocol {0}, and enrolment needs at least {SIGNED_ANSWERS}: update the \
         agent"
    )]
    TooOldToEnrol(ProtocolVersion),
}

impl ProtocolVersion {
    /// Checks that a coordinator of this build can serve an agent of this version.
    pub fn supported(self) -> Result<(), VersionError> {
        match self {
            v if v > CURRENT => Err(VersionError::Newer(v)),
            v if v < OLDEST => Err(VersionError::Older(v)),
            _ => Ok(()),
        }
    }

    /// Checks that an agent of this version can enrol.
    pub fn can_enrol(self) -> Result<(), VersionError> {
        if self < SIGNED_ANSWERS { Err(VersionError::TooOldToEnrol(self)) } else { Ok(()) }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_refused_with_the_remedy() {
        assert_eq!(CURRENT.supported(), Ok(()));
        let newer = ProtocolVersion(CURRENT.0 + 1).supported().unwrap_err();
        assert!(newer.to_string().contains("update the coordinator"));
        let older = ProtocolVersion(OLDEST.0 - 1).supported().unwrap_err();
        assert!(older.to_string().contains("update the agent"));
        assert_eq!(CURRENT.can_enrol(), Ok(()));
        assert_eq!(HANDOVERS.can_enrol(), Err(VersionError::TooOldToEnrol(HANDOVERS)));
    }
}
