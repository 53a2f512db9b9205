//! Maps: where agents and hosts are, who has which part of the IPv4 space, and the round trips
//! between agents and countries, and among agents.

mod home_times;
mod ipv4;
mod locality;
mod places;
mod round_trips;
mod world;

pub use home_times::{__path_home_times, home_times};
pub use ipv4::{__path_ipv4, ipv4};
pub use locality::{__path_locality, locality};
pub use round_trips::{__path_round_trips, round_trips};
pub use world::{__path_world, world};

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{DAY_MS, UnixMillis};

/// Days whose fetches maps show.
const DAYS: i64 = 30;

/// Since when fetches count.
fn since(now: UnixMillis) -> UnixMillis {
    now.plus_ms(-DAYS * DAY_MS)
}

/// The keys with the largest numbers, the largest first.
fn most<Key: Ord>(numbers: BTreeMap<Key, u64>, limit: usize) -> Vec<Key> {
    let mut sorted: Vec<(Key, u64)> = numbers.into_iter().collect();
    sorted.sort_by_key(|(_, number)| Reverse(*number));
    sorted.into_iter().take(limit).map(|(key, _)| key).collect()
}

/// Mean of times in microseconds, in milliseconds; none without any.
fn mean_ms(sum_us: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum_us as f64 / count as f64 / 1_000.0)
}
