//! Time series of the crawl and of agents, and the progress of the crawl.

mod progress;
mod regular;

use axum::extract::State;
use model::ActivityStep;
use store::activity::{self, Activity, Bucket};
use store::agents;

use crate::http::admin::agents::unknown;
use crate::http::admin::audit_log::time;
use crate::http::admin::dto::activity::{ActivityBucket, Progress, Series, SeriesQuery};
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Buckets unless the request names a number.
const BUCKETS_DEFAULT: i64 = 120;
/// Most buckets of a response: the minutes of a day.
const BUCKETS_MAX: i64 = 1440;

/// What happened over time, by minute, hour or day.
///
/// Of all agents together, or of one. The sums of all agents are at most 15 seconds old.
#[utoipa::path(get, path = "/api/v1/series", operation_id = "get_series", tag = "overview",
    params(SeriesQuery), security(("session" = [])), responses((status = 200, body = Series)))]
pub async fn series(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<SeriesQuery>,
) -> Result<Json<Series>, Problem> {
    let step = query.step.unwrap_or(ActivityStep::Minute);
    let count = query.buckets.unwrap_or(BUCKETS_DEFAULT);
    if !(1..=BUCKETS_MAX).contains(&count) {
        let rule = format!("{count} is not within 1 and {BUCKETS_MAX}");
        return Err(Problem::bad_parameter("buckets", rule));
    }
    if let Some(agent) = query.agent {
        let home = agents::home(&state.core.store, agent).await?;
        home.ok_or_else(|| unknown(agent))?;
    }
    let now = state.core.now();
    // A time in the future has no buckets.
    let last = time("until", query.until.as_deref())?.map_or(now, |until| until.min(now));
    let until = step.start_of(last).plus_ms(step.milliseconds());
    let from = until.plus_ms(-count * step.milliseconds());
    let known = activity::series(&state.core.store, query.agent, step, from, until).await?;
    let buckets = regular::without_gaps(&known, step, until);
    Ok(Json(Series {
        step,
        step_s: step.milliseconds().unsigned_abs() / 1_000,
        buckets: buckets.into_iter().map(to_dto).collect(),
    }))
}

fn to_dto(bucket: Bucket) -> ActivityBucket {
    let Activity { timed_fetches, round_trip_us, .. } = bucket.activity;
    let round_trip_ms = round_trip_us as f64 / timed_fetches as f64 / 1_000.0;
    ActivityBucket {
        start: bucket.start.into(),
        pages: bucket.activity.pages,
        fetches: bucket.activity.fetches,
        errors: bucket.activity.errors,
        fetched_bytes: bucket.activity.fetched_bytes,
        shipped_bytes: bucket.activity.shipped_bytes,
        probes: bucket.activity.probes,
        searches: bucket.activity.searches,
        queued: bucket.activity.queued,
        round_trip_ms: (timed_fetches > 0).then_some(round_trip_ms),
    }
}

/// Progress of the crawl, and when nothing will wait any more.
#[utoipa::path(get, path = "/api/v1/progress", operation_id = "get_progress", tag = "overview",
    security(("session" = [])), responses((status = 200, body = Progress)))]
pub async fn progress(
    _viewer: Viewer,
    State(state): State<ApiState>,
) -> Result<Json<Progress>, Problem> {
    let now = state.core.now();
    let store = &state.core.store;
    let from = now.plus_ms(-progress::WINDOW_MS);
    let after = now.plus_ms(1);
    let minutes = activity::series(store, None, ActivityStep::Minute, from, after).await?;
    let day = ActivityStep::Day;
    let first = now.plus_ms(-activity::DAY_DAYS * day.milliseconds());
    let days = activity::series(store, None, day, first, after).await?;
    let fetched = days.iter().map(|day| day.activity.fetches).fold(0, u64::saturating_add);
    Ok(Json(progress::progress(&minutes, fetched, now)))
}
