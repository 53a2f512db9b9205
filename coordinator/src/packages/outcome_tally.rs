//! What became of the fetches of one host in a package.

use std::collections::BTreeMap;

use model::{CrawlUrl, ErrorKind, FetchOutcome, UnixMillis};
use protocol::page::Fetch;
use store::host_tally::{ErrorTally, RECENT, RecentFetch};

/// Counts of outcomes, and the last fetches.
#[derive(Default)]
pub(super) struct OutcomeTally {
    /// URLs that robots rules forbid.
    pub(super) disallowed: u64,
    /// Errors by their cause.
    pub(super) errors: BTreeMap<ErrorKind, ErrorTally>,
    /// The last fetches, the newest first.
    pub(super) recent: Vec<RecentFetch>,
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
        let place = self.recent.partition_point(|other| other.at > at);
        self.recent.insert(place, recent);
        self.recent.truncate(RECENT);
    }
}

#[cfg(test)]
mod tests {
    use protocol::page::Outcome;

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
}
