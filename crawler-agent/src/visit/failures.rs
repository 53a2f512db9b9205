//! Fetches without an answer: whether the failure counts against the host, and what becomes of the
//! URL.

use std::{net::IpAddr, time::Duration};

use model::UnixMillis;
use protocol::page::Outcome;
use tokio::time::Instant;

use super::{FetchResult, Visit, Visitor, fetched, retry, revisit};
use crate::{
    activity_log::Activity,
    clock, error_line,
    fetch::{FetchError, Problem},
    frontier::{FrontierError, QueueItem},
    resolve::ResolveError,
};

/// Shortest and longest pause of a host that is visited during an outage.
const PAUSES: [Duration; 2] = [Duration::from_secs(30), Duration::from_mins(5)];

/// Length of an outage from which on it is shown.
const SHOWN_AFTER: Duration = Duration::from_mins(1);

impl Visit {
    /// Puts the visit off where it failed during an `outage` of the agent's own, which says nothing
    /// about the host: nothing of it counts. Returns it where there is none.
    pub(super) fn put_off_in(self, outage: Option<Duration>) -> Option<Self> {
        let Some(outage) = outage else { return Some(self) };
        let [shortest, longest] = PAUSES;
        self.claim.postpone((outage / 4).clamp(shortest, longest).max(self.delay));
        None
    }
}

impl Visitor {
    /// For how long the agent has reached no host.
    pub fn line_outage(&self) -> Option<Duration> {
        self.fetcher.line().outage(Instant::now())
    }

    /// For how long the agent's name servers have found no name.
    pub fn names_outage(&self) -> Option<Duration> {
        self.resolver.servers().outage(Instant::now())
    }

    /// The outage that keeps the agent from crawling, once it has lasted for a while. Without name
    /// servers it may still reach hosts whose addresses it knows.
    pub fn long_outage(&self) -> Option<Duration> {
        let now = Instant::now();
        let of_line = self.line_outage();
        let of_names = || {
            let outage = self.names_outage()?;
            (!self.fetcher.line().was_reached_within(outage, now)).then_some(outage)
        };
        of_line.or_else(of_names).filter(|outage| *outage >= SHOWN_AFTER)
    }

    /// Notes that the coordinator has answered from this address. One on the Internet shows that
    /// the agent's line works.
    pub fn coordinator_answered(&self, from: Option<IpAddr>) {
        if from.is_some_and(|from| self.resolver.is_outside(from)) {
            self.fetcher.line().proved(Instant::now());
        }
    }

    /// The number by which the address of a host is chosen. During an outage failures do not count,
    /// so that they would always choose the same one.
    pub(super) fn choice(&self, failures: u32) -> u32 {
        if self.line_outage().is_some() { rand::random() } else { failures }
    }

    pub(super) fn failed(
        &self,
        visit: Visit,
        item: &QueueItem,
        started: UnixMillis,
        address: IpAddr,
        error: FetchError,
    ) -> Result<(), FrontierError> {
        let FetchError { problem, timing, wire_bytes } = error;
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
        let outage = self.line_outage().filter(|_| temporary);
        let Some(mut visit) = visit.put_off_in(outage) else { return Ok(()) };
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
        let Some(visit) = visit.put_off_in(self.names_outage()) else { return Ok(()) };
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
