//! Stream of server-sent events about changes.
//!
//! Every stream compares an overview, which all streams share, with its last one once a second, and
//! adds the topics that this coordinator announced meanwhile. So changes without an announcement
//! (by another coordinator, or an agent that went silent) are reported too, and no stream sends
//! more than once a second.

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use async_stream::stream;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, KeepAlive, Sse};
use futures_util::Stream;
use tokio::sync::broadcast::error::TryRecvError;
use tokio::sync::{Mutex, OwnedSemaphorePermit, broadcast};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::http::admin::dto::overview::Overview;
use crate::http::admin::overview::count;
use crate::http::authentication::viewer_in_background;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::events::Event as Change;
use crate::runtime::lost_database::unless_lost;
use crate::tasks::coordinator::Coordinator;

/// Time between two comparisons.
const INTERVAL: Duration = Duration::from_secs(1);
/// Counting takes at most one part in this number of the time, so a large database is counted less
/// often.
const COUNTING_SHARE: u32 = 10;
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Comparisons between two checks that the session is still valid.
const TICKS_PER_SESSION_CHECK: u32 = 15;

/// The last overview, which all streams share.
#[derive(Default)]
pub struct OverviewCache {
    last: Mutex<Option<CachedOverview>>,
}

struct CachedOverview {
    overview: Arc<Overview>,
    expires_at: Instant,
}

impl OverviewCache {
    /// An overview that is at most about a second old. Requests that arrive while it is being
    /// counted wait for the same count.
    pub(super) async fn get(&self, core: &Coordinator) -> Result<Arc<Overview>, Problem> {
        let mut last = self.last.lock().await;
        let started = Instant::now();
        if let Some(cached) = last.as_ref().filter(|cached| cached.expires_at > started) {
            return Ok(Arc::clone(&cached.overview));
        }
        let overview = Arc::new(count(core).await?);
        let lifetime = (started.elapsed() * COUNTING_SHARE).max(INTERVAL / 2);
        let expires_at = Instant::now() + lifetime;
        *last = Some(CachedOverview { overview: Arc::clone(&overview), expires_at });
        Ok(overview)
    }
}

/// Watch changes.
///
/// A stream of server-sent events: `overview` (data: the body of `GET /api/v1/overview`, at once
/// and then at most once a second, when changed), `agents` and `delegations` (data:
/// `{"changed":true}`: read the list again). An open stream does not keep a session alive.
#[utoipa::path(get, path = "/api/v1/events", operation_id = "stream_events", tag = "overview",
    security(("session" = [])),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn events(
    State(state): State<ApiState>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    viewer_in_background(&headers, &state).await?.ok_or_else(Problem::unauthorized)?;
    let permit = state.event_streams.try_acquire("Too many event streams are open; close one.")?;
    let watcher = Watcher {
        changes: state.core.events.receive(),
        state,
        headers,
        seen: None,
        ticks: 0,
        _permit: permit,
    };
    Ok(Sse::new(event_stream(watcher)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// State of one open stream.
struct Watcher {
    state: ApiState,
    headers: HeaderMap,
    changes: broadcast::Receiver<Change>,
    seen: Option<Arc<Overview>>,
    ticks: u32,
    _permit: OwnedSemaphorePermit,
}

fn event_stream(mut watcher: Watcher) -> impl Stream<Item = Result<Event, Infallible>> {
    let stop = watcher.state.core.stop.clone();
    let store = watcher.state.core.store.clone();
    let mut ticks = interval(INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    stream! {
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = ticks.tick() => {}
            }
            // A browser opens the stream again.
            let news = unless_lost(&store, watcher.tick()).await;
            let Ok(Some(news)) = news else { break };
            for event in news {
                yield Ok(event);
            }
        }
    }
}

impl Watcher {
    /// The events since the last comparison; none when the stream must end.
    async fn tick(&mut self) -> Option<Vec<Event>> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(TICKS_PER_SESSION_CHECK)
            && matches!(viewer_in_background(&self.headers, &self.state).await, Ok(None))
        {
            return None;
        }
        let mut topics = self.announced()?;
        // While the database is unavailable there is nothing to report, but the stream stays open.
        let Ok(overview) = self.state.overview.get(&self.state.core).await else {
            return Some(Vec::new());
        };
        topics.extend(changed_topics(self.seen.as_deref(), &overview));
        let mut news = Vec::new();
        if self.seen.as_deref().is_none_or(|seen| !same(seen, &overview)) {
            news.extend(Event::default().event("overview").json_data(&*overview));
        }
        self.seen = Some(overview);
        news.extend(
            topics
                .into_iter()
                .map(|topic| Event::default().event(topic).data(r#"{"changed":true}"#)),
        );
        Some(news)
    }

    /// Topics announced since the last comparison; none when the coordinator stops.
    fn announced(&mut self) -> Option<BTreeSet<&'static str>> {
        let mut topics = BTreeSet::new();
        loop {
            match self.changes.try_recv() {
                Ok(change) => topics.extend(topics_of(change)),
                // Events were lost, so anything may have changed.
                Err(TryRecvError::Lagged(_)) => topics.extend(["agents", "delegations"]),
                Err(TryRecvError::Empty) => return Some(topics),
                Err(TryRecvError::Closed) => return None,
            }
        }
    }
}

/// Lists that show what an event changed.
fn topics_of(change: Change) -> &'static [&'static str] {
    match change {
        Change::AnythingChanged | Change::HierarchyLoaded | Change::AgentAdministered => {
            &["agents", "delegations"]
        }
        Change::AgentEnrolled | Change::AgentAvailabilityChanged | Change::PagesRemoved => {
            &["agents"]
        }
        Change::SearchProbeAnswered
        | Change::ProbesExpired
        | Change::SearchesAdvanced
        | Change::DelegationsChanged
        | Change::DelegationsSynchronized
        | Change::SubnetsReleased
        | Change::HomesDelegated
        | Change::HostsReleased
        | Change::ConstraintsChanged
        | Change::CalibrationAdvanced => &["delegations"],
        _ => &[],
    }
}

fn changed_topics(before: Option<&Overview>, now: &Overview) -> impl Iterator<Item = &'static str> {
    let agents =
        before.is_some_and(|before| before.agents != now.agents || before.packages != now.packages);
    let delegations = before.is_some_and(|before| {
        (&before.delegations, &before.delegation_searches, &before.probes)
            != (&now.delegations, &now.delegation_searches, &now.probes)
    });
    [(agents, "agents"), (delegations, "delegations")]
        .into_iter()
        .filter(|(changed, _)| *changed)
        .map(|(_, topic)| topic)
}

/// Whether two overviews are equal apart from the memory of the process, which always changes.
fn same(left: &Overview, right: &Overview) -> bool {
    let without_memory = |overview: &Overview| {
        let mut overview = overview.clone();
        overview.coordinator.rss_bytes = None;
        overview
    };
    without_memory(left) == without_memory(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_pins_and_exclusions_follow_other_admins() {
        assert_eq!(topics_of(Change::ConstraintsChanged), ["delegations"]);
        assert!(topics_of(Change::UrlsRouted).is_empty());
    }
}
