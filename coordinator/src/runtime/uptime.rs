//! Uptime: the time in which a coordinator led, whichever it was. While none did, no heartbeats
//! were received and no probes were ordered, so such time must not count against agents or
//! searches.
//!
//! The leader writes to the database that it is there. A longer silence counts as downtime.

use model::{DAY_MS, UnixMillis};
use serde::{Deserialize, Serialize};
use store::{Store, StoreError, settings};

/// Longest silence that is no downtime: a change of leader, or a restart.
const LONGEST_PAUSE_MS: i64 = 5 * 60_000;
/// Longest uptime that a caller asks for: a day. Earlier times are forgotten.
const KEPT_MS: i64 = DAY_MS;
/// Most downtimes that are kept. The two oldest become one when there are more.
const MOST: usize = 100;
/// Name of the setting that has the uptime.
pub const SETTING: &str = "uptime";

/// When a leader was there, as far as the last day of uptime shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Uptime {
    /// When a leader was there last.
    seen: UnixMillis,
    /// Downtimes, the oldest first.
    downtimes: Vec<Downtime>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Downtime {
    from: UnixMillis,
    to: UnixMillis,
}

impl Default for Uptime {
    /// Before the first leader.
    fn default() -> Self {
        Self { seen: UnixMillis(0), downtimes: Vec::new() }
    }
}

impl Uptime {
    /// Milliseconds of uptime between two points. More than a day may contain downtime.
    pub fn between_ms(&self, from: UnixMillis, to: UnixMillis) -> i64 {
        let overlap = |down: &Downtime| (down.to.min(to).0 - down.from.max(from).0).max(0);
        let down: i64 = self.downtimes.iter().map(overlap).sum();
        (to.0.saturating_sub(from.0) - down).max(0)
    }

    /// A leader is there now.
    fn note(&mut self, now: UnixMillis) {
        if now > self.seen.plus_ms(LONGEST_PAUSE_MS) {
            self.downtimes.push(Downtime { from: self.seen, to: now });
        }
        self.seen = now;
        let mut kept = self.downtimes.clone();
        // One that ends later was noted while a clock was ahead.
        kept.retain(|down| down.to <= now && self.between_ms(down.to, now) < KEPT_MS);
        if kept.len() > MOST {
            let oldest = kept.remove(0);
            kept[0].from = oldest.from;
        }
        self.downtimes = kept;
    }
}

/// The uptime so far. Before the first election, all time counts as uptime.
pub async fn read(store: &Store) -> Result<Uptime, StoreError> {
    let stored = settings::get(store, SETTING).await?;
    Ok(stored.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default())
}

/// Writes that a leader is there.
pub async fn record(store: &Store, now: UnixMillis) -> Result<(), anyhow::Error> {
    let mut uptime = read(store).await?;
    uptime.note(now);
    Ok(settings::set(store, SETTING, &serde_json::to_value(&uptime)?).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;
    const HOUR: i64 = 60 * MINUTE;

    fn at(hour: i64) -> UnixMillis {
        UnixMillis((1_000_000 + hour) * HOUR)
    }

    /// A leader is there in these hours.
    fn up(spans: &[(i64, i64)]) -> Uptime {
        let mut uptime = Uptime::default();
        for (from, to) in spans {
            (0..=(to - from) * 60).for_each(|n| uptime.note(at(*from).plus_ms(n * MINUTE)));
        }
        uptime
    }

    #[test]
    fn a_daily_change_of_leader_is_no_downtime() {
        let mut uptime = up(&[(0, 24)]);
        (1..5).for_each(|day| {
            uptime.note(at(24 * day).plus_ms(4 * MINUTE));
            (0..24 * 60).for_each(|n| uptime.note(at(24 * day).plus_ms((5 + n) * MINUTE)));
        });
        assert_eq!(uptime.between_ms(at(30), at(100)), 70 * HOUR);
    }

    #[test]
    fn downtime_is_left_out() {
        let weekend = up(&[(0, 10), (70, 72)]);
        assert_eq!(weekend.between_ms(at(8), at(72)), 4 * HOUR);
        assert_eq!(weekend.between_ms(at(20), at(30)), 0);
        assert_eq!(weekend.between_ms(at(-50), at(1)), HOUR, "before the first leader");
        let nightly = up(&[(0, 20), (24, 44), (48, 68)]);
        assert_eq!(nightly.between_ms(at(43), at(68)), 21 * HOUR);
    }

    #[test]
    fn old_and_many_downtimes_are_forgotten() {
        let uptime = up(&[(0, 1), (2, 26)]);
        assert_eq!(uptime.downtimes, []);
        assert!(uptime.between_ms(at(0), at(26)) >= KEPT_MS);
        let mut restarted = Uptime::default();
        (0..500).for_each(|n| restarted.note(at(0).plus_ms(n * 10 * MINUTE)));
        assert_eq!(restarted.downtimes.len(), MOST);
        assert_eq!(restarted.between_ms(at(-1), at(83)), 0);
    }

    #[test]
    fn a_clock_that_was_ahead_leaves_no_downtime() {
        let mut uptime = up(&[(0, 1)]);
        uptime.note(at(9_000));
        uptime.note(at(1).plus_ms(MINUTE));
        uptime.note(at(1).plus_ms(2 * MINUTE));
        assert_eq!(uptime.between_ms(at(0), at(2)), 2 * HOUR);
    }
}
