//! Progress of the crawl, until nothing more happens.

use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, MissedTickBehavior};

use crate::harness::Admin;
use crate::referee::{Coverage, Referee};

/// Between two looks.
const STEP: Duration = Duration::from_secs(1);
/// So long without any change, the crawl is over: longer than any pause that an agent makes (a host
/// that fails is tried again after seconds, a candidate is waited for as long as the policy's
/// patience).
const QUIET: Duration = Duration::from_secs(45);
/// Complete, and so long without any change: over.
const QUIET_WHEN_COMPLETE: Duration = Duration::from_secs(8);

/// One look at everything that changes while a crawl goes on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Level {
    expected: usize,
    fetched: usize,
    delegated: u64,
    searches: u64,
    pending: u64,
    waiting_packages: u64,
    received: u64,
    indexed: u64,
}

/// Follows a crawl.
#[derive(Debug)]
pub struct Watch<'w> {
    referee: &'w Referee,
    admin: &'w Admin,
    talkative: bool,
}

impl<'w> Watch<'w> {
    /// A silent one.
    pub fn new(referee: &'w Referee, admin: &'w Admin) -> Self {
        Self { referee, admin, talkative: false }
    }

    /// Prints a line every ten looks.
    #[must_use]
    pub fn talking(self) -> Self {
        Self { talkative: true, ..self }
    }

    /// Waits until everything expected is fetched and ingested and nothing changes any more, or
    /// until nothing has changed for long, or until `limit`. The time it took, the final quiet not
    /// counted.
    pub async fn until_over(&self, limit: Duration) -> Duration {
        let begun = Instant::now();
        let mut last = Level::default();
        let mut changed = begun;
        let mut ticks = tokio::time::interval(STEP);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        for look in 0_u64.. {
            ticks.tick().await;
            let level = self.level(&last).await;
            if level != last {
                changed = Instant::now();
            }
            if self.talkative && look % 10 == 0 {
                println!("{:>5.0} s  {level}", begun.elapsed().as_secs_f64());
            }
            let quiet = if level.is_complete() { QUIET_WHEN_COMPLETE } else { QUIET };
            last = level;
            if changed.elapsed() >= quiet || begun.elapsed() >= limit {
                break;
            }
        }
        changed - begun
    }

    /// A coordinator that does not answer now (it may have been killed) leaves its numbers as they
    /// were.
    async fn level(&self, last: &Level) -> Level {
        let Coverage { all, .. } = self.referee.coverage();
        let expected = all.expected;
        let fetched = all.fetched;
        match self.admin.get("overview").await {
            Ok(overview) => Level { expected, fetched, ..Level::of(&overview) },
            Err(_) => Level { expected, fetched, ..last.clone() },
        }
    }
}

impl Level {
    fn of(overview: &Value) -> Self {
        let number = |pointer: &str| overview.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        let received = number("/packages/received");
        Self {
            expected: 0,
            fetched: 0,
            delegated: number("/delegations/total"),
            searches: number("/delegation_searches/open"),
            pending: number("/urls/pending"),
            waiting_packages: received.saturating_sub(number("/packages/ingested")),
            received,
            indexed: number("/pages/indexed"),
        }
    }

    fn is_complete(&self) -> bool {
        self.fetched >= self.expected
            && self.waiting_packages == 0
            && self.pending == 0
            && self.searches == 0
    }
}

impl std::fmt::Display for Level {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { expected, fetched, delegated, searches, indexed, received, .. } = self;
        write!(
            f,
            "{fetched} of {expected} URLs fetched, {delegated} subnets delegated, {searches} \
             searches open, {received} packages, {indexed} pages searchable"
        )
    }
}
