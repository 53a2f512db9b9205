//! Retries: when a URL or a host is tried again, and when it is given up.

use std::{net::IpAddr, time::Duration};

use model::{CrawlUrl, UnixMillis};
use protocol::page::Failure;

use super::{Visit, Visitor};
use crate::{
    clock,
    fetch::{Answer, FetchError, Head},
    frontier::{Change, FrontierError, LONGEST_PAUSE, Progress, QueueItem, longest_rest},
    robots::answer::is_of_guard,
};

/// Attempts that a URL is given.
const ATTEMPTS: u8 = 3;

/// First pause where the host demands one without its length.
const UNSTATED: Duration = Duration::from_mins(1);

/// Longest pause of a host that answers and is in trouble, unless it states a longer one.
const LONGEST_IN_TROUBLE: Duration = Duration::from_mins(15);

impl Visitor {
    /// Leaves the URL first in its queue, or the page first in its order, for a later attempt.
    /// `asked` is the pause that the host demanded.
    pub(super) fn retry_later(
        &self,
        visit: Visit,
        item: &QueueItem,
        asked: Option<Duration>,
    ) -> Result<(), FrontierError> {
        let failures = visit.record.failures + 1;
        let least = visit.delay;
        let pause = asked.unwrap_or_else(|| pause(self.limits.retry, failures)).max(least);
        self.metrics.retried();
        let key = item.queue_key();
        let retry = Change::Retry { host: item.host, key, due: clock::after(pause), failures };
        let effect = self.store.apply(retry)?;
        self.finish(visit.claim, pause, &effect);
        Ok(())
    }

    /// Notes that a host has answered at this address, unless its server there is in trouble.
    pub(super) fn note_address<S>(
        &self,
        url: &CrawlUrl,
        address: IpAddr,
        result: &Result<Answer<S>, FetchError>,
    ) {
        if result.as_ref().is_ok_and(|answer| !is_in_trouble(answer.head.status)) {
            self.resolver.prefer(url, address);
        }
    }

    /// Ends every URL in the host's queue as failed, until its next visit. Reports the visit of
    /// `item` as failed if it is a page, and lets the host rest. `failures` is the number of
    /// failures of the host in a row, with this one.
    pub(super) fn give_up(
        &self,
        visit: Visit,
        item: &QueueItem,
        failure: &Failure,
        failures: u32,
    ) -> Result<(), FrontierError> {
        let host = visit.claim.host();
        // A long queue is ended in several changes.
        let mut effect = loop {
            let give_up =
                Change::GiveUp { host, failure: failure.clone(), failures, at: clock::now() };
            let effect = self.store.apply(give_up)?;
            self.propagate(&effect, 0);
            if effect.progress == Progress::Complete {
                break effect;
            }
        };
        if item.known.is_some() {
            effect = self.store.apply(failed_visit(item, failure, failures))?;
            self.propagate(&effect, 0);
        }
        self.finish(visit.claim, longest_rest(failures), &effect);
        Ok(())
    }
}

/// The visit of a page during which its host was given up. Only robots.txt is asked for, which is
/// not reported: without this the host would seem to have no visits. With the next number of
/// failures another address of the host is asked.
fn failed_visit(item: &QueueItem, failure: &Failure, failures: u32) -> Change {
    Change::FailedVisit {
        host: item.host,
        url: item.url.to_string(),
        failure: failure.clone(),
        at: clock::now(),
        due: clock::after(longest_rest(failures)),
        failures,
    }
}

/// Which of the addresses of a host is asked: each attempt takes another one, in case one does not
/// answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct AddressChoice {
    /// Place among the addresses.
    pub(super) index: usize,
    /// Whether there are addresses that were not asked since the host answered. A page that is
    /// known already is asked for there before its visit ends, as a new one is.
    pub(super) has_next: bool,
}

impl AddressChoice {
    /// The choice after `failures` of the host in a row.
    pub(super) fn of(failures: u32, addresses: usize) -> Self {
        let failures = failures as usize;
        let has_next = failures.saturating_add(1) < addresses.min(ATTEMPTS.into());
        Self { index: failures % addresses, has_next }
    }

    /// Whether the host is asked here when all is well, which is where it answered last. An answer
    /// of another server may take longer though nothing became slower.
    pub(super) const fn is_usual(self) -> bool {
        self.index == 0
    }
}

/// Whether a URL whose attempt failed is tried again soon. A page that is known already is simply
/// due again after its period.
pub(super) fn has_attempts(item: &QueueItem) -> bool {
    item.known.is_none() && item.attempts.saturating_add(1) < ATTEMPTS
}

/// Pause after `failures` failures in a row: `first` after one, doubled with each further one, so
/// that a host in trouble is not made worse, up to the longest rest of the host.
pub(super) fn pause(first: Duration, failures: u32) -> Duration {
    match failures.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => {
            first.saturating_mul(2u32.saturating_pow(doublings)).min(longest_rest(failures))
        }
    }
}

/// The same for a host that answers. It stays so short that pages that fail for ever do not keep
/// the others of the host waiting for weeks.
pub(super) fn pause_in_trouble(first: Duration, failures: u32) -> Duration {
    pause(first, failures).min(LONGEST_IN_TROUBLE)
}

/// Pause that the host demands before it is requested again: 429 and 503 demand one, with the
/// length in Retry-After if there is one (RFC 6585 section 4, RFC 9110 section 15.6.4). Without it,
/// the pause grows with the failures in a row.
pub(super) fn requested_pause(head: &Head, now: UnixMillis, failures: u32) -> Option<Duration> {
    let unstated = || pause_in_trouble(UNSTATED, failures);
    demands_pause(head).then(|| stated_pause(head, now).unwrap_or_else(unstated))
}

/// The length of the pause that the host demands, if it states one.
pub(super) fn stated_pause(head: &Head, now: UnixMillis) -> Option<Duration> {
    let stated = head.retry_after(clock::timestamp(now)).filter(|_| demands_pause(head));
    stated.map(|stated| stated.min(LONGEST_PAUSE))
}

/// Whether an answer with this status says that the server is in trouble, or guarded against
/// crawlers for now. It may be over soon.
pub(super) const fn is_in_trouble(status: u16) -> bool {
    is_of_guard(status) || matches!(status, 408 | 425 | 429 | 500..)
}

const fn demands_pause(head: &Head) -> bool {
    matches!(head.status, 429 | 503)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_six_hours_and_to_days_if_failures_go_on() {
        let first = Duration::from_secs(30);
        let seconds: Vec<u64> =
            [0, 1, 2, 3, 9, 10, 11, 59, 60, u32::MAX].map(|n| pause(first, n).as_secs()).into();
        assert_eq!(seconds, [0, 30, 60, 120, 7_680, 15_360, 21_600, 21_600, 43_200, 345_600]);
    }

    #[test]
    fn failures_take_the_addresses_in_turn() {
        let choices =
            |addresses| [0, 1, 2, 3].map(|failures| AddressChoice::of(failures, addresses));
        assert_eq!(choices(2).map(|choice| choice.index), [0, 1, 0, 1]);
        assert_eq!(choices(2).map(|choice| choice.has_next), [true, false, false, false]);
        assert_eq!(choices(9).map(|choice| choice.has_next), [true, true, false, false]);
        assert_eq!(choices(1), [AddressChoice::default(); 4]);
    }

    #[test]
    fn servers_in_trouble_are_told_from_others() {
        let in_trouble = [202, 408, 418, 420, 425, 429, 430, 500, 502, 503, 504, 522];
        assert!(in_trouble.into_iter().all(is_in_trouble));
        assert!(![200, 204, 304, 403, 404, 410, 451].into_iter().any(is_in_trouble));
    }

    #[test]
    fn pauses_of_servers_in_trouble_grow_up_to_a_quarter_of_an_hour() {
        let pauses = |status| {
            [1, 2, 3, 9].map(|failures| {
                let head = Head { status, ..Head::default() };
                requested_pause(&head, UnixMillis(0), failures).map(|pause| pause.as_secs())
            })
        };
        assert_eq!(pauses(429), [60, 120, 240, 900].map(Some));
        assert_eq!(pauses(500), [None; 4]);
        let first = Duration::from_secs(30);
        let seconds = [0, 1, 2, 9].map(|failures| pause_in_trouble(first, failures).as_secs());
        assert_eq!(seconds, [0, 30, 60, 900]);
    }

    #[test]
    fn retry_after_is_obeyed_up_to_the_longest_pause() {
        let head = |status, retry_after: Option<&str>| {
            let mut response = hyper::Response::builder().status(status);
            if let Some(value) = retry_after {
                response = response.header("retry-after", value);
            }
            requested_pause(&Head::of(&response.body(()).unwrap()), UnixMillis(0), 1)
        };
        assert_eq!(head(429, None), Some(Duration::from_secs(60)));
        assert_eq!(head(429, Some("5")), Some(Duration::from_secs(5)));
        assert_eq!(head(503, Some("999999999")), Some(LONGEST_PAUSE));
        assert_eq!(head(503, None), Some(Duration::from_secs(60)));
        assert_eq!((head(500, Some("5")), head(200, Some("5"))), (None, None));
    }
}
