//! Revisits: conditional requests, detection of changes, and comparison of a page's response times
//! with its own past (IPMicra section III.F).

mod changes;

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::Duration,
};

use delegation::calibration::{Comparison, Timing};
use model::{CrawlUrl, Slowdown, UnixMillis};
use protocol::{page, page::DisallowedBy, page::Fetch, page::Outcome};

use super::{Visitor, retry::is_in_trouble, robots};
use crate::{
    clock,
    fetch::{Problem, Validators},
    frontier::{PageHistory, PageRecord, QueueItem, RevisitAges},
    page::ListContent,
};
use changes::brings_file;
pub(super) use changes::{observe, scheduled, stated};

/// The moment before which the coordinator lost what agents sent; none by default.
#[derive(Debug)]
pub struct LostBefore(AtomicI64);

impl Default for LostBefore {
    fn default() -> Self {
        Self(AtomicI64::new(i64::MIN))
    }
}

impl LostBefore {
    /// Follows what the coordinator says.
    pub fn set(&self, at: Option<UnixMillis>) {
        self.0.store(at.map_or(i64::MIN, |at| at.0), Ordering::Relaxed);
    }

    /// The page, whose visit is whole if its last one was before the loss: else it would be
    /// reported as unchanged for ever.
    pub(super) fn without_lost_content(&self, mut page: QueueItem) -> QueueItem {
        let lost_before = UnixMillis(self.0.load(Ordering::Relaxed));
        if let Some(known) = &mut page.known
            && known.visited() < lost_before
        {
            known.record = known.record.clone().forget_content();
        }
        page
    }
}

impl Visitor {
    /// Time until the revisit of a page with this revisit base; none when the operator wants no
    /// revisits.
    pub(super) fn until_revisit(&self, base: UnixMillis) -> Option<Duration> {
        let period = self.revisit_period()?;
        if clock::is_wrong(base, clock::now()) {
            return Some(Duration::ZERO);
        }
        Some(clock::until(base.plus(period)))
    }

    /// How long after their revisit bases pages are visited again; none when the operator wants no
    /// revisits.
    pub fn revisit_period(&self) -> Option<Duration> {
        let seconds = self.policy.borrow().revisit_s;
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }

    /// The ages between which pages are visited again; none when the operator wants no revisits.
    pub(super) fn revisit_ages(&self) -> Option<RevisitAges> {
        RevisitAges::of(&self.policy.borrow())
    }
}

/// Validators of the last answer, for a conditional request.
pub(super) fn validators(item: &QueueItem) -> Validators {
    let record = item.known.as_ref().map(|known| &known.record);
    Validators {
        etag: record.and_then(|record| record.etag.clone()),
        last_modified: record.and_then(|record| record.last_modified.clone()),
    }
}

/// The unchanged record of a page whose visit failed; it is visited again like the others.
pub(super) fn still_known(item: &QueueItem) -> Option<PageRecord> {
    item.known.as_ref().map(|known| known.record.clone())
}

/// The record of a URL whose visit failed for a reason that may end. It is visited again like the
/// pages of its host.
pub(super) fn known_or_new(item: &QueueItem) -> PageRecord {
    still_known(item).unwrap_or_else(|| {
        PageRecord::without_content(item.url.path_and_query().to_owned(), item.depth)
    })
}

/// The record of a URL whose fetch failed. A URL that does not fit into a request never will, but
/// without its validators the request may. Bodies change, and this machine may load its
/// certificates again.
pub(super) fn after_failure(item: &QueueItem, problem: &Problem) -> Option<PageRecord> {
    match problem {
        Problem::Request => {
            still_known(item).map(|record| PageRecord { etag: None, last_modified: None, ..record })
        }
        _ => Some(known_or_new(item)),
    }
}

/// The record of a page for its next visit; none where the answer is no page. Completes `fetch`:
/// unchanged content becomes [`Outcome::Unchanged`], and the time is compared with the page's past.
pub(super) fn remember(
    item: &QueueItem,
    fetch: &mut Fetch,
    validators: Validators,
    slowdown: Option<Slowdown>,
) -> Option<PageRecord> {
    let before = still_known(item);
    // A 304 carries no body, so its times are compared with other answers of that kind only.
    let head_alone = match fetch.outcome {
        Outcome::Other { status: 304, .. } => true,
        Outcome::Disallowed { .. } => fetch.wire_bytes == 0,
        _ => false,
    };
    let mut record = match (&fetch.outcome, before) {
        (Outcome::Other { status: 304, .. }, Some(before)) => {
            fetch.outcome = Outcome::Unchanged { status: 304 };
            before
        }
        // The answer says nothing of the page. Guards against crawlers answer 403, too.
        (Outcome::Other { status, .. }, _) if *status == 403 || is_in_trouble(*status) => {
            return Some(known_or_new(item));
        }
        (Outcome::Page(page), before) => {
            let status = page.status;
            let sha256 = Some(page.sha256.0);
            let same = before.as_ref().is_some_and(|before| before.sha256 == sha256);
            if same {
                fetch.outcome = Outcome::Unchanged { status };
            }
            PageRecord { sha256, ..fresh(item, before, validators) }
        }
        // Without validators the next answer is whole, so that it shows whether noindex is lifted.
        (Outcome::Disallowed { by: DisallowedBy::NoIndex }, before) => {
            fresh(item, before, Validators::default())
        }
        // The index drops a page that has become content of another kind. Without validators the
        // next answer is whole, so that a page that is put back is new.
        (Outcome::Other { status: 200..300, .. }, Some(before)) if before.sha256.is_some() => {
            fresh(item, Some(before), Validators::default())
        }
        // A page that is put back may be older than what is there now.
        (Outcome::Other { status: 200..300, .. }, before) => {
            fresh(item, before, Validators { last_modified: None, ..validators })
        }
        (outcome, before) => return without_content(item, outcome, before),
    };
    fetch.trend = slowdown.zip(fetch.timing).and_then(|(slowdown, timing)| {
        let timing = Timing { ms: answer_ms(timing), bytes: fetch.wire_bytes };
        let PageHistory { get, head } = &mut record.past;
        let past = if head_alone { head } else { get };
        reported(past.observe(slowdown, timing))
    });
    Some(record)
}

/// The record of a URL that brought no content; none where it will not bring any.
fn without_content(
    item: &QueueItem,
    outcome: &Outcome,
    before: Option<PageRecord>,
) -> Option<PageRecord> {
    match outcome {
        // The frontier drops the record where it queues the target instead of it. Where the chain
        // is too long, such as without cookies, the page is visited again.
        Outcome::Redirect { location, .. }
            if CrawlUrl::parse(location).is_ok_and(|target| leads_back(item, &target)) =>
        {
            Some(known_or_new(item).forget_content())
        }
        // Servers also answer 404 during short outages, and redirect in a circle, such as from
        // https to http and back. Afterwards no link would bring the page back. So it is kept
        // without content, and the next visit decides.
        Outcome::Other { status: 404, .. } | Outcome::Redirect { status: 301 | 308, .. }
            if before.as_ref().is_some_and(has_document) =>
        {
            before.map(PageRecord::forget_content)
        }
        // The page is gone, or at another URL.
        Outcome::Other { status: 404 | 410, .. } | Outcome::Redirect { status: 301 | 308, .. } => {
            robots::may_name(item).then(|| known_or_new(item).forget_content())
        }
        // The page is somewhere else for now, such as during maintenance, or a court or an
        // authority forbids to show it. The index drops it.
        Outcome::Redirect { .. } | Outcome::Other { status: 451, .. } => {
            before.map(PageRecord::forget_content)
        }
        Outcome::Other { .. } => before,
        _ => None,
    }
}

/// Whether a URL is a file, such as an image, which is not visited again: the files of a site would
/// take the places of its pages. Where there was a page, a sitemap or a feed, the next visit
/// decides.
pub(super) fn is_file(item: &QueueItem, fetch: &Fetch, list: Option<&ListContent>) -> bool {
    let had_content = item.known.as_ref().is_some_and(|known| {
        has_document(&known.record) || known.record.changes.text_hash.is_some()
    });
    brings_file(fetch, list) && !had_content && !robots::may_name(item)
}

fn has_document(record: &PageRecord) -> bool {
    record.sha256.is_some()
}

/// Whether the target of a redirect counts as the URL itself, as where a server that gets no
/// cookies writes its session into the URL.
pub(super) fn leads_back(item: &QueueItem, target: &CrawlUrl) -> bool {
    target.fingerprint() == item.url.fingerprint()
}

fn fresh(item: &QueueItem, before: Option<PageRecord>, validators: Validators) -> PageRecord {
    let (past, changes) =
        before.map_or_else(Default::default, |before| (before.past, before.changes));
    PageRecord {
        path: item.url.path_and_query().to_owned(),
        depth: item.depth,
        etag: validators.etag,
        last_modified: validators.last_modified,
        sha256: None,
        past,
        changes,
    }
}

/// Time from sending the request to the end of the answer. Setting up the connection is left out,
/// because fetches over a kept connection have none.
fn answer_ms(timing: page::Timing) -> f64 {
    f64::from(timing.total_us.saturating_sub(timing.connect_us)) / 1_000.0
}

fn reported(comparison: Comparison) -> Option<page::Trend> {
    match comparison {
        Comparison::Learning => None,
        Comparison::Normal => Some(page::Trend::Usual),
        Comparison::Slow => Some(page::Trend::Slow),
        Comparison::Slower { ratio } => Some(page::Trend::Slower { ratio }),
    }
}

#[cfg(test)]
mod tests;
