//! Visits hosts, many at a time, as long as the readiness are good.

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::watch,
    task::{JoinError, JoinSet},
    time::timeout,
};

use super::{AgentError, GRACE, Readiness, Shared};
use crate::{
    clock,
    frontier::{Frontier, FrontierError},
};

type Visits = JoinSet<Result<(), FrontierError>>;

pub(super) async fn run(shared: Arc<Shared>) -> Result<(), AgentError> {
    let mut readiness = shared.readiness.subscribe();
    let mut visits = Visits::new();
    // The first answer of the coordinator brings the policy, which says how long hosts are to be
    // left alone.
    if wait_for(&mut readiness, |c| c.idle_reason().is_none() || c.draining).await {
        offer_all(&shared).await?;
    }
    loop {
        let now = readiness.borrow_and_update().clone();
        if now.idle_reason().is_some() {
            rest(&mut visits, &mut readiness, &now).await?;
            if now.draining {
                return Ok(());
            }
        } else if visits.len() >= shared.config.limits.concurrency {
            reap(visits.join_next().await)?;
        } else if !shared.lease.holds() {
            shared.change(|readiness| readiness.lease_expired = true);
        } else if let Some(claim) = shared.schedule.take(shared.visitor.delay()) {
            let visitor = Arc::clone(&shared.visitor);
            visits.spawn(async move { visitor.visit(claim).await });
        } else {
            tokio::select! {
                () = shared.schedule.wait() => {}
                ended = visits.join_next(), if !visits.is_empty() => reap(ended)?,
                _ = readiness.changed() => {}
            }
        }
    }
}

/// Hosts that had work when the agent stopped. Each is left alone for its full pause first: a
/// request may have been going on when the agent was killed.
async fn offer_all(shared: &Shared) -> Result<(), AgentError> {
    let hosts = shared.store.read(Frontier::hosts_with_work).await?;
    let now = clock::now();
    for work in hosts {
        let crawl_delay = Duration::from_millis(work.crawl_delay_ms.unwrap_or(0).into());
        shared.schedule.offer(work.host, work.due, now, shared.visitor.delay().max(crawl_delay));
    }
    offer_revisits(shared, shared.visitor.delay()).await
}

/// Hosts with nothing but pages to be visited again, each left alone for `pause` first.
pub(super) async fn offer_revisits(shared: &Shared, pause: Duration) -> Result<(), AgentError> {
    let Some(period) = shared.visitor.revisit() else { return Ok(()) };
    let period_ms = i64::try_from(period.as_millis()).unwrap_or(i64::MAX);
    let hosts =
        shared.store.read(move |frontier: &Frontier| frontier.hosts_to_revisit(period_ms)).await?;
    let now = clock::now();
    for (work, due) in hosts {
        let crawl_delay = Duration::from_millis(work.crawl_delay_ms.unwrap_or(0).into());
        shared.schedule.offer_later(work.host, work.due, due, now, pause.max(crawl_delay));
    }
    Ok(())
}

/// Nothing new is started. What is going on may end by itself; when it must end soon, it is cut off
/// after a while.
async fn rest(
    visits: &mut Visits,
    readiness: &mut watch::Receiver<Readiness>,
    now: &Readiness,
) -> Result<(), AgentError> {
    if now.must_end() {
        match timeout(GRACE, reap_all(visits)).await {
            Ok(ended) => ended?,
            // Their claims are given back; what they were fetching stays in the queue.
            Err(_) => visits.shutdown().await,
        }
        if now.draining {
            return Ok(());
        }
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

/// Whether the readiness came to be so; no when everything is ending.
async fn wait_for(
    readiness: &mut watch::Receiver<Readiness>,
    so: impl Fn(&Readiness) -> bool,
) -> bool {
    readiness.wait_for(so).await.is_ok()
}
