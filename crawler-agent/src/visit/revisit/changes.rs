//! How often a page changes, and at which age it is visited again for that reason.

use model::{DAY_MS, UnixMillis};
use protocol::page::{Fetch, Outcome, Page};

use crate::{
    frontier::{ChangeRate, PageRecord, RevisitAges, StatedChanges},
    page::{ListContent, ShortHash, has_content, short_hash},
};

/// The estimate after a revisit: half the interval where the page has changed, else half as much
/// again. Decision 62 compares this rule with others.
fn next_interval_s(ages: RevisitAges, estimate: Option<u32>, has_changed: bool) -> u32 {
    let interval_s = ages.interval_s(estimate);
    // At least a second more, so that the shortest interval grows, too.
    let longer_s = interval_s.saturating_add(interval_s.div_ceil(2));
    let next_s = if has_changed { interval_s / 2 } else { longer_s };
    next_s.clamp(ages.least_s, ages.longest_s)
}

/// Takes what a visit shows of changes into the new record of the page. Answers without content,
/// such as failures and refusals, leave the estimate as it is.
/// `list` is what a sitemap or feed lists.
pub(in crate::visit) fn observe(
    record: &mut PageRecord,
    fetch: &Fetch,
    list: Option<&ListContent>,
    ages: Option<RevisitAges>,
) {
    let changes = &mut record.changes;
    let seen = match &fetch.outcome {
        Outcome::Page(page) => Some(text_hash(page)),
        _ => list.map(|list| list.hash),
    };
    let has_changed = match (&fetch.outcome, seen) {
        (Outcome::Unchanged { .. }, _) => Some(false),
        (_, Some(seen)) => changes.text_hash.replace(seen).map(|known| known != seen),
        (_, None) => None,
    };
    // If the next answer is a file, too, the URL ends.
    if brings_file(fetch, list) {
        changes.text_hash = None;
    }
    if let (Some(has_changed), Some(ages)) = (has_changed, ages) {
        changes.interval_s = Some(next_interval_s(ages, changes.interval_s, has_changed));
    }
}

/// Whether the answer is a file instead of a page or list.
pub(super) fn brings_file(fetch: &Fetch, list: Option<&ListContent>) -> bool {
    let is_other = matches!(fetch.outcome, Outcome::Other { status, .. } if has_content(status));
    is_other && list.is_none()
}

/// What a list states of changes that may bring a visit forward: pages whose last visits are before
/// the longest age are due anyway, and times after the end of the day are wrong.
pub(in crate::visit) fn stated(
    list: ListContent,
    ages: Option<RevisitAges>,
    now: UnixMillis,
) -> Option<StatedChanges> {
    let ages = ages?;
    let since = now.plus_ms(-i64::from(ages.longest_s) * 1_000);
    let counts = |at: UnixMillis| at > since && at <= now.plus_ms(DAY_MS);
    let times = list.modified.into_iter().filter(|(_, at)| counts(*at));
    let stated = StatedChanges { times: times.collect(), ages };
    (!stated.times.is_empty()).then_some(stated)
}

/// The record with the time of its revisit by the present policy.
pub(in crate::visit) fn scheduled(mut record: PageRecord, ages: Option<RevisitAges>) -> PageRecord {
    let ChangeRate { interval_s, .. } = record.changes;
    record.changes.advance_s = ages.map_or(0, |ages| ages.longest_s - ages.interval_s(interval_s));
    record
}

/// The hash of what a reader sees of a page. Bodies often differ only in tokens, times and
/// advertisements.
fn text_hash(page: &Page) -> ShortHash {
    short_hash([&page.title, &page.headings, &page.text].map(String::as_bytes))
}

#[cfg(test)]
mod tests;
