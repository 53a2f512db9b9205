//! What became of the fetches of one host in a package.

use std::collections::BTreeMap;

use model::{CrawlUrl, ErrorKind, FetchOutcome, UnixMillis};
use protocol::page::Fetch;
use store::host_tally::{ErrorTally, RECENT, RecentFetch, Silence};

/// Counts of outcomes, and the last fetches.
#[derive(Default)]
pub(super) struct OutcomeTally {
    /// URLs that robots rules forbid.
    pub(super) disallowed: u64,
    /// Errors by their cause.
    pub(super) errors: BTreeMap<ErrorKind, ErrorTally>,
    /// The last fetches, the newest first.
    pub(super) recent: Vec<RecentFetch>,
    /// Time of the last answer.
    answered_at: Option<UnixMillis>,
    /// Times of the fetches without an answer.
    unanswered: Vec<UnixMillis>,
}

impl OutcomeTally {
    /// Counts a fetch. A package may have the fetches of a host in any order.
    pub(super) fn count(&mut self, fetch: &Fetch, url: &CrawlUrl, at: UnixMillis) {
        let outcome = fetch.outcome.kind();
        let recent = RecentFetch {
            url: url.as_str().to_owned(),
            at,
            outcome,
            detail: fetch.outcome.detail(),
            ms: fetch.timing.map(|timing| u64::from(timing.total_us) / 1_000),
            bytes: fetch.wire_bytes,
        };
        self.disallowed += u64::from(outcome == FetchOutcome::Disallowed);
        if let Some(kind) = fetch.outcome.error_kind() {
            let before = self.errors.remove(&kind);
            let errors = before.as_ref().map_or(0, |tally| tally.errors) + 1;
            let last = before.map(|tally| tally.last).filter(|last| last.at > at);
            let last = last.unwrap_or_else(|| recent.clone());
            self.errors.insert(kind, ErrorTally { kind, errors, last });
        }
        match fetch.outcome.has_answer() {
            Some(true) => self.answered_at = self.answered_at.max(Some(at)),
            Some(false) => self.unanswered.push(at),
            None => {}
        }
        let place = self.recent.partition_point(|other| other.at > at);
        self.recent.insert(place, recent);
        self.recent.truncate(RECENT);
    }

    /// Time of the last answer.
    pub(super) const fn answered_at(&self) -> Option<UnixMillis> {
        self.answered_at
    }

    /// The fetches without an answer after the last answer; none where there were none.
    pub(super) fn silence(&self) -> Option<Silence> {
        let later = || self.unanswered.iter().copied().filter(|at| Some(*at) > self.answered_at);
        let fetches = u32::try_from(later().count()).unwrap_or(u32::MAX);
        Some(Silence { since: later().min()?, until: later().max()?, fetches })
    }
}

#[cfg(test)]
mod tests {
    use protocol::page::{Failure, Outcome};

    use super::*;

    fn fetch(outcome: Outcome) -> Fetch {
        Fetch {
            url: "http://a.test/".to_owned(),
            fetched_at: UnixMillis(0),
            address: None,
            timing: None,
            wire_bytes: 0,
            outcome,
            trend: None,
        }
    }

    #[test]
    fn errors_are_counted_by_cause_and_the_last_fetches_are_kept() {
        let url = CrawlUrl::parse("http://a.test/").unwrap();
        let mut tally = OutcomeTally::default();
        for status in [404, 404, 500, 200] {
            let outcome = Outcome::Other { status, media_type: None };
            tally.count(&fetch(outcome), &url, UnixMillis(i64::from(status)));
        }
        let counts: Vec<(ErrorKind, u64)> =
            tally.errors.values().map(|error| (error.kind, error.errors)).collect();
        assert_eq!(counts, [(ErrorKind::ClientError, 2), (ErrorKind::ServerError, 1)]);
        assert_eq!(tally.recent[0].detail, "HTTP 500");
        assert_eq!(tally.errors[&ErrorKind::ClientError].last.at, UnixMillis(404));
        for _ in 0..2 * RECENT {
            tally.count(&fetch(Outcome::Unchanged { status: 304 }), &url, UnixMillis(0));
        }
        assert_eq!(tally.recent.len(), RECENT);
        assert_eq!(tally.recent[0].at, UnixMillis(500), "the newest one, wherever it was");
    }

    #[test]
    fn silence_begins_after_the_last_answer_in_any_order() {
        let url = CrawlUrl::parse("http://a.test/").unwrap();
        let failed = |cause| Outcome::Failed(Failure::new(cause, "a reason"));
        let other = |status| Outcome::Other { status, media_type: None };
        let answers = |fetches: &[(i64, Outcome)]| {
            let mut tally = OutcomeTally::default();
            for (at, outcome) in fetches {
                tally.count(&fetch(outcome.clone()), &url, UnixMillis(*at));
            }
            let silence = tally.silence().map(|silence| {
                let Silence { since, until, fetches } = silence;
                (since.0, until.0, fetches)
            });
            (tally.answered_at().map(|at| at.0), silence)
        };
        let dead = failed(ErrorKind::Connection);
        let mixed = [(5, dead.clone()), (3, other(404)), (1, dead.clone()), (4, other(503))];
        assert_eq!(answers(&mixed), (Some(3), Some((4, 5, 2))));
        assert_eq!(answers(&[(2, dead.clone()), (7, dead)]), (None, Some((2, 7, 2))));
        let unclear = [(1, failed(ErrorKind::Refused)), (2, failed(ErrorKind::Other))];
        assert_eq!(answers(&unclear), (None, None));
        assert_eq!(answers(&[(1, failed(ErrorKind::Content))]), (Some(1), None));
    }
}
