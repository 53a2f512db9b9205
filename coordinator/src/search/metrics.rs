//! Counters of delegation searches.

use model::Reason;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use crate::runtime::metrics::{LabelledCounter, labelled_counter};

/// Reasons with which a search decides; the other ones are assigned without a search.
const REASONS: [Reason; 4] =
    [Reason::Company, Reason::Threshold, Reason::Lowest, Reason::Predicted];

/// Counters of searches since the coordinator started. Clones share them.
#[derive(Debug, Clone)]
pub struct SearchMetrics {
    opened: Counter,
    decided: LabelledCounter,
    provisional: LabelledCounter,
    ended: Counter,
}

impl Default for SearchMetrics {
    fn default() -> Self {
        let by_reason = || labelled_counter("reason", REASONS.map(Reason::as_str));
        Self {
            opened: Counter::default(),
            decided: by_reason(),
            provisional: by_reason(),
            ended: Counter::default(),
        }
    }
}

impl SearchMetrics {
    /// Counts searches that were opened.
    pub fn opened(&self, count: u64) {
        self.opened.inc_by(count);
    }

    /// Counts a decision that was committed.
    pub fn decided(&self, reason: Reason, provisional: bool) {
        let counter = if provisional { &self.provisional } else { &self.decided };
        counter.get_or_create(&[("reason", reason.as_str())]).inc();
    }

    /// Counts searches that ended without an agent.
    pub fn ended(&self, count: u64) {
        self.ended.inc_by(count);
    }

    /// Adds the counters to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("searches_opened", "Delegation searches opened", self.opened.clone());
        let help = "Delegation searches decided, by the reason of the delegation";
        registry.register("searches_decided", help, self.decided.clone());
        let help = "Provisional delegations made by searches that go on, by reason";
        registry.register("searches_decided_provisionally", help, self.provisional.clone());
        let help = "Delegation searches that ended without an agent";
        registry.register("searches_ended_without_agent", help, self.ended.clone());
    }
}
