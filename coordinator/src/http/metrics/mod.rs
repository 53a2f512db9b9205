//! Metrics for Prometheus, on an address of their own, so that they cannot be read at the public
//! one.
//!
//! [`count_request`] counts the requests of the public address. [`serve`] answers `GET /metrics`
//! with the counters of all stages and with the [`state`] of the coordinator.

mod gauges;
mod readings;
mod state;

use std::sync::Arc;

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tokio::net::TcpListener;

use self::state::StateCache;
use crate::http::problem::Problem;
use crate::runtime::metrics::requests::RequestMetrics;
use crate::tasks;
use crate::tasks::coordinator::Coordinator;
use crate::tasks::table::TABLE;

pub use self::state::rss_bytes;

/// Beginning of the names of all metrics.
const PREFIX: &str = "nearcrawl";
/// The text format of OpenMetrics 1.0.
const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// Route of requests that no route matches: the dashboard's pages and files, and unknown paths.
const NO_ROUTE: &str = "none";

/// Layer that counts a request by the template of its path.
pub async fn count_request(
    State(metrics): State<RequestMetrics>,
    request: Request,
    next: Next,
) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or(NO_ROUTE, MatchedPath::as_str);
    let running = metrics.begin(request.method().as_str(), route);
    let response = next.run(request).await;
    running.respond(response.status().as_u16());
    response
}

/// Serves the metrics until the coordinator stops.
pub async fn serve(coordinator: Arc<Coordinator>, listener: TcpListener) {
    let stop = coordinator.stop.clone();
    let service = router(coordinator).into_make_service();
    let server = axum::serve(listener, service).with_graceful_shutdown(stop.cancelled_owned());
    if let Err(error) = server.await {
        tracing::error!(%error, "the metrics are not served any more");
    }
}

/// The route `/metrics`.
pub fn router(coordinator: Arc<Coordinator>) -> Router {
    let scraped = Arc::new(MetricsState { coordinator, states: StateCache::default() });
    Router::new().route("/metrics", get(scrape)).with_state(scraped)
}

struct MetricsState {
    coordinator: Arc<Coordinator>,
    states: StateCache,
}

async fn scrape(State(scraped): State<Arc<MetricsState>>) -> Result<Response, Problem> {
    let MetricsState { coordinator, states } = &*scraped;
    let mut registry = Registry::with_prefix(PREFIX);
    coordinator.request_metrics.register(&mut registry);
    coordinator.predictor.probe_metrics.register(&mut registry);
    coordinator.search.metrics.register(&mut registry);
    coordinator.packages.metrics.register(&mut registry);
    tasks::metrics::register(&coordinator.statuses, TABLE, &mut registry);
    states.read(coordinator).await.register(&mut registry);
    let mut text = String::new();
    encode(&mut text, &registry).map_err(|error| Problem::internal(&error))?;
    Ok(([(header::CONTENT_TYPE, CONTENT_TYPE)], text).into_response())
}
