//! Lookups: the names of hosts that are due soon are looked up before a request slot is taken for
//! them, several at a time.

use std::sync::Arc;

use futures_util::future::join_all;
use model::CrawlUrl;
use tokio::task::JoinSet;

use super::{AgentError, readiness::ReadinessSignal};
use crate::{
    frontier::{FrontierError, HostNumber, RobotsState},
    visit::Visitor,
};

/// Lookups at the same time.
const CONCURRENCY: usize = 64;

/// Task that looks names up while the agent may work.
pub(super) struct LookupTask {
    /// Knows the hosts and the resolver.
    pub(super) visitor: Arc<Visitor>,
    pub(super) readiness: ReadinessSignal,
}

impl LookupTask {
    pub(super) async fn run(self) -> Result<(), AgentError> {
        let schedule = Arc::clone(&self.visitor.schedule);
        let mut readiness = self.readiness.subscribe();
        let task = Arc::new(self);
        let mut running = JoinSet::new();
        loop {
            let may_start = readiness.borrow_and_update().idle_reason().is_none();
            while may_start
                && running.len() < CONCURRENCY
                && let Some(host) = schedule.take_unresolved()
            {
                running.spawn(Arc::clone(&task).look_up(host));
            }
            let has_room = may_start && running.len() < CONCURRENCY;
            tokio::select! {
                Some(ended) = running.join_next() => ended.map_err(AgentError::Crashed)??,
                () = schedule.until_unresolved(), if has_room => {}
                changed = readiness.changed() => if changed.is_err() { return Ok(()) },
            }
        }
    }

    async fn look_up(self: Arc<Self>, host: HostNumber) -> Result<(), FrontierError> {
        // All names are looked up at the same time. If two timed out one after the other, the first
        // answer would have expired by the end.
        join_all(self.urls(host).await?.iter().map(|url| self.resolve(url))).await;
        self.visitor.schedule.resolved(host);
        Ok(())
    }

    async fn resolve(&self, url: &CrawlUrl) {
        // Another scheme or port of the same name may have been looked up a moment ago.
        if self.visitor.resolver.is_ready(url) {
            return;
        }
        let mut readiness = self.readiness.subscribe();
        tokio::select! {
            biased;
            // The owner's hours may end before it is this name's turn: then the visit does not
            // begin either.
            _ = readiness.wait_for(|readiness| readiness.idle_reason().is_some()) => {}
            () = self.visitor.resolver.resolve(url) => {}
        }
    }

    /// URLs of the hosts that the next request may go to. Reading them brings the host into memory,
    /// too, so that its visit need not.
    async fn urls(&self, host: HostNumber) -> Result<Vec<CrawlUrl>, FrontierError> {
        let Some(snapshot) = self.visitor.store.snapshot(host).await? else { return Ok(vec![]) };
        let moved = snapshot.robots.as_deref().and_then(RobotsState::moved_to);
        let moved = moved.map(|(url, _)| url);
        let texts = [Some(snapshot.record.key.as_str()), moved].into_iter().flatten();
        Ok(texts.filter_map(|text| CrawlUrl::parse(text).ok()).collect())
    }
}
