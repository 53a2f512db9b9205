//! Outages of the agent's own uplink or name servers, during which failures do not count against
//! hosts ([`crate::outage_detector`]).

use std::{net::IpAddr, time::Duration};

use tokio::time::Instant;

use super::{Visit, Visitor};
use crate::{
    activity_log::UnderWay,
    fetch::{self, Answer, FetchError},
};

/// Shortest and longest pause of a host that is visited during an outage. Its requests count
/// against the owner's budget, so that a long outage must cause few of them.
const PAUSES: [Duration; 2] = [Duration::from_secs(30), Duration::from_mins(30)];

/// How long an outage lasts before it is shown.
const SHOWN_AFTER: Duration = Duration::from_mins(1);

/// Time from the start of a lookup until a failed answer is dropped from the cache.
const FAILED_LOOKUP: Duration = Duration::from_secs(20);

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
    /// How long the outage of the agent's uplink has lasted, if there is one.
    pub fn line_outage(&self) -> Option<Duration> {
        self.fetcher.uplink().outage(Instant::now())
    }

    /// Notes how the request of a visit ended, and which outage may be the reason. Returns how long
    /// the request took.
    pub(super) fn note_end<S>(
        &self,
        visit: &mut Visit,
        under_way: UnderWay<'_>,
        result: &Result<Answer<S>, FetchError>,
    ) -> Duration {
        fetch::note_end(under_way, result);
        visit.outage = result.as_ref().err().and_then(|error| self.outage_behind(error));
        fetch::duration_of(result)
    }

    /// The outage of the uplink that may be the reason for a failed request.
    fn outage_behind(&self, error: &FetchError) -> Option<Duration> {
        // The host answered.
        if !error.problem.is_temporary() {
            return None;
        }
        // The uplink works if a connection was made for this request.
        let took = if error.is_connected { 0 } else { error.timing.total_us };
        self.line_outage_since(before(Instant::now(), Duration::from_micros(took.into())))
    }

    /// The outage of the uplink at any time since `began`.
    pub fn line_outage_since(&self, began: Instant) -> Option<Duration> {
        self.fetcher.uplink().outage_since(began, Instant::now())
    }

    /// The outage of the uplink or of the name servers that may be the reason for a failed lookup.
    pub(super) fn outage_of_lookups(&self) -> Option<Duration> {
        let now = Instant::now();
        let began = before(now, FAILED_LOOKUP);
        let of_servers = self.resolver.servers().outage_since(began, now);
        of_servers.or_else(|| self.fetcher.uplink().outage_since(began, now))
    }

    /// The outage that keeps the agent from crawling, once it has lasted for a while.
    pub fn long_outage(&self) -> Option<Duration> {
        let now = Instant::now();
        let uplink = self.fetcher.uplink();
        let of_servers = self.resolver.servers().outage(now);
        // Without name servers the agent still reaches hosts whose addresses it knows.
        let of_servers = of_servers.filter(|outage| !uplink.was_reached_within(*outage, now));
        uplink.outage(now).or(of_servers).filter(|outage| *outage >= SHOWN_AFTER)
    }

    /// Notes that the coordinator has answered from this address. One on the Internet shows that
    /// the agent's uplink works.
    pub fn coordinator_answered(&self, from: Option<IpAddr>) {
        let now = Instant::now();
        self.fetcher.uplink().trust(now);
        self.resolver.servers().trust(now);
        if self.is_outside(from) {
            self.fetcher.uplink().proved(now);
        }
    }

    /// Notes that the coordinator, whose last answer came from this address, cannot be reached.
    pub fn coordinator_missed(&self, last_from: Option<IpAddr>) {
        // One in the owner's network may be switched off.
        if self.is_outside(last_from) {
            let now = Instant::now();
            self.fetcher.uplink().doubt(now);
            self.resolver.servers().doubt(now);
        }
    }

    /// Notes that the machine was suspended for this time.
    pub fn was_suspended(&self, time: Duration) {
        self.schedule.was_suspended(time);
        self.fetcher.close_connections();
        // The network may need a moment.
        let now = Instant::now();
        self.fetcher.uplink().suspended(now);
        self.resolver.servers().suspended(now);
    }

    fn is_outside(&self, address: Option<IpAddr>) -> bool {
        address.is_some_and(|address| self.resolver.is_outside(address))
    }

    /// The number by which the address of a host is chosen. During an outage failures do not count,
    /// so that the same address would always be chosen.
    pub(super) fn address_number(&self, failures: u32) -> u32 {
        if self.line_outage().is_some() { rand::random() } else { failures }
    }
}

/// The moment so long before `now`; `now` where the clock does not go back so far.
fn before(now: Instant, time: Duration) -> Instant {
    now.checked_sub(time).unwrap_or(now)
}
