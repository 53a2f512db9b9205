//! Trigger of packing: by size, by age, or at once.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{sync::Notify, time::timeout};

use crate::frontier::{FrontierError, FrontierHandle};

/// Counts results that are not packed yet.
#[derive(Debug, Default)]
pub struct PackTrigger {
    bytes: AtomicU64,
    more: Notify,
}

impl PackTrigger {
    /// Counts another result of about this size, in bytes.
    pub fn add(&self, bytes: u64) {
        // At least one, so that a result without a body counts too.
        self.bytes.fetch_add(bytes.max(1), Ordering::Relaxed);
        self.more.notify_one();
    }

    /// Ends the current wait, so that all results are packed now.
    pub fn pack_now(&self) {
        // Half of the range, so that later additions do not overflow.
        self.bytes.fetch_max(u64::MAX / 2, Ordering::Relaxed);
        self.more.notify_one();
    }

    /// Waits until `store` has room for further results. They are packed now: without room nothing
    /// is fetched that would add to them, and what they are counted as may be less than enough.
    pub async fn until_room(&self, store: &FrontierHandle) -> Result<(), FrontierError> {
        if store.has_room()? {
            return Ok(());
        }
        self.pack_now();
        store.until_room().await
    }

    /// Returns when there are `enough` bytes of results, or when the first result has waited for
    /// `age`; then starts to count anew.
    pub async fn wait(&self, age: Duration, enough: u64) {
        while self.bytes.load(Ordering::Relaxed) == 0 {
            self.more.notified().await;
        }
        let full = async {
            while self.bytes.load(Ordering::Relaxed) < enough {
                self.more.notified().await;
            }
        };
        // Either reason is a reason to pack.
        drop(timeout(age, full).await);
        self.bytes.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;

    const AGE: Duration = Duration::from_secs(2);

    #[tokio::test(start_paused = true)]
    async fn the_wait_ends_by_age_or_size() {
        let pack_trigger = PackTrigger::default();
        let started = Instant::now();
        pack_trigger.add(0);
        pack_trigger.wait(AGE, 100).await;
        assert_eq!(started.elapsed(), AGE);
        pack_trigger.add(60);
        pack_trigger.add(60);
        pack_trigger.wait(AGE, 100).await;
        assert_eq!(started.elapsed(), AGE);
        pack_trigger.pack_now();
        pack_trigger.wait(AGE, 100).await;
        assert_eq!(started.elapsed(), AGE, "asked to pack now");
        assert!(timeout(AGE * 10, pack_trigger.wait(AGE, 100)).await.is_err(), "nothing to pack");
    }
}
