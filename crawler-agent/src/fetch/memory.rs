//! Memory of the fetches going on: one budget in bytes, which no set of bodies exceeds.
//!
//! Every fetch has a guaranteed share, which ordinary pages stay within. What it needs beyond comes
//! from a pool. A page that waits for name servers when its fetch is over takes all from the pool,
//! so that the next fetch has the guaranteed share. A fetch that waits keeps what it has, so
//! fetches may wait for each other; each waits for [`WAIT`] at most and then ends with
//! [`Problem::Memory`], so that the others go on.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::Semaphore,
    time::{Instant, timeout_at},
};

use super::Problem;

/// Memory of all fetches, in bytes. With a piece that is not counted yet in each fetch, and what
/// the agent takes without fetches, it stays below 256 MB.
pub(super) const TOTAL_BYTES: usize = 144 << 20;
/// Part of the total that is guaranteed.
const GUARANTEED: (usize, usize) = (4, 9);
/// Longest time for which a fetch waits for memory.
const WAIT: Duration = Duration::from_secs(5);
/// Bytes that the pool gives at least.
const UNIT_BYTES: usize = 1 << 10;
/// Units that a fetch keeps although it does not need them at the moment.
const SPARE_UNITS: usize = 64;

/// The budget of all fetches.
#[derive(Debug)]
pub(super) struct Budget {
    guaranteed: usize,
    /// Units of [`UNIT_BYTES`] that are free.
    pool: Arc<Semaphore>,
}

impl Budget {
    /// A budget of `total` bytes, of which this number of fetches at the same time have guaranteed
    /// shares.
    pub(super) fn new(total: usize, fetches: usize) -> Self {
        let shared = total / GUARANTEED.1 * GUARANTEED.0;
        let guaranteed = shared / fetches.max(1);
        let units = (total - shared) / UNIT_BYTES;
        Self { guaranteed, pool: Arc::new(Semaphore::new(units)) }
    }

    /// The share of a fetch that begins.
    pub(super) fn share(&self) -> Share {
        Share { guaranteed: self.guaranteed, held: 0, taken: 0, pool: Arc::clone(&self.pool) }
    }
}

/// Memory of one fetch, which is free again once this is dropped.
#[derive(Debug)]
pub struct Share {
    guaranteed: usize,
    /// Size of the share, in bytes.
    held: usize,
    /// Units from the pool.
    taken: usize,
    pool: Arc<Semaphore>,
}

impl Share {
    /// Makes the share as large as `bytes`; waits until that much is free, but not after
    /// `deadline`.
    pub(super) async fn hold(&mut self, bytes: usize, deadline: Instant) -> Result<(), Problem> {
        let needed = bytes.saturating_sub(self.guaranteed).div_ceil(UNIT_BYTES);
        if needed > self.taken {
            let missing = u32::try_from(needed - self.taken).map_err(|_| Problem::Memory)?;
            let deadline = deadline.min(Instant::now() + WAIT);
            let units = timeout_at(deadline, self.pool.acquire_many(missing)).await;
            units.map_err(|_| Problem::Memory)?.map_err(|_| Problem::Memory)?.forget();
            self.taken = needed;
        } else if self.taken - needed > SPARE_UNITS {
            self.pool.add_permits(self.taken - needed);
            self.taken = needed;
        }
        self.held = bytes;
        Ok(())
    }

    /// Takes all memory from the pool, so that another fetch may begin before this share ends.
    /// Returns whether the pool had that much; if not, nothing changes.
    pub(crate) fn leave_guaranteed(&mut self) -> bool {
        let needed = self.held.div_ceil(UNIT_BYTES);
        let missing = u32::try_from(needed.saturating_sub(self.taken));
        let Ok(Ok(units)) = missing.map(|missing| self.pool.try_acquire_many(missing)) else {
            return false;
        };
        units.forget();
        self.taken = self.taken.max(needed);
        self.guaranteed = 0;
        true
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.pool.add_permits(self.taken);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOTAL: usize = 9 << 20;

    #[tokio::test(start_paused = true)]
    async fn who_waits_in_vain_ends_and_lets_the_others_go_on() {
        let budget = Budget::new(TOTAL, 2);
        let later = Instant::now() + Duration::from_secs(60);
        let mut first = budget.share();
        let mut second = budget.share();
        first.hold(5 << 20, later).await.unwrap();
        // Both wait for what the other one has.
        second.hold(3 << 20, later).await.unwrap();
        let started = Instant::now();
        let mut both = tokio::join!(first.hold(7 << 20, later), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            let result = second.hold(6 << 20, later).await;
            drop(second);
            result
        });
        assert!(matches!(both.0, Err(Problem::Memory)), "{both:?}");
        assert!(matches!(both.1, Err(Problem::Memory)), "{both:?}");
        assert_eq!(started.elapsed(), WAIT + Duration::from_secs(1));
        both.0 = first.hold(7 << 20, later).await;
        assert!(both.0.is_ok(), "free again");
        assert!(first.hold(8 << 20, later).await.is_err(), "more than there is");
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_goes_on_when_memory_is_free() {
        let budget = Budget::new(TOTAL, 2);
        let later = Instant::now() + Duration::from_secs(60);
        let mut first = budget.share();
        let mut second = budget.share();
        first.hold(6 << 20, later).await.unwrap();
        let waited = tokio::join!(second.hold(6 << 20, later), async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            first.hold(0, later).await
        });
        assert!(waited.0.is_ok() && waited.1.is_ok(), "{waited:?}");
    }

    #[tokio::test]
    async fn a_page_that_waits_leaves_its_guaranteed_share_to_the_next_fetch() {
        let budget = Budget::new(TOTAL, 2);
        let now = Instant::now();
        let mut shares: Vec<Share> = (0..4).map(|_| budget.share()).collect();
        for share in &mut shares {
            share.hold(2 << 20, now).await.unwrap();
        }
        // The pool has 5 MiB.
        let waiting: Vec<bool> = shares.iter_mut().map(Share::leave_guaranteed).collect();
        assert_eq!(waiting, [true, true, false, false]);
        assert!(shares[2].hold((3 << 20) + UNIT_BYTES, now).await.is_err(), "4 + 2 + 3 MiB");
        assert!(shares[2].hold(3 << 20, now).await.is_ok());
        assert!(!shares[2].leave_guaranteed());
        drop(shares);
        assert_eq!(budget.pool.available_permits(), (5 << 20) / UNIT_BYTES);
    }

    proptest! {
        /// Whatever fetches hold and give back, it is within the budget, and the guaranteed share
        /// is always there.
        #[test]
        fn the_budget_is_kept(
            steps in prop::collection::vec((0_usize..5, 0_usize..6 << 20, any::<bool>()), 0..100),
        ) {
            let runtime =
                tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
            runtime.block_on(async {
                let budget = Budget::new(TOTAL, 5);
                let mut shares: Vec<(Share, usize)> = (0..5).map(|_| (budget.share(), 0)).collect();
                for (at, bytes, ends) in steps {
                    if ends {
                        shares[at] = (budget.share(), 0);
                    }
                    let (share, held) = &mut shares[at];
                    let granted = share.hold(bytes, Instant::now()).await.is_ok();
                    prop_assert!(granted || bytes > budget.guaranteed);
                    *held = if granted { bytes } else { *held };
                    let sum: usize = shares.iter().map(|(_, held)| held).sum();
                    prop_assert!(sum <= TOTAL);
                }
                drop(shares);
                prop_assert_eq!(budget.pool.available_permits(), TOTAL / 9 * 5 / UNIT_BYTES);
                Ok(())
            })?;
        }
    }
}
