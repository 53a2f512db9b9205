//! Metrics of the agent, in the form of Prometheus: counters since the start of the program, which
//! the owner may read at a loopback address (see [`crate::agent`]).

use prometheus_client::{
    metrics::{counter::Counter, family::Family, histogram::Histogram},
    registry::{Registry, Unit},
};
use protocol::{
    ProbeResult,
    page::{Fetch, Outcome},
};

/// One label, as name and value.
pub type Label = [(&'static str, &'static str); 1];

/// Upper bounds of the times of answers, in seconds.
const BUCKETS: [f64; 10] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0];

const FETCH_OUTCOMES: [&str; 6] =
    ["page", "redirect", "other", "disallowed", "unchanged", "failed"];
const PROBE_OUTCOMES: [&str; 3] = ["measured", "unreachable", "refused"];

/// Counters of the agent. Clones share them.
#[derive(Debug, Clone)]
pub struct Metrics {
    fetches: Family<Label, Counter>,
    answer_seconds: Histogram,
    wire_bytes: Counter,
    retries: Counter,
    probes: Family<Label, Counter>,
    packages_sent: Counter,
    bytes_sent: Counter,
    packages_refused: Counter,
    failed_sends: Counter,
}

impl Default for Metrics {
    fn default() -> Self {
        Self {
            fetches: by_outcome(&FETCH_OUTCOMES),
            answer_seconds: Histogram::new(BUCKETS),
            wire_bytes: Counter::default(),
            retries: Counter::default(),
            probes: by_outcome(&PROBE_OUTCOMES),
            packages_sent: Counter::default(),
            bytes_sent: Counter::default(),
            packages_refused: Counter::default(),
            failed_sends: Counter::default(),
        }
    }
}

/// A counter with a time series of 0 for each outcome: a series that appears with its first event
/// has no rate for that event.
fn by_outcome(outcomes: &[&'static str]) -> Family<Label, Counter> {
    let counter = Family::<Label, Counter>::default();
    for outcome in outcomes {
        drop(counter.get_or_create(&[("outcome", *outcome)]));
    }
    counter
}

impl Metrics {
    /// Counts the result of a URL.
    pub fn fetched(&self, fetch: &Fetch) {
        let outcome = match fetch.outcome {
            Outcome::Page(_) => "page",
            Outcome::Redirect { .. } => "redirect",
            Outcome::Other { .. } => "other",
            Outcome::Disallowed { .. } => "disallowed",
            Outcome::Unchanged { .. } => "unchanged",
            Outcome::Failed(_) => "failed",
        };
        self.fetches.get_or_create(&[("outcome", outcome)]).inc();
        self.wire_bytes.inc_by(fetch.wire_bytes);
        if let Some(timing) = fetch.timing.filter(|_| outcome != "failed") {
            self.answer_seconds.observe(f64::from(timing.total_us) / 1e6);
        }
    }

    /// Counts a URL that is fetched again later.
    pub fn retried(&self) {
        self.retries.inc();
    }

    /// Counts the result of a probe.
    pub fn probed(&self, result: &ProbeResult) {
        let outcome = match result {
            ProbeResult::Measured { .. } => "measured",
            ProbeResult::Unreachable { .. } => "unreachable",
            ProbeResult::Refused { .. } => "refused",
        };
        self.probes.get_or_create(&[("outcome", outcome)]).inc();
    }

    /// Counts a package that the coordinator has acknowledged.
    pub fn sent(&self, bytes: usize) {
        self.packages_sent.inc();
        self.bytes_sent.inc_by(bytes as u64);
    }

    /// Counts a package that the coordinator will never take.
    pub fn refused(&self) {
        self.packages_refused.inc();
    }

    /// Counts an attempt to send a package that is repeated.
    pub fn send_failed(&self) {
        self.failed_sends.inc();
    }

    /// Adds the counters to a registry.
    pub fn register(&self, registry: &mut Registry) {
        let help = "URLs that ended, by outcome";
        registry.register("fetches", help, self.fetches.clone());
        let help = "Time of a complete answer";
        let seconds = self.answer_seconds.clone();
        registry.register_with_unit("answer", help, Unit::Seconds, seconds);
        let help = "Bytes of bodies as fetched";
        registry.register("fetched_bytes", help, self.wire_bytes.clone());
        let help = "Failed attempts of URLs that are fetched again later";
        registry.register("retries", help, self.retries.clone());
        registry.register("probes", "Probes that ended, by outcome", self.probes.clone());
        let help = "Packages that the coordinator acknowledged";
        registry.register("packages_sent", help, self.packages_sent.clone());
        let help = "Bytes of packages that the coordinator acknowledged";
        registry.register("packages_sent_bytes", help, self.bytes_sent.clone());
        let help = "Packages that the coordinator refused for good";
        registry.register("packages_refused", help, self.packages_refused.clone());
        let help = "Failed attempts to send a package, which are repeated";
        registry.register("package_send_failures", help, self.failed_sends.clone());
    }
}
