//! Lookups: the names of hosts that are due soon are looked up before a request slot is taken for
//! them, several at a time and at a bounded rate.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;
use model::CrawlUrl;
use tokio::{task::JoinSet, time::Instant};

use super::{AgentError, readiness::ReadinessSignal};
use crate::{
    frontier::{FrontierError, HostNumber, RobotsState},
    token_bucket::TokenBucket,
    visit::Visitor,
};

/// Lookups at the same time.
const CONCURRENCY: usize = 64;
/// Time of a rest whose lookups may follow each other at once.
const BURST: Duration = Duration::from_secs(1);

/// Task that looks names up while the agent may work.
pub(super) struct LookupTask {
    /// Knows the hosts and the resolver.
    pub(super) visitor: Arc<Visitor>,
    pub(super) readiness: ReadinessSignal,
}

/// What the lookups share.
struct Lookups {
    visitor: Arc<Visitor>,
    /// The rate at which name servers are asked. Times are counted from the start of the task.
    pace: Mutex<TokenBucket>,
    started: Instant,
    readiness: ReadinessSignal,
}

impl LookupTask {
    pub(super) async fn run(self) -> Result<(), AgentError> {
        let rate = self.visitor.limits.lookups_per_second.into();
        let pace = Mutex::new(TokenBucket::new(rate, BURST));
        let schedule = Arc::clone(&self.visitor.schedule);
        let mut readiness = self.readiness.subscribe();
        let lookups = Lookups {
            visitor: self.visitor,
            pace,
            started: Instant::now(),
            readiness: self.readiness,
        };
        let lookups = Arc::new(lookups);
        let mut running = JoinSet::new();
        loop {
            let may_start = readiness.borrow_and_update().idle_reason().is_none();
            while may_start
                && running.len() < CONCURRENCY
                && let Some(host) = schedule.take_unresolved()
            {
                running.spawn(Arc::clone(&lookups).look_up(host));
            }
            let has_room = may_start && running.len() < CONCURRENCY;
            tokio::select! {
                Some(ended) = running.join_next() => ended.map_err(AgentError::Crashed)??,
                () = schedule.until_unresolved(), if has_room => {}
                changed = readiness.changed() => if changed.is_err() { return Ok(()) },
            }
        }
    }
}

impl Lookups {
    async fn look_up(self: Arc<Self>, host: HostNumber) -> Result<(), FrontierError> {
        // At the same time: of two names that time out the first answer would have expired again.
        join_all(self.urls(host).await?.iter().map(|url| self.resolve(url))).await;
        self.visitor.schedule.resolved(host);
        Ok(())
    }

    async fn resolve(&self, url: &CrawlUrl) {
        // Another scheme or port of the same name may have been looked up a moment ago.
        if self.visitor.resolver.is_ready(url) {
            return;
        }
        tokio::time::sleep(self.admit()).await;
        // The owner's hours may have ended meanwhile: then the visit does not begin either.
        if self.readiness.current().idle_reason().is_none() {
            self.visitor.resolver.resolve(url).await;
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

    /// Counts a lookup; returns how long it must wait.
    fn admit(&self) -> Duration {
        let now = self.started.elapsed();
        self.pace.lock().unwrap_or_else(PoisonError::into_inner).reserve(1, now)
    }
}
