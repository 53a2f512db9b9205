//! Pace: the rate at which name servers are asked, for all purposes together.

use std::time::Duration;

use tokio::{sync::Mutex, time::Instant};

use crate::token_bucket::TokenBucket;

/// Time of a rest whose lookups may follow each other at once.
const BURST: Duration = Duration::from_secs(1);

/// Lets lookups through one after the other.
pub(super) struct Pace {
    /// The lookup that is next holds the lock, so that lookups keep their order.
    bucket: Mutex<TokenBucket>,
    /// Times are counted from here; the time before the start counts as a rest.
    started: Instant,
}

impl Pace {
    pub(super) fn new(per_second: u32) -> Self {
        let bucket = Mutex::new(TokenBucket::new(per_second.into(), BURST));
        Self { bucket, started: Instant::now() }
    }

    /// Waits until a name may be looked up. A lookup that stops waiting has taken nothing from the
    /// others.
    pub(super) async fn wait(&self) {
        let mut bucket = self.bucket.lock().await;
        loop {
            let now = BURST + self.started.elapsed();
            // What is reserved in a copy is not reserved.
            let pause = bucket.clone().reserve(1, now);
            if pause.is_zero() {
                bucket.reserve(1, now);
                return;
            }
            tokio::time::sleep(pause).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn lookups_follow_each_other_at_the_rate() {
        let pace = Pace::new(2);
        let begun = Instant::now();
        for _ in 0..6 {
            pace.wait().await;
        }
        let taken = begun.elapsed();
        assert!(taken >= Duration::from_secs(2), "two at once, then four: {taken:?}");
        assert!(taken < Duration::from_millis(2_100), "{taken:?}");
    }

    /// Otherwise the lookups of one page that end early would hold up all others.
    #[tokio::test(start_paused = true)]
    async fn a_lookup_that_is_given_up_takes_nothing() {
        let pace = Pace::new(1);
        pace.wait().await;
        let begun = Instant::now();
        for _ in 0..20 {
            let waiting = tokio::time::timeout(Duration::from_millis(10), pace.wait());
            assert!(waiting.await.is_err());
        }
        pace.wait().await;
        assert!(begun.elapsed() < Duration::from_millis(1_100), "{:?}", begun.elapsed());
    }
}
