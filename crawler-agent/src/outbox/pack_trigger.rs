//! Trigger of packing: by size, by age, or at once.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    sync::Notify,
    time::{Instant, timeout},
};

use crate::frontier::{FrontierError, FrontierHandle};

/// Age of the oldest result at which the first package after a pause is closed.
const FIRST_AGE: Duration = Duration::from_secs(2);

/// Counts results that are not packed yet.
#[derive(Debug, Default)]
pub struct PackTrigger {
    bytes: AtomicU64,
    more: Notify,
}

/// Age of the oldest result at which a package is closed. Each package is kept for good, so that a
/// steady trickle of results makes few; what comes after a pause is wanted soon.
#[derive(Debug)]
pub struct PackAge {
    next: Duration,
    most: Duration,
}

impl PackAge {
    /// An age of at most `most`.
    pub fn new(most: Duration) -> Self {
        Self { next: FIRST_AGE.min(most), most }
    }

    /// The age for results the first of which came after `pause` without any. It doubles from
    /// package to package.
    pub(super) fn after(&mut self, pause: Duration) -> Duration {
        if pause >= self.most {
            *self = Self::new(self.most);
        }
        let age = self.next;
        self.next = (age * 2).min(self.most);
        age
    }
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
    /// the `age`; then starts to count from zero.
    pub async fn wait(&self, age: &mut PackAge, enough: u64) {
        let started = Instant::now();
        while self.bytes.load(Ordering::Relaxed) == 0 {
            self.more.notified().await;
        }
        let full = async {
            while self.bytes.load(Ordering::Relaxed) < enough {
                self.more.notified().await;
            }
        };
        // Either reason is a reason to pack.
        drop(timeout(age.after(started.elapsed()), full).await);
        self.bytes.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn the_wait_ends_by_age_or_size() {
        let pack_trigger = PackTrigger::default();
        let mut age = PackAge::new(MOST);
        let started = Instant::now();
        pack_trigger.add(0);
        pack_trigger.wait(&mut age, 100).await;
        assert_eq!(started.elapsed(), FIRST_AGE);
        pack_trigger.add(60);
        pack_trigger.add(60);
        pack_trigger.wait(&mut age, 100).await;
        assert_eq!(started.elapsed(), FIRST_AGE);
        pack_trigger.pack_now();
        pack_trigger.wait(&mut age, 100).await;
        assert_eq!(started.elapsed(), FIRST_AGE, "asked to pack now");
        let nothing = timeout(MOST * 10, pack_trigger.wait(&mut age, 100)).await;
        assert!(nothing.is_err(), "nothing to pack");
    }

    #[test]
    fn a_trickle_makes_few_packages_and_a_pause_ends_it() {
        let mut age = PackAge::new(MOST);
        let trickle = [0; 7].map(|pause| age.after(Duration::from_secs(pause)).as_secs());
        assert_eq!(trickle, [2, 4, 8, 16, 32, 60, 60]);
        assert_eq!(age.after(MOST / 2), MOST, "too short for a pause");
        assert_eq!(age.after(MOST), FIRST_AGE);
        let mut quick = PackAge::new(Duration::from_millis(100));
        assert_eq!([quick.after(MOST), quick.after(MOST)], [Duration::from_millis(100); 2]);
    }
}
