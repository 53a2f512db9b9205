//! Whether the agent's own line, or its name servers, have failed.
//!
//! Without a line every host looks as if it were dead: pages would count as failed and hosts would
//! be given up, all at once. So failures count against hosts only while others are reached.

use std::{
    collections::HashSet,
    hash::{DefaultHasher, Hash, Hasher as _},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// Targets in a row of which none was reached, after which the line counts as down. Dead hosts are
/// seldom that many in a row, and the failures of the first ones count against these hosts.
const MANY: usize = 8;

/// After this time failures count again: nothing that the agent has to visit may be there any more.
const LONGEST: Duration = Duration::from_hours(24);

/// Time for which a line that was in doubt is believed after something else proved that it works.
/// Else many dead hosts in a row would never be given up.
const BELIEVED: Duration = Duration::from_secs(5);

/// What was reached through a line, or through name servers.
#[derive(Debug, Default)]
pub struct Reach(Mutex<Misses>);

/// The targets that were not reached since one was.
#[derive(Debug, Default)]
struct Misses {
    /// Hashes of the targets, at most [`MANY`].
    targets: HashSet<u64>,
    /// When the first was not reached.
    since: Option<Instant>,
    believed_until: Option<Instant>,
}

impl Reach {
    /// Notes that a target was reached.
    pub fn reached(&self) {
        self.misses().clear();
    }

    /// Notes that something that is no target was reached.
    pub fn works(&self, now: Instant) {
        let mut misses = self.misses();
        if misses.outage(now).is_some() {
            misses.believed_until = Some(now + BELIEVED);
        }
        misses.clear();
    }

    /// Notes that a target could not be reached.
    pub fn missed(&self, target: impl Hash, now: Instant) {
        let mut misses = self.misses();
        if misses.believed_until.is_some_and(|until| now < until) || misses.targets.len() >= MANY {
            return;
        }
        let mut hasher = DefaultHasher::new();
        target.hash(&mut hasher);
        misses.targets.insert(hasher.finish());
        misses.since.get_or_insert(now);
    }

    /// For how long nothing was reached; none while the line seems to work.
    pub fn outage(&self, now: Instant) -> Option<Duration> {
        self.misses().outage(now)
    }

    fn misses(&self) -> MutexGuard<'_, Misses> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Misses {
    fn clear(&mut self) {
        self.targets.clear();
        self.since = None;
    }

    fn outage(&self, now: Instant) -> Option<Duration> {
        let lasts = now.duration_since(self.since?);
        (self.targets.len() >= MANY && lasts < LONGEST).then_some(lasts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(reach: &Reach, targets: std::ops::Range<u32>, now: Instant) {
        for target in targets {
            reach.missed(target, now);
        }
    }

    #[test]
    fn many_targets_in_a_row_are_an_outage_until_one_is_reached() {
        let reach = Reach::default();
        let start = Instant::now();
        let later = start + Duration::from_mins(5);
        missed(&reach, 0..7, start);
        missed(&reach, 0..7, start);
        assert_eq!(reach.outage(start), None, "one target may fail many times");
        reach.missed("another", later);
        assert_eq!(reach.outage(later), Some(Duration::from_mins(5)));
        missed(&reach, 0..100, later);
        assert_eq!(reach.outage(later), Some(Duration::from_mins(5)));
        reach.reached();
        assert_eq!(reach.outage(later), None);
        missed(&reach, 0..7, later);
        assert_eq!(reach.outage(later), None);
    }

    #[test]
    fn a_line_that_was_proved_is_believed_for_a_moment() {
        let reach = Reach::default();
        let start = Instant::now();
        missed(&reach, 0..7, start);
        reach.works(start);
        missed(&reach, 0..8, start);
        assert!(reach.outage(start).is_some(), "it was not in doubt");
        reach.works(start);
        missed(&reach, 0..8, start);
        assert_eq!(reach.outage(start), None);
        let after = start + BELIEVED;
        missed(&reach, 0..8, after);
        assert!(reach.outage(after).is_some());
    }

    #[test]
    fn failures_count_again_after_a_day() {
        let reach = Reach::default();
        let start = Instant::now();
        missed(&reach, 0..8, start);
        assert!(reach.outage(start + LONGEST - Duration::from_secs(1)).is_some());
        assert_eq!(reach.outage(start + LONGEST), None);
    }
}
