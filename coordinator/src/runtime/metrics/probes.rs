//! Counters of probes.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use crate::runtime::metrics::{LabelledCounter, labelled_counter};

/// Why an agent is asked for a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbePurpose {
    /// A step of a search.
    Search,
    /// The check of a single address.
    Check,
    /// The measurement of another agent's home address.
    Home,
}

impl ProbePurpose {
    const ALL: [Self; 3] = [Self::Search, Self::Check, Self::Home];

    const fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::Check => "check",
            Self::Home => "home",
        }
    }
}

/// Counters of probes since the coordinator started. Clones share them.
#[derive(Debug, Clone)]
pub struct ProbeMetrics {
    ordered: LabelledCounter,
    answered: LabelledCounter,
    expired: Counter,
    withdrawn: Counter,
}

impl Default for ProbeMetrics {
    fn default() -> Self {
        let by_purpose =
            || labelled_counter("purpose", ProbePurpose::ALL.map(ProbePurpose::as_str));
        Self {
            ordered: by_purpose(),
            answered: by_purpose(),
            expired: Counter::default(),
            withdrawn: Counter::default(),
        }
    }
}

impl ProbeMetrics {
    /// Counts probes that were ordered from agents.
    pub fn ordered(&self, purpose: ProbePurpose, count: u64) {
        self.ordered.get_or_create(&[("purpose", purpose.as_str())]).inc_by(count);
    }

    /// Counts reports of agents that were not known yet.
    pub fn answered(&self, purpose: ProbePurpose, count: u64) {
        self.answered.get_or_create(&[("purpose", purpose.as_str())]).inc_by(count);
    }

    /// Counts probes that ended without an answer.
    pub fn ended(&self, expired: u64, withdrawn: u64) {
        self.expired.inc_by(expired);
        self.withdrawn.inc_by(withdrawn);
    }

    /// Adds the counters to a registry.
    pub fn register(&self, registry: &mut Registry) {
        let ordered = self.ordered.clone();
        registry.register("probes_ordered", "Probes ordered from agents, by purpose", ordered);
        let answered = self.answered.clone();
        registry.register("probes_answered", "Probes that agents answered, by purpose", answered);
        let help = "Probes that no agent answered in time";
        registry.register("probes_expired", help, self.expired.clone());
        let help = "Probes taken back from agents that fell asleep, were paused or carry out none";
        registry.register("probes_withdrawn", help, self.withdrawn.clone());
    }
}
