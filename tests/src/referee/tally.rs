//! Expected and fetched URLs by class.

use std::collections::BTreeMap;

use serde::Serialize;

use super::records::FetchRecords;
use crate::web::{Class, Web};

/// How many of the expected URLs were fetched at least once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// What a perfectly behaved crawler fetches.
    pub expected: usize,
    /// How many of these were fetched.
    pub fetched: usize,
}

impl Tally {
    /// Share of the expected that was fetched, 0.0 to 1.0; 1.0 when nothing is expected.
    pub fn share(self) -> f64 {
        if self.expected == 0 { 1.0 } else { self.fetched as f64 / self.expected as f64 }
    }
}

/// The tally of all URLs and of each class.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// All classes together.
    pub all: Tally,
    /// Each class alone.
    pub by_class: BTreeMap<Class, Tally>,
}

impl Coverage {
    /// True when nothing is missing.
    pub fn is_complete(&self) -> bool {
        self.all.fetched == self.all.expected
    }
}

pub(super) fn coverage(web: &Web, records: &FetchRecords) -> Coverage {
    let mut coverage = Coverage::default();
    for (id, class) in web.expected().wanted() {
        let fetched =
            records.hosts[id.host].pages.get(&id.page).is_some_and(|page| page.fetches > 0);
        for tally in [&mut coverage.all, coverage.by_class.entry(*class).or_default()] {
            tally.expected += 1;
            tally.fetched += usize::from(fetched);
        }
    }
    coverage
}
