//! Limit on the number of requests that may do expensive work at the same time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::problem::Problem;

/// How long a request waits for a permit.
pub(super) const WAIT: Duration = Duration::from_secs(5);

/// A number of permits; each request holds one while it works.
#[derive(Clone)]
pub struct ConcurrencyLimit {
    permits: Arc<Semaphore>,
}

impl ConcurrencyLimit {
    /// A limit of `count` requests at the same time.
    pub fn new(count: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(count)) }
    }

    /// Waits for a permit; 503 with `refusal` when none gets free in time.
    pub async fn acquire(&self, refusal: &str) -> Result<OwnedSemaphorePermit, Problem> {
        let waiting = Arc::clone(&self.permits).acquire_owned();
        let permit = tokio::time::timeout(WAIT, waiting).await;
        permit.ok().and_then(Result::ok).ok_or_else(|| Problem::unavailable(refusal))
    }

    /// A permit that is free now; 503 with `refusal` when there is none.
    pub fn try_acquire(&self, refusal: &str) -> Result<OwnedSemaphorePermit, Problem> {
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        permit.map_err(|_| Problem::unavailable(refusal))
    }
}
