//! Visits without an answer: what becomes of the URL and of its host.

use std::net::IpAddr;

use model::UnixMillis;
use protocol::page::{Failure, Outcome, Timing};

use super::{Visit, Visitor, fetched, retry, revisit};
use crate::{
    clock,
    fetch::{FetchError, Problem},
    frontier::{Done, FrontierError, QueueItem},
    resolve::ResolveError,
};

/// Why a request got no complete answer, where that says something about the URL or the host.
pub(super) struct FailedRequest {
    pub(super) problem: Problem,
    /// What is reported of the problem.
    pub(super) failure: Failure,
    timing: Timing,
    wire_bytes: u64,
}

/// What a failed request says. Returns none where the owner's rules, or an outage of the agent, are
/// the reason: the URL is still first in its queue, and nothing counts.
pub(super) fn judged(visit: Visit, error: FetchError) -> Option<(Visit, FailedRequest)> {
    let FetchError { problem, timing, wire_bytes, .. } = error;
    if problem.is_owners() {
        return None;
    }
    let outage = visit.outage;
    let visit = visit.put_off_in(outage)?;
    let failure = problem.failure();
    Some((visit, FailedRequest { problem, failure, timing, wire_bytes }))
}

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
        let Some((mut visit, failed)) = judged(visit, error) else { return Ok(()) };
        let FailedRequest { problem, failure, timing, wire_bytes } = failed;
        let temporary = problem.is_temporary();
        if matches!(problem, Problem::Memory) {
            // It is the agent that lacked memory, so that the attempts of this URL alone count.
            visit.record.failures = item.attempts.into();
        }
        if temporary && (retry::has_attempts(item) || visit.choice.has_next) {
            return self.retry_later(visit, item, None);
        }
        // A bad body says nothing about the host, which did answer.
        let failures = if temporary { visit.record.failures + 1 } else { 0 };
        let outcome = Outcome::Failed(failure);
        let fetch = fetched(&item.url, started, Some(address), Some(timing), wire_bytes, outcome);
        let page = revisit::after_failure(item, &problem);
        let pause = retry::pause(self.limits.retry, failures);
        self.done(visit, pause, Done { failures, ..self.ended(item, fetch, page) })
    }

    /// Ends or retries a URL whose host has no address, or none that may be contacted.
    pub(super) fn not_reached(
        &self,
        visit: Visit,
        item: &QueueItem,
        error: &ResolveError,
    ) -> Result<(), FrontierError> {
        let outcome = Outcome::Failed(error.failure());
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
        let pause = retry::pause(self.limits.retry, failures);
        self.done(visit, pause, Done { failures, ..self.ended(item, fetch, page) })
    }
}
