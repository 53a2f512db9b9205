//! The crawl: visits hosts that are due, many at a time, while the agent may work.

use std::sync::Arc;

use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, watch},
    task::{JoinError, JoinSet},
    time::timeout,
};

use super::{
    AgentError, GRACE,
    readiness::{Readiness, ReadinessSignal},
};
use crate::{
    fetch::Fetcher,
    frontier::FrontierError,
    owner::gate::{Admission, Gate, Permit},
    schedule::Claim,
    visit::{RequestSlot, Visitor},
};

/// Visits that may wait for name servers after their requests, beside those in request slots. Their
/// pages are in memory.
const WAITING: usize = 256;

type Visits = JoinSet<Result<(), FrontierError>>;

/// Task that keeps as many visits running as the owner allows.
pub(super) struct Crawler {
    pub(super) visitor: Arc<Visitor>,
    pub(super) gate: Arc<Gate>,
    pub(super) readiness: ReadinessSignal,
    /// Request slots, of which each running request has one.
    pub(super) slots: Arc<Semaphore>,
}

/// A visit that may start.
struct Next {
    claim: Claim,
    slot: RequestSlot,
}

impl Crawler {
    pub(super) async fn run(self: Arc<Self>) -> Result<(), AgentError> {
        let mut readiness = self.readiness.subscribe();
        let mut visits = Visits::new();
        loop {
            let now = readiness.borrow_and_update().clone();
            if now.idle_reason().is_some() {
                rest(&mut visits, &mut readiness, &now, &self.visitor.fetcher).await?;
                if now.is_draining() {
                    return Ok(());
                }
            } else if visits.len() >= self.visitor.limits.concurrency + WAITING {
                reap(visits.join_next().await)?;
            } else if self.slots.available_permits() == 0 {
                tokio::select! {
                    // Only waits until a slot is free. The permit is dropped here, and
                    // `start_visits` acquires one again with the next host.
                    _ = self.slots.acquire() => {}
                    ended = visits.join_next(), if !visits.is_empty() => reap(ended)?,
                    _ = readiness.changed() => {}
                }
            } else if !self.visitor.may_fetch() {
                // Checked before each visit, because the clock monitor looks only once a second.
                self.readiness.change(|readiness| readiness.lease_expired = true);
            } else if !self.visitor.store.has_room()? {
                tokio::select! {
                    room = self.visitor.pack_trigger.until_room(&self.visitor.store) => room?,
                    ended = visits.join_next(), if !visits.is_empty() => reap(ended)?,
                    _ = readiness.changed() => {}
                }
            } else {
                match self.gate.start() {
                    Admission::Start(permit) => {
                        self.start_visits(&mut visits, permit, &mut readiness).await?;
                    }
                    Admission::Wait(pause) => tokio::select! {
                        () = tokio::time::sleep(pause) => {}
                        ended = visits.join_next(), if !visits.is_empty() => reap(ended)?,
                        _ = readiness.changed() => {}
                    },
                    // Noted at once, because the clock monitor looks only once a second.
                    Admission::Withheld(withheld) => {
                        self.readiness.change(|readiness| readiness.withhold(withheld));
                    }
                }
            }
        }
    }

    /// Starts visits with the next host that is due, or waits for one.
    async fn start_visits(
        self: &Arc<Self>,
        visits: &mut Visits,
        permit: Permit,
        readiness: &mut watch::Receiver<Readiness>,
    ) -> Result<(), AgentError> {
        // Visits pass their own slots on, so that free ones are taken only here.
        if let Ok(slot) = Arc::clone(&self.slots).try_acquire_owned()
            && let Some(claim) = self.visitor.schedule.take(self.visitor.delay())
        {
            let next = Next { claim, slot: RequestSlot::new(slot, permit) };
            visits.spawn(Arc::clone(self).visit_hosts(next, readiness.clone()));
            return Ok(());
        }
        drop(permit);
        tokio::select! {
            () = self.visitor.schedule.wait() => Ok(()),
            ended = visits.join_next(), if !visits.is_empty() => reap(ended),
            _ = readiness.changed() => Ok(()),
        }
    }

    /// Visits one host after another while any is due. A task for each visit would cost two more
    /// changes of threads for each page.
    async fn visit_hosts(
        self: Arc<Self>,
        mut next: Next,
        readiness: watch::Receiver<Readiness>,
    ) -> Result<(), FrontierError> {
        loop {
            let slot = self.visitor.visit(next.claim, next.slot).await?;
            // Without a slot, another task has taken it for the next host.
            let Some(slot) = slot.map(RequestSlot::after_request) else { return Ok(()) };
            match self.next_visit(slot, &readiness)? {
                Some(following) => next = following,
                None => return Ok(()),
            }
        }
    }

    /// The next host that is due, if its visit may start at once.
    fn next_visit(
        &self,
        slot: OwnedSemaphorePermit,
        readiness: &watch::Receiver<Readiness>,
    ) -> Result<Option<Next>, FrontierError> {
        let is_idle = readiness.borrow().idle_reason().is_some();
        if is_idle || !self.visitor.may_fetch() || !self.visitor.store.has_room()? {
            return Ok(None);
        }
        let Admission::Start(permit) = self.gate.start() else { return Ok(None) };
        let claim = self.visitor.schedule.take(self.visitor.delay());
        Ok(claim.map(|claim| Next { claim, slot: RequestSlot::new(slot, permit) }))
    }
}

/// Waits while the agent may not start visits. Running visits may end by themselves, except where
/// [`Readiness::must_end`] demands that they are cut off after [`GRACE`]. Once no visit runs, kept
/// connections are closed, because their end would send packets later.
async fn rest(
    visits: &mut Visits,
    readiness: &mut watch::Receiver<Readiness>,
    now: &Readiness,
    fetcher: &Fetcher,
) -> Result<(), AgentError> {
    if now.must_end() {
        match timeout(GRACE, reap_all(visits)).await {
            Ok(ended) => ended?,
            // Dropped visits give their claims back, and their URLs are still in the queue.
            Err(_) => visits.shutdown().await,
        }
        if now.is_draining() {
            return Ok(());
        }
    }
    if visits.is_empty() {
        fetcher.close_connections();
    }
    tokio::select! {
        ended = visits.join_next(), if !visits.is_empty() => reap(ended),
        _ = readiness.changed() => Ok(()),
    }
}

async fn reap_all(visits: &mut Visits) -> Result<(), AgentError> {
    while let Some(ended) = visits.join_next().await {
        reap(Some(ended))?;
    }
    Ok(())
}

fn reap(ended: Option<Result<Result<(), FrontierError>, JoinError>>) -> Result<(), AgentError> {
    match ended {
        None => Ok(()),
        Some(ended) => Ok(ended.map_err(AgentError::Crashed)??),
    }
}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, time::Duration};

    use model::CrawlUrl;
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;
    use crate::{config::Limits, fetch::RobotsBody};

    const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

    #[tokio::test]
    async fn no_connection_is_kept_while_the_agent_rests() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await?;
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(stream.read_u8().await?);
            }
            stream.write_all(ANSWER).await?;
            stream.read(&mut [0]).await
        });
        let url = CrawlUrl::parse(&format!("http://h.example:{port}/")).unwrap();
        let fetcher = Fetcher::new(Limits::default(), "test".into(), None, None, Gate::of(""));
        let open = |_: &_| Some(RobotsBody::default());
        fetcher.get(&url, Ipv4Addr::LOCALHOST.into(), open).await.unwrap();
        let now = Readiness::default();
        let (_sender, mut readiness) = watch::channel(now.clone());
        let mut visits = Visits::new();
        let resting = rest(&mut visits, &mut readiness, &now, &fetcher);
        let closed = async {
            tokio::select! {
                read = server => read.unwrap().unwrap(),
                ended = resting => panic!("the rest has ended: {ended:?}"),
            }
        };
        assert_eq!(timeout(Duration::from_mins(1), closed).await.unwrap(), 0, "the end");
    }
}
