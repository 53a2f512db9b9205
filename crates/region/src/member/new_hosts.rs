//! How many hosts a member takes on because others name them.

use crate::time::Millis;

/// Most hosts within [`PERIOD_MS`] to which links lead: as many as the coordinator takes from one
/// agent a day. A site with endless host names would fill the memory of the members otherwise.
pub(super) const LINKED: u32 = 50_000;

/// Most hosts within [`PERIOD_MS`] that become known by notices of their owners. Notices come in
/// large numbers when a member joins, and must not use up the number for links.
pub(super) const NOTICED: u32 = 4 * LINKED;

/// Most hosts within [`PERIOD_MS`] that become known by bundles. A member that lost its disk gets a
/// bundle for each of its hosts, and so does one that joins.
pub(super) const BUNDLED: u32 = 20 * LINKED;

/// A day, in milliseconds.
const PERIOD_MS: u64 = 86_400_000;

/// Hosts that were added since the beginning of a period.
#[derive(Debug, Clone)]
pub(super) struct NewHosts {
    most: u32,
    begin: Millis,
    count: u32,
}

impl NewHosts {
    /// At most `most` hosts within a period.
    pub(super) fn new(most: u32) -> Self {
        Self { most, begin: Millis(0), count: 0 }
    }

    /// Counts a new host; false where it is one too many.
    pub(super) fn admit(&mut self, now: Millis) -> bool {
        if now.since(self.begin) >= PERIOD_MS {
            *self = Self { begin: now, ..Self::new(self.most) };
        }
        self.count = self.count.saturating_add(1);
        self.count <= self.most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_a_day_are_bounded() {
        let mut new = NewHosts::new(3);
        let first = Millis(PERIOD_MS);
        assert!((0..3).all(|_| new.admit(first)));
        assert!(!new.admit(first.plus(PERIOD_MS - 1)));
        assert!(new.admit(first.plus(PERIOD_MS)), "the next day");
    }
}
