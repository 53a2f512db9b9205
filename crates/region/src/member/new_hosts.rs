//! How many hosts a member takes on because links lead to them.

use crate::time::Millis;

/// Most hosts within [`PERIOD_MS`]: as many as the coordinator takes from one agent a day. A site
/// with endless host names would fill the memory of the members otherwise.
const MOST: u32 = 50_000;

/// A day, in milliseconds.
const PERIOD_MS: u64 = 86_400_000;

/// Hosts that links added since the beginning of a period.
#[derive(Debug, Clone, Default)]
pub(super) struct NewHosts {
    begin: Millis,
    count: u32,
}

impl NewHosts {
    /// Counts a new host; false where it is one too many.
    pub(super) fn admit(&mut self, now: Millis) -> bool {
        if now.since(self.begin) >= PERIOD_MS {
            *self = Self { begin: now, count: 0 };
        }
        self.count = self.count.saturating_add(1);
        self.count <= MOST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_a_day_are_bounded() {
        let mut new = NewHosts::default();
        let first = Millis(PERIOD_MS);
        assert!((0..MOST).all(|_| new.admit(first)));
        assert!(!new.admit(first.plus(PERIOD_MS - 1)));
        assert!(new.admit(first.plus(PERIOD_MS)), "the next day");
    }
}
