//! What a visit asks the agent's region, and gives it.

use std::{pin::Pin, time::Duration};

use model::CrawlUrl;
use protocol::page::{Fetch, MAX_REDIRECTS};

use super::{Visit, Visitor, revisit::leads_back};
use crate::{
    frontier::{FrontierError, QueueItem, redirect_target},
    peers::Permission,
};

/// Pause before a host outside the region is tried again while the coordinator is away.
const LEASE_PAUSE: Duration = Duration::from_secs(5);

impl Visit {
    /// The result of a request; none where it was cut off at the deadline. The URL is still in the
    /// queue then, and the visit gives its claim back. What follows the request is not cut off: its
    /// result would be lost.
    /// The request is pinned by the caller, so that the future of a visit holds it once.
    pub(super) async fn in_time<T>(&self, request: Pin<&mut impl Future<Output = T>>) -> Option<T> {
        match self.deadline {
            None => Some(request.await),
            Some(deadline) => tokio::time::timeout_at(deadline, request).await.ok(),
        }
    }
}

impl Visitor {
    /// Whether any host may be fetched from. Each visit asks again for its own.
    pub fn may_fetch(&self) -> bool {
        self.lease.holds() || self.peers.as_ref().is_some_and(|peers| peers.may_work())
    }

    /// Time within which a request for this URL must end, if there is a limit; an error with a
    /// pause where none may begin.
    pub(super) async fn permission(&self, url: &CrawlUrl) -> Result<Option<Duration>, Duration> {
        let Some(peers) = &self.peers else { return Ok(None) };
        match peers.permission(url).await {
            Permission::Within(limit) => Ok(Some(limit)),
            Permission::After(pause) => Err(pause),
            Permission::Outside if self.lease.holds() => Ok(None),
            Permission::Outside => Err(LEASE_PAUSE),
        }
    }

    /// Whether names must be looked up before links and target can be given to the region.
    pub(super) fn must_look_up(&self, fetch: &Fetch, links: &[CrawlUrl]) -> bool {
        let Some(peers) = &self.peers else { return false };
        peers.must_look_up(links) || peers.must_look_up(redirect_target(fetch).as_slice())
    }

    /// Gives links and the target of a redirect to the agents of the region; returns the links that
    /// are left, and whether the target was given away.
    pub(super) async fn share(
        &self,
        item: &QueueItem,
        fetch: &Fetch,
        links: Vec<CrawlUrl>,
    ) -> Result<(Vec<CrawlUrl>, bool), FrontierError> {
        let Some(peers) = &self.peers else { return Ok((links, false)) };
        let redirects = item.redirects.saturating_add(1);
        // The region knows the URL already if it is another spelling of this one; then the frontier
        // of this agent queues it.
        let target = redirect_target(fetch)
            .filter(|url| redirects <= MAX_REDIRECTS && !leads_back(item, url));
        let target: Vec<CrawlUrl> = target.into_iter().collect();
        let has_target = !target.is_empty();
        // The region's error, which ends the agent, is reported by its own task.
        let closed = |_| FrontierError::Closed;
        let left = peers.share(target, item.depth, redirects).await.map_err(closed)?;
        let depth = item.depth.saturating_add(1);
        let links = peers.share(links, depth, 0).await.map_err(closed)?;
        Ok((links, has_target && left.is_empty()))
    }
}
