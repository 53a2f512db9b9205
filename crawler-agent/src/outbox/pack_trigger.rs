//! When is it time to pack?

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{sync::Notify, time::timeout};

/// Counts what waits to be packed.
#[derive(Debug, Default)]
pub struct PackTrigger {
    bytes: AtomicU64,
    more: Notify,
}

impl PackTrigger {
    /// There is another result of about this size.
    pub fn add(&self, bytes: u64) {
        // At least one, so that a result without a body is noticed too.
        self.bytes.fetch_add(bytes.max(1), Ordering::Relaxed);
        self.more.notify_one();
    }

    /// Whatever there is shall be packed now.
    pub fn pack_now(&self) {
        self.bytes.fetch_max(u64::MAX / 2, Ordering::Relaxed);
        self.more.notify_one();
    }

    /// Returns when there are `enough` bytes, or when the first result has waited for `age`; and
    /// starts to count anew.
    pub async fn wait(&self, age: Duration, enough: u64) {
        while self.bytes.load(Ordering::Relaxed) == 0 {
            self.more.notified().await;
        }
        let full = async {
            while self.bytes.load(Ordering::Relaxed) < enough {
                self.more.notified().await;
            }
        };
        // Old enough or enough: both are fine.
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
    async fn age_or_size_whichever_comes_first() {
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
        assert_eq!(started.elapsed(), AGE, "in a hurry");
        assert!(timeout(AGE * 10, pack_trigger.wait(AGE, 100)).await.is_err(), "nothing to pack");
    }
}
