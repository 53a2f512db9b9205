//! Counters and durations of HTTP requests.

use std::time::{Duration, Instant};

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

/// Upper bounds of the durations, in seconds. A heartbeat is held open for up to 25 seconds.
const BUCKETS: [f64; 10] = [0.005, 0.01, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 30.0, 120.0];

/// Names the route of a request. The path is a template such as `/api/v1/agents/{id}`: the paths
/// themselves are without number.
#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct RouteLabels {
    method: &'static str,
    route: String,
}

/// The labels of a request that has ended.
#[derive(Debug, Clone, Hash, PartialEq, Eq, EncodeLabelSet)]
struct ResponseLabels {
    method: &'static str,
    route: String,
    status: &'static str,
}

/// Counters of the requests since the coordinator started. Clones share them.
#[derive(Debug, Clone)]
pub struct RequestMetrics {
    ended: Family<ResponseLabels, Counter>,
    seconds: Family<RouteLabels, Histogram>,
    in_flight: Gauge,
}

impl Default for RequestMetrics {
    fn default() -> Self {
        Self {
            ended: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            in_flight: Gauge::default(),
        }
    }
}

impl RequestMetrics {
    /// Counts a request that begins now.
    pub fn begin(&self, method: &str, route: &str) -> RunningRequest {
        self.in_flight.inc();
        RunningRequest {
            metrics: self.clone(),
            method: known_method(method),
            route: route.to_owned(),
            started: Instant::now(),
            status: "cancelled",
        }
    }

    /// Adds the counters to a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "HTTP requests that ended, by method, route and class of the status; \
                    cancelled: the client closed the connection before";
        registry.register("http_requests", help, self.ended.clone());
        let help = "Time from the head of a request to the head of its response";
        let seconds = self.seconds.clone();
        registry.register_with_unit("http_request_duration", help, Unit::Seconds, seconds);
        let help = "HTTP requests that wait for their response, held heartbeats included";
        registry.register("http_requests_in_flight", help, self.in_flight.clone());
    }

    fn end(&self, request: &RunningRequest, duration: Duration) {
        self.in_flight.dec();
        let RunningRequest { method, route, status, .. } = request;
        let labels = ResponseLabels { method, route: route.clone(), status };
        self.ended.get_or_create(&labels).inc();
        let labels = RouteLabels { method, route: route.clone() };
        self.seconds.get_or_create(&labels).observe(duration.as_secs_f64());
    }
}

/// A request without a response; counted when it is dropped.
#[derive(Debug)]
pub struct RunningRequest {
    metrics: RequestMetrics,
    method: &'static str,
    route: String,
    started: Instant,
    status: &'static str,
}

impl RunningRequest {
    /// The response has this status.
    pub fn respond(mut self, status: u16) {
        self.status = status_class(status);
    }
}

impl Drop for RunningRequest {
    fn drop(&mut self) {
        self.metrics.clone().end(self, self.started.elapsed());
    }
}

/// Clients may invent methods; each would be a time series.
fn known_method(method: &str) -> &'static str {
    let known = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"];
    known.into_iter().find(|known| *known == method).unwrap_or("other")
}

fn status_class(status: u16) -> &'static str {
    match status {
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    }
}

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    fn text(metrics: &RequestMetrics) -> String {
        let mut registry = Registry::default();
        metrics.register(&mut registry);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        text
    }

    #[test]
    fn requests_are_counted_by_route_and_class_of_status() {
        let metrics = RequestMetrics::default();
        metrics.begin("GET", "/agents/{id}").respond(404);
        metrics.begin("GET", "/agents/{id}").respond(200);
        metrics.begin("BREW", "/agents/{id}").respond(405);
        let running = metrics.begin("GET", "/agents/{id}");
        let route = "route=\"/agents/{id}\"";
        let text_now = text(&metrics);
        for expected in [
            format!("http_requests_total{{method=\"GET\",{route},status=\"4xx\"}} 1"),
            format!("http_requests_total{{method=\"GET\",{route},status=\"2xx\"}} 1"),
            format!("http_requests_total{{method=\"other\",{route},status=\"4xx\"}} 1"),
            format!("http_request_duration_seconds_count{{method=\"GET\",{route}}} 2"),
            "http_requests_in_flight 1".to_owned(),
        ] {
            assert!(text_now.contains(&expected), "no {expected} in\n{text_now}");
        }
        drop(running);
        let cancelled =
            format!("http_requests_total{{method=\"GET\",{route},status=\"cancelled\"}} 1");
        assert!(text(&metrics).contains(&cancelled), "a dropped request is counted too");
        assert!(text(&metrics).contains("http_requests_in_flight 0"));
    }
}
