//! Counters of packages.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;

use crate::runtime::metrics::{LabelledCounter, labelled_counter};

/// Reasons for refusing an upload, as in the names of the problems.
const REFUSALS: [&str; 13] = [
    "body-hash",
    "bomb",
    "conflict",
    "entry",
    "entry-count",
    "header",
    "inflate",
    "magic",
    "name",
    "signature",
    "too-large",
    "truncated",
    "value",
];

/// Counters of packages since the coordinator started. Clones share them.
#[derive(Debug, Clone)]
pub struct PackageMetrics {
    received: Counter,
    received_bytes: Counter,
    duplicates: Counter,
    refused: LabelledCounter,
    ingested: Counter,
    set_aside: Counter,
}

impl Default for PackageMetrics {
    fn default() -> Self {
        Self {
            received: Counter::default(),
            received_bytes: Counter::default(),
            duplicates: Counter::default(),
            refused: labelled_counter("reason", REFUSALS),
            ingested: Counter::default(),
            set_aside: Counter::default(),
        }
    }
}

impl PackageMetrics {
    /// Counts a package that was stored.
    pub fn received(&self, bytes: u64) {
        self.received.inc();
        self.received_bytes.inc_by(bytes);
    }

    /// Counts a package that was stored before.
    pub fn duplicate(&self) {
        self.duplicates.inc();
    }

    /// Counts an upload that was refused because of its content or its number.
    pub fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&[("reason", reason)]).inc();
    }

    /// Counts packages whose pages can be found.
    pub fn ingested(&self, count: u64) {
        self.ingested.inc_by(count);
    }

    /// Counts a stored package that cannot be ingested.
    pub fn set_aside(&self) {
        self.set_aside.inc();
    }

    /// Adds the counters to a registry.
    pub fn register(&self, registry: &mut Registry) {
        registry.register("packages_received", "Packages stored", self.received.clone());
        let help = "Bytes of the packages stored";
        registry.register("packages_received_bytes", help, self.received_bytes.clone());
        let help = "Packages that agents sent again";
        registry.register("packages_duplicate", help, self.duplicates.clone());
        let help = "Uploads refused because of their content or number, by reason";
        registry.register("packages_refused", help, self.refused.clone());
        registry.register("packages_ingested", "Packages ingested", self.ingested.clone());
        let help = "Stored packages that could not be ingested";
        registry.register("packages_set_aside", help, self.set_aside.clone());
    }
}
