//! Waits for a condition instead of a time.

use std::fmt::Display;
use std::future::Future;
use std::time::Duration;

use tokio::time::{Instant, MissedTickBehavior};

use super::HarnessError;

/// Between two looks.
const STEP: Duration = Duration::from_millis(50);

/// Looks again and again until `look` finds a value; what it saw instead is told when `limit` is
/// over.
pub async fn until<T, S, F, L>(
    wanted: &str,
    limit: Duration,
    mut look: L,
) -> Result<T, HarnessError>
where
    S: Display,
    F: Future<Output = Result<T, S>>,
    L: FnMut() -> F,
{
    let end = Instant::now() + limit;
    let mut ticks = tokio::time::interval(STEP);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        match look().await {
            Ok(found) => return Ok(found),
            Err(seen) if Instant::now() >= end => {
                return Err(HarnessError::Late {
                    wanted: wanted.to_owned(),
                    limit,
                    seen: seen.to_string(),
                });
            }
            Err(_) => {}
        }
    }
}
