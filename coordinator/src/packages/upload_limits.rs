//! Limits on uploads: memory that they take together, and the share of one agent in them and in the
//! host bundles that wait.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use model::AgentId;
use protocol::limits;
use tokio::sync::{Semaphore, SemaphorePermit};

/// Bytes of memory for which one permit counts.
const UNIT: usize = 64 << 10;
/// Memory for uploads that are being received, in bytes.
const MEMORY: usize = 256 << 20;
/// Additional memory for small uploads, in bytes, for when the other is in use.
const MEMORY_OF_SMALL: usize = 32 << 20;
/// Bytes of a small upload.
const SMALL: usize = 1 << 20;
/// Uploads of one agent that are received at the same time. In a region bundles are sent beside
/// other messages. The third one is for a connection that broke unknown to the coordinator.
const PER_AGENT: usize = 3;

/// Bytes of host bundles of one agent that wait for other agents. A drain of an agent with tens of
/// thousands of hosts needs less.
pub const BUNDLE_BYTES_WAITING: u64 = 4 << 30;

/// Time for an upload to begin, and longest pause in it.
pub const PAUSE: Duration = Duration::from_secs(20);
/// Least rate of an upload, in bytes a second. At this rate the largest package takes 34 minutes.
const LEAST_RATE: u64 = 8 << 10;

/// Time from the beginning of an upload by which more than `received` bytes must be there.
pub fn deadline(received: usize) -> Duration {
    PAUSE + Duration::from_secs(received as u64 / LEAST_RATE)
}

/// Uploads that are being received.
pub struct UploadLimits {
    /// Bytes of the largest upload.
    largest: usize,
    memory: Semaphore,
    memory_of_small: Semaphore,
    agents: Mutex<HashMap<AgentId, usize>>,
}

/// Permission for one upload; it ends with the value.
pub struct UploadPermit<'a> {
    _share: Share<'a>,
    _memory: SemaphorePermit<'a>,
}

/// One of the uploads of an agent.
struct Share<'a> {
    limits: &'a UploadLimits,
    agent: AgentId,
}

impl Default for UploadLimits {
    fn default() -> Self {
        Self::of(limits::PACKAGE_BYTES)
    }
}

impl UploadLimits {
    /// Limits for uploads of at most `largest` bytes each.
    pub fn of(largest: usize) -> Self {
        Self {
            largest,
            memory: Semaphore::new(MEMORY / UNIT),
            memory_of_small: Semaphore::new(MEMORY_OF_SMALL / UNIT),
            agents: Mutex::default(),
        }
    }

    /// Waits until there is memory for an upload of `bytes`. `None` when the agent has its share of
    /// uploads already.
    pub async fn enter(&self, agent: AgentId, bytes: usize) -> Option<UploadPermit<'_>> {
        let share = self.share(agent)?;
        let units = bytes.min(self.largest).div_ceil(UNIT).max(1);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        // A small one takes what is free, but does not wait behind large ones.
        let memory = match self.memory.try_acquire_many(units) {
            Ok(memory) => memory,
            // The semaphores are never closed.
            Err(_) if bytes <= SMALL => tokio::select! {
                own = self.memory_of_small.acquire_many(units) => own.ok()?,
                common = self.memory.acquire_many(units) => common.ok()?,
            },
            Err(_) => self.memory.acquire_many(units).await.ok()?,
        };
        Some(UploadPermit { _share: share, _memory: memory })
    }

    fn share(&self, agent: AgentId) -> Option<Share<'_>> {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        let uploads = agents.entry(agent).or_default();
        if *uploads >= PER_AGENT {
            return None;
        }
        *uploads += 1;
        Some(Share { limits: self, agent })
    }
}

impl Drop for Share<'_> {
    fn drop(&mut self) {
        let mut agents = self.limits.agents.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(uploads) = agents.get_mut(&self.agent) {
            *uploads -= 1;
            if *uploads == 0 {
                agents.remove(&self.agent);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;
    use std::sync::Arc;

    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn an_agent_has_a_share_and_gets_it_back() {
        let limits = UploadLimits::default();
        let one = AgentId::new(1);
        let two = AgentId::new(2);
        let mut share = Vec::new();
        for _ in 0..PER_AGENT {
            share.push(limits.enter(one, 1).await.unwrap());
        }
        assert!(limits.enter(one, 1).await.is_none());
        assert!(limits.enter(two, 1).await.is_some());
        share.pop();
        assert!(limits.enter(one, 1).await.is_some());
    }

    #[tokio::test]
    async fn memory_bounds_large_uploads_and_not_small_ones() {
        let limits = Arc::new(UploadLimits::default());
        let mut large = Vec::new();
        for agent in 0..16 {
            large.push(limits.enter(AgentId::new(agent), usize::MAX).await.unwrap());
        }
        let waiting = tokio::spawn({
            let limits = Arc::clone(&limits);
            async move { limits.enter(AgentId::new(300), usize::MAX).await.is_some() }
        });
        tokio::task::yield_now().await;
        for agent in 100..132 {
            large.push(limits.enter(AgentId::new(agent), SMALL).await.unwrap());
        }
        assert!(!waiting.is_finished());
        drop(large);
        assert!(waiting.await.unwrap());
    }

    #[tokio::test]
    async fn small_uploads_have_all_the_memory_that_is_free() {
        let limits = UploadLimits::default();
        let mut small = Vec::new();
        for agent in 0..288 {
            let entered = timeout(Duration::ZERO, limits.enter(AgentId::new(agent), SMALL)).await;
            small.push(entered.unwrap());
        }
        let mut waiting = pin!(limits.enter(AgentId::new(300), SMALL));
        assert!(timeout(Duration::ZERO, waiting.as_mut()).await.is_err());
        // What becomes free is not the share of small ones.
        drop(small.drain(..16));
        assert!(timeout(Duration::from_secs(30), waiting).await.unwrap().is_some());
    }

    #[test]
    fn a_sender_that_pauses_or_drips_is_cut_off() {
        assert_eq!(deadline(0), PAUSE);
        assert_eq!(deadline(1 << 20), PAUSE + Duration::from_secs(128));
    }
}
