//! Visits without an answer: what becomes of the URL and of its host.

use std::net::IpAddr;

use model::UnixMillis;
use protocol::page::Outcome;

use super::{FetchResult, Visit, Visitor, fetched, retry, revisit};
use crate::{
    activity_log::Activity,
    clock, error_line,
    fetch::{FetchError, Problem},
    frontier::{FrontierError, QueueItem},
    resolve::ResolveError,
};

impl Visitor {
    /// Ends or retries a URL whose request got no complete answer.
    pub(super) fn failed(
        &self,
        visit: Visit,
        item: &QueueItem,
        started: UnixMillis,
        address: IpAddr,
        error: FetchError,
    ) -> Result<(), FrontierError> {
        let outage = self.outage_behind(&error);
        let FetchError { problem, timing, wire_bytes, .. } = error;
        if matches!(problem, Problem::Withheld(_)) {
            // Nothing was sent; the URL is still first in its queue.
            return Ok(());
        }
        let reason = error_line::of(&problem);
        self.activity_log.note(
            Activity::Page,
            item.url.as_str(),
            Some(address),
            &reason,
            wire_bytes,
            timing,
        );
        if problem.is_owners() {
            return Ok(());
        }
        let temporary = problem.is_temporary();
        let Some(mut visit) = visit.put_off_in(outage.filter(|_| temporary)) else { return Ok(()) };
        if matches!(problem, Problem::Memory) {
            // It is the agent that lacked memory, so that the attempts of this URL alone count.
            visit.record.failures = item.attempts.into();
        }
        if temporary && (retry::has_attempts(item) || visit.turn.has_next) {
            return self.retry_later(visit, item, None);
        }
        // A bad body says nothing about the host, which did answer.
        let failures = if temporary { visit.record.failures + 1 } else { 0 };
        let outcome = Outcome::Failed { reason };
        let fetch = fetched(&item.url, started, Some(address), Some(timing), wire_bytes, outcome);
        let page = revisit::after_failure(item, &problem);
        self.done(visit, item, FetchResult::without_links(fetch, page, failures))
    }

    /// Ends or retries a URL whose host has no address, or none that may be contacted.
    pub(super) fn not_reached(
        &self,
        visit: Visit,
        item: &QueueItem,
        error: &ResolveError,
    ) -> Result<(), FrontierError> {
        let outcome = Outcome::Failed { reason: error.to_string() };
        if error.is_lasting(&item.url) {
            return self.without_request(visit, item, outcome);
        }
        let Some(visit) = visit.put_off_in(self.outage_of_lookups()) else { return Ok(()) };
        if retry::has_attempts(item) {
            return self.retry_later(visit, item, None);
        }
        // The host rests as after a request that failed, so that a name server that is down for a
        // moment does not end the visits of all its pages.
        let failures = visit.record.failures + 1;
        let page = Some(revisit::known_or_new(item));
        let fetch = fetched(&item.url, clock::now(), None, None, 0, outcome);
        self.done(visit, item, FetchResult::without_links(fetch, page, failures))
    }
}
