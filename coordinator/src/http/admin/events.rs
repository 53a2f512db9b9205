//! What changes, as it changes.
//!
//! Every stream looks once a second at an overview that all streams share, and says what is new in
//! it; what the coordinator calls out meanwhile is said with it. So a change that nobody called out
//! (another coordinator's, an agent gone silent) is seen as well, and nobody is told more than once
//! a second.

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
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore, broadcast};
use tokio::time::{Instant, MissedTickBehavior, interval};

use crate::http::admin::dto::Overview;
use crate::http::admin::overview::taken;
use crate::http::authentication::{Viewer, signed_in};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::events::Event as Change;
use crate::tasks::coordinator::Coordinator;

/// Between two looks.
const LOOK: Duration = Duration::from_secs(1);
/// Counting may take up this part of the time: on a large database it is done less often.
const SHARE: u32 = 10;
/// Streams open at the same time.
const STREAMS: usize = 64;
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Looks between two checks that the session still stands.
const SESSION_LOOKS: u32 = 15;

/// What those who watch share.
pub struct Watch {
    last: Mutex<Option<Look>>,
    streams: Arc<Semaphore>,
}

struct Look {
    overview: Arc<Overview>,
    good_until: Instant,
}

impl Default for Watch {
    fn default() -> Self {
        Self { last: Mutex::default(), streams: Arc::new(Semaphore::new(STREAMS)) }
    }
}

impl Watch {
    /// The overview, not older than a look. Whoever comes while it is being counted waits for that
    /// count.
    pub async fn overview(&self, core: &Coordinator) -> Result<Arc<Overview>, Problem> {
        let mut last = self.last.lock().await;
        let began = Instant::now();
        if let Some(look) = last.as_ref().filter(|look| look.good_until > began) {
            return Ok(Arc::clone(&look.overview));
        }
        let overview = Arc::new(taken(core).await?);
        let pause = (began.elapsed() * SHARE).max(LOOK / 2);
        *last = Some(Look { overview: Arc::clone(&overview), good_until: Instant::now() + pause });
        Ok(overview)
    }
}

/// Watch what goes on.
///
/// A stream of server-sent events: `overview` (data: the body of `GET /api/v1/overview`, at once
/// and then at most once a second, when changed), `agents` and `delegations` (data:
/// `{"changed":true}`: read the list again).
#[utoipa::path(get, path = "/api/v1/events", tag = "watch", security(("session" = [])),
    responses((status = 200, content_type = "text/event-stream", body = String)))]
pub async fn events(
    _viewer: Viewer,
    State(state): State<ApiState>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let place = Arc::clone(&state.watch.streams).try_acquire_owned();
    let place =
        place.map_err(|_| Problem::unavailable("Too many event streams are open; close one."))?;
    let watcher = Watcher {
        changes: state.core.events.receive(),
        state,
        headers,
        seen: None,
        looks: 0,
        _place: place,
    };
    Ok(Sse::new(told(watcher)).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)))
}

/// One open stream.
struct Watcher {
    state: ApiState,
    headers: HeaderMap,
    changes: broadcast::Receiver<Change>,
    seen: Option<Arc<Overview>>,
    looks: u32,
    _place: OwnedSemaphorePermit,
}

fn told(mut watcher: Watcher) -> impl Stream<Item = Result<Event, Infallible>> {
    let stop = watcher.state.core.stop.clone();
    let mut ticks = interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    stream! {
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                _ = ticks.tick() => {}
            }
            let Some(news) = watcher.look().await else { break };
            for event in news {
                yield Ok(event);
            }
        }
    }
}

impl Watcher {
    /// What is new since the last look; none when the stream shall end.
    async fn look(&mut self) -> Option<Vec<Event>> {
        self.looks = self.looks.wrapping_add(1);
        if self.looks.is_multiple_of(SESSION_LOOKS)
            && matches!(signed_in(&self.headers, &self.state).await, Ok(None))
        {
            return None;
        }
        let mut topics = self.called_out()?;
        // While the database is away there is nothing to tell; the stream lives on.
        let Ok(overview) = self.state.watch.overview(&self.state.core).await else {
            return Some(Vec::new());
        };
        let changed = topics_changed(self.seen.as_deref(), &overview);
        topics.extend(changed);
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

    /// Topics that were called out since the last look; none when the coordinator is gone.
    fn called_out(&mut self) -> Option<BTreeSet<&'static str>> {
        let mut topics = BTreeSet::new();
        loop {
            match self.changes.try_recv() {
                Ok(change) => topics.extend(topics_of(change)),
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
        Change::AgentEnrolled | Change::AgentAvailabilityChanged => &["agents"],
        Change::SearchProbeAnswered
        | Change::ProbesExpired
        | Change::SearchesAdvanced
        | Change::DelegationsChanged
        | Change::DelegationsSynchronized
        | Change::SubnetsReleased
        | Change::HomesDelegated
        | Change::HostsReleased
        | Change::CalibrationAdvanced => &["delegations"],
        _ => &[],
    }
}

fn topics_changed(before: Option<&Overview>, now: &Overview) -> impl Iterator<Item = &'static str> {
    let agents =
        before.is_some_and(|before| before.agents != now.agents || before.packages != now.packages);
    let delegations = before.is_some_and(|before| {
        (&before.delegations, &before.searches, &before.probes)
            != (&now.delegations, &now.searches, &now.probes)
    });
    [(agents, "agents"), (delegations, "delegations")]
        .into_iter()
        .filter(|(changed, _)| *changed)
        .map(|(_, topic)| topic)
}

/// Whether two overviews tell the same; memory moves all the time and is no news.
fn same(left: &Overview, right: &Overview) -> bool {
    let still = |overview: &Overview| {
        let mut overview = overview.clone();
        overview.coordinator.rss_bytes = None;
        overview
    };
    still(left) == still(right)
}
