//! How often a page changes, and at which age it is visited again for that reason.

use model::CrawlPolicy;
use protocol::page::{Fetch, Outcome, Page};
use sha2::{Digest as _, Sha256};

use crate::frontier::{ChangeRate, PageRecord};

/// The ages between which pages are visited again, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::visit) struct RevisitAges {
    least_s: u32,
    longest_s: u32,
}

impl RevisitAges {
    /// The ages of the policy; none when the operator wants no revisits.
    pub(in crate::visit) fn of(policy: &CrawlPolicy) -> Option<Self> {
        let longest_s = policy.revisit_s;
        let least_s = policy.revisit_least_s.clamp(1, longest_s.max(1));
        (longest_s > 0).then_some(Self { least_s, longest_s })
    }

    /// The age at which a page with this estimate is visited again.
    fn interval_s(self, estimate: Option<u32>) -> u32 {
        estimate.unwrap_or(self.longest_s).clamp(self.least_s, self.longest_s)
    }

    /// The estimate after a revisit: half the interval where the page has changed, else half as
    /// much again. Decision 62 compares this rule with others.
    fn next_interval_s(self, estimate: Option<u32>, has_changed: bool) -> u32 {
        let interval_s = self.interval_s(estimate);
        // At least a second more, so that the shortest interval grows, too.
        let longer_s = interval_s.saturating_add(interval_s.div_ceil(2));
        let next_s = if has_changed { interval_s / 2 } else { longer_s };
        next_s.clamp(self.least_s, self.longest_s)
    }
}

/// Takes what a visit shows of changes into the new record of the page. Answers without content,
/// such as failures and refusals, leave the estimate as it is.
pub(in crate::visit) fn observe(record: &mut PageRecord, fetch: &Fetch, ages: Option<RevisitAges>) {
    let changes = &mut record.changes;
    let has_changed = match &fetch.outcome {
        Outcome::Unchanged { .. } => Some(false),
        Outcome::Page(page) => {
            let seen = text_hash(page);
            changes.text_hash.replace(seen).map(|known| known != seen)
        }
        _ => None,
    };
    if let (Some(has_changed), Some(ages)) = (has_changed, ages) {
        changes.interval_s = Some(ages.next_interval_s(changes.interval_s, has_changed));
    }
}

/// The record with the time of its revisit by the present policy.
pub(in crate::visit) fn scheduled(mut record: PageRecord, ages: Option<RevisitAges>) -> PageRecord {
    let ChangeRate { interval_s, .. } = record.changes;
    record.changes.advance_s = ages.map_or(0, |ages| ages.longest_s - ages.interval_s(interval_s));
    record
}

/// The hash of what a reader sees of a page. Bodies often differ only in tokens, times and
/// advertisements.
fn text_hash(page: &Page) -> [u8; 8] {
    let mut hash = Sha256::new();
    for text in [&page.title, &page.headings, &page.text] {
        hash.update(text);
        hash.update([0]);
    }
    let digest: [u8; 32] = hash.finalize().into();
    let mut short = [0; 8];
    short.copy_from_slice(&digest[..8]);
    short
}

#[cfg(test)]
mod tests;
