//! Requests for robots.txt, one per visit.

use std::{net::IpAddr, pin::pin, time::Duration};

use model::{CrawlUrl, ErrorKind, UnixMillis};
use protocol::page::{Failure, Outcome};

use super::{Visit, Visitor, failures::FailedRequest, failures::judged, retry};
use crate::{
    activity_log::Activity, clock, fetch, fetch::Answer, fetch::FetchError, fetch::Problem,
    fetch::RobotsBody, frontier::Change, frontier::FrontierError, frontier::GIVE_UP,
    frontier::HostNumber, frontier::HostSnapshot, frontier::QueueItem, frontier::RobotsState, page,
    robots::Robots, robots::answer, robots::answer::Meaning, schedule::Claim,
    schedule::after_answer,
};

/// Time for which rules apply (RFC 9309 section 2.4: at most 24 hours).
const VALID_MS: i64 = 24 * 3_600 * 1_000;
/// Time for which expired rules still apply when new ones cannot be fetched.
const STALE_MS: i64 = 3_600 * 1_000;

/// What a visit does about robots.txt.
pub(super) enum Need {
    /// Obey the rules.
    Obey {
        /// Whether they allow the URL.
        allows: bool,
        /// Their Crawl-delay, in milliseconds.
        delay_ms: Option<u32>,
    },
    /// Request the rules first.
    Ask(RobotsRequest),
}

/// A request for robots.txt, which redirects may have led elsewhere.
pub(super) struct RobotsRequest {
    url: CrawlUrl,
    hops: u8,
    /// Expired rules, for use if the request fails.
    old: Option<Robots>,
}

impl Need {
    /// URL of the request for robots.txt, if one is needed.
    pub(super) fn request(&self) -> Option<&CrawlUrl> {
        match self {
            Self::Obey { .. } => None,
            Self::Ask(asking) => Some(&asking.url),
        }
    }

    /// Crawl-delay of the rules, current or expired, in milliseconds.
    pub(super) fn delay_ms(&self) -> Option<u32> {
        match self {
            Self::Obey { delay_ms, .. } => *delay_ms,
            Self::Ask(asking) => asking.old.as_ref().and_then(Robots::delay_ms),
        }
    }
}

/// What the next visit of the host must do about robots.txt.
pub(super) fn need(snapshot: &HostSnapshot, item: &QueueItem, now: UnixMillis) -> Need {
    let state = snapshot.robots.as_deref();
    // A few URLs that hang do not mean that the host is gone: robots.txt decides about that.
    let is_in_doubt = snapshot.record.failures >= GIVE_UP;
    if let Some(RobotsState::Known { robots, until }) = state
        && !is_in_doubt
        && now < *until
        // Later than this only by a clock that was wrong.
        && *until <= now.plus_ms(VALID_MS)
    {
        let allows = robots.allows(item.url.path_and_query());
        return Need::Obey { allows, delay_ms: robots.delay_ms() };
    }
    let old = state.and_then(RobotsState::rules).cloned();
    let moved = state.and_then(RobotsState::moved_to);
    let moved = moved.and_then(|(url, hops)| Some((CrawlUrl::parse(url).ok()?, hops)));
    let (url, hops) = moved.unwrap_or_else(|| (item.url.robots(), 0));
    Need::Ask(RobotsRequest { url, hops, old })
}

/// The state of a robots.txt that redirects to `url`, with the rules that it had.
fn moved_state(url: &CrawlUrl, hops: u8, old: Option<Robots>) -> RobotsState {
    RobotsState::Moved { url: url.to_string(), hops, old }
}

/// Another host that receives the request, and the pause between requests to it.
type BorrowedHost = (HostNumber, Duration);

impl Visitor {
    pub(super) async fn ask_robots(
        &self,
        visit: Visit,
        item: QueueItem,
        asking: RobotsRequest,
    ) -> Result<(), FrontierError> {
        let address = match self.resolver.addresses(&asking.url).await {
            Ok(addresses) => {
                addresses[self.address_number(visit.record.failures) as usize % addresses.len()]
            }
            // Where the owner denies robots.txt of the URL's own host, the URL is denied too.
            Err(error) if asking.hops == 0 && error.is_lasting(&asking.url) => {
                let outcome = Outcome::Failed(error.failure());
                return self.without_request(visit, &item, outcome);
            }
            Err(error) => {
                let Some(visit) = visit.put_off_in(self.outage_of_lookups()) else {
                    return Ok(());
                };
                return self.no_rules(visit, &item, asking, &error.failure());
            }
        };
        let Visit { claim, ref record, delay, .. } = visit;
        let claimed = self.claim_all(claim, &record.key, &asking.url, address, delay).await?;
        let Some((claim, other)) = claimed else { return Ok(()) };
        let mut visit = Visit { claim, ..visit };
        let under_way = self.activity_log.begin(Activity::Robots, asking.url.as_str(), address);
        let result = {
            let open = |_: &fetch::Head| Some(RobotsBody::default());
            let request = pin!(self.fetcher.get(&asking.url, address, open));
            visit.in_time(request).await
        };
        let Some(result) = result else { return Ok(()) };
        let duration = self.note_end(&mut visit, under_way, &result);
        if visit.outage.is_none() {
            visit.claim.robots_took(duration);
        }
        self.note_address(&asking.url, address, &result);
        visit.slowness_pause = after_answer(self.delay(), duration);
        visit.delay = visit.delay.max(visit.slowness_pause);
        if let Some((host, pause)) = other {
            let answer = result.as_ref().ok();
            let stated = answer.and_then(|answer| retry::stated_pause(&answer.head, clock::now()));
            let pause = pause.max(stated.unwrap_or_default()).max(visit.slowness_pause);
            visit.claim.rest_other(pause);
            self.store.apply(Change::Asked { host, due: clock::after(pause) })?;
        }
        match result {
            Ok(answer) => self.robots_answered(visit, &item, asking, answer),
            Err(error) => self.robots_failed(visit, &item, asking, error),
        }
    }

    /// Holds the address. Where robots.txt has moved to another host of the agent, that host is
    /// claimed too, because it receives the request.
    async fn claim_all(
        &self,
        claim: Claim,
        key: &str,
        url: &CrawlUrl,
        address: IpAddr,
        delay: Duration,
    ) -> Result<Option<(Claim, Option<BorrowedHost>)>, FrontierError> {
        let target = url.host_key_str();
        if target == key {
            return Ok(self.hold(claim, address)?.map(|claim| (claim, None)));
        }
        let mut other = None;
        if let Some(number) = self.store.host_number(target)?
            && let Some(snapshot) = self.store.snapshot(number).await?
        {
            // The schedule knows the pauses of few hosts.
            let rest = clock::until_stored(snapshot.record.due);
            if !rest.is_zero() {
                claim.postpone(rest);
                return Ok(None);
            }
            // It rests after this request as after its own, by its Crawl-delay.
            other = Some((number, delay.max(crawl_delay(&snapshot))));
        }
        let claim = match other {
            Some((other, pause)) => claim.borrow(other, pause, delay),
            None => Some(claim),
        };
        let Some(claim) = claim else { return Ok(None) };
        Ok(self.hold(claim, address)?.map(|claim| (claim, other)))
    }

    fn robots_answered(
        &self,
        mut visit: Visit,
        item: &QueueItem,
        asking: RobotsRequest,
        answer: Answer<RobotsBody>,
    ) -> Result<(), FrontierError> {
        let Answer { head, sink, memory: _until_stored, .. } = answer;
        if let Some(pause) = retry::stated_pause(&head, clock::now()) {
            visit.delay = visit.delay.max(pause);
        }
        let body = sink.map(RobotsBody::into_bytes).unwrap_or_default();
        match answer::meaning(head.status, head.location.as_deref(), &body, asking.hops) {
            Meaning::Rules(robots) => self.rules(visit, robots),
            Meaning::Moved(location) => match CrawlUrl::join(asking.url.url(), &location) {
                Ok(url) => self.moved(visit, &url, asking),
                // A redirect to an unusable URL counts as a missing robots.txt.
                Err(_) => self.rules(visit, Robots::allow_all()),
            },
            Meaning::Unreachable(reason) => {
                self.no_rules(visit, item, asking, &Failure::new(ErrorKind::Robots, reason))
            }
        }
    }

    fn robots_failed(
        &self,
        visit: Visit,
        item: &QueueItem,
        asking: RobotsRequest,
        error: FetchError,
    ) -> Result<(), FrontierError> {
        let Some((visit, failed)) = judged(visit, error) else { return Ok(()) };
        let FailedRequest { problem, failure, .. } = failed;
        if matches!(problem, Problem::Memory) {
            // It is the agent that lacked memory, which says nothing about the host.
            let pause = visit.delay.max(retry::pause(self.limits.retry, 1));
            let failures = visit.record.failures;
            return self.robots_known(visit, None, Vec::new(), pause, failures);
        }
        let reason = format!("robots.txt could not be fetched: {}", failure.reason);
        // Where the agent is to blame, nothing is known of the host.
        let is_agents = failure.cause == ErrorKind::Agent;
        let cause = if is_agents { ErrorKind::Agent } else { ErrorKind::Robots };
        self.no_rules(visit, item, asking, &Failure { cause, reason })
    }

    fn rules(&self, visit: Visit, mut robots: Robots) -> Result<(), FrontierError> {
        let mut sitemaps = robots.take_sitemaps();
        if sitemaps.is_empty() {
            sitemaps.extend(conventional_sitemap(&visit.record.key));
        }
        let crawl_delay =
            robots.delay_ms().map_or(Duration::ZERO, |ms| Duration::from_millis(ms.into()));
        // Not the delay of the visit: the rules may have had another Crawl-delay before.
        let pause = self.delay().max(crawl_delay).max(visit.slowness_pause);
        let state = RobotsState::Known { robots, until: clock::now().plus_ms(VALID_MS) };
        self.robots_known(visit, Some(state), sitemaps, pause, 0)
    }

    fn moved(
        &self,
        visit: Visit,
        url: &CrawlUrl,
        asking: RobotsRequest,
    ) -> Result<(), FrontierError> {
        let pause = visit.delay;
        let failures = visit.record.failures;
        let state = moved_state(url, asking.hops + 1, asking.old);
        self.robots_known(visit, Some(state), Vec::new(), pause, failures)
    }

    /// Without rules nothing is fetched. A host that failed too often is given up. Until then,
    /// expired rules apply for a while; without those, the host is asked again later.
    fn no_rules(
        &self,
        visit: Visit,
        item: &QueueItem,
        asking: RobotsRequest,
        failure: &Failure,
    ) -> Result<(), FrontierError> {
        let failures = visit.record.failures + 1;
        if failures >= GIVE_UP {
            return self.give_up(visit, item, failure, failures);
        }
        if let Some(robots) = asking.old {
            let state = RobotsState::Known { robots, until: clock::now().plus_ms(STALE_MS) };
            let pause = visit.delay;
            return self.robots_known(visit, Some(state), Vec::new(), pause, failures);
        }
        let pause = visit.delay.max(retry::pause(self.limits.retry, failures));
        self.robots_known(visit, None, Vec::new(), pause, failures)
    }

    fn robots_known(
        &self,
        visit: Visit,
        state: Option<RobotsState>,
        sitemaps: Vec<CrawlUrl>,
        pause: Duration,
        failures: u32,
    ) -> Result<(), FrontierError> {
        let host = visit.claim.host();
        let due = clock::after(pause);
        let robots = Change::Robots {
            host,
            state,
            sitemaps,
            reports: Vec::new(),
            bounds: self.bounds(),
            due,
            failures,
        };
        let effect = self.store.apply(robots)?;
        self.propagate(&effect, 0);
        self.finish(visit.claim, pause, &effect);
        Ok(())
    }
}

fn crawl_delay(snapshot: &HostSnapshot) -> Duration {
    let delay_ms = snapshot.robots.as_deref().and_then(RobotsState::delay_ms);
    Duration::from_millis(delay_ms.unwrap_or(0).into())
}

/// Where a host has its sitemap whose robots.txt names none. The frontier queues it once, like a
/// link of the host.
fn conventional_sitemap(host_key: &str) -> Option<CrawlUrl> {
    CrawlUrl::parse(&format!("{host_key}/sitemap.xml")).ok()
}

/// Whether robots.txt, or an index of sitemaps, may name this URL as a sitemap. Sites make theirs
/// at any time, and the frontier queues no URL a second time, so that such a URL is not given up
/// where it is missing.
pub(super) fn may_name(item: &QueueItem) -> bool {
    page::may_be_sitemap(item.url.url().path())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::HostRecord;

    fn snapshot(robots: RobotsState) -> HostSnapshot {
        let key = "http://a.org".to_owned();
        let record = HostRecord { key, due: UnixMillis(0), accepted: 1, ended: 0, failures: 0 };
        HostSnapshot { record, robots: Some(robots.into()), next: None, next_page: None }
    }

    fn item() -> QueueItem {
        let url = CrawlUrl::parse("http://a.org/page").unwrap();
        let host = HostNumber(1);
        QueueItem { host, depth: 0, order: 1, url, redirects: 0, attempts: 0, known: None }
    }

    fn request(robots: RobotsState) -> RobotsRequest {
        match need(&snapshot(robots), &item(), UnixMillis(10)) {
            Need::Ask(asking) => asking,
            Need::Obey { .. } => panic!("no request is needed"),
        }
    }

    #[test]
    fn a_host_that_failed_too_often_is_asked_for_its_rules() {
        let rules = Robots::allow_all();
        let mut known = snapshot(RobotsState::Known { robots: rules, until: UnixMillis(11) });
        let asks = |snapshot: &_| matches!(need(snapshot, &item(), UnixMillis(10)), Need::Ask(_));
        known.record.failures = GIVE_UP - 1;
        assert!(!asks(&known));
        known.record.failures = GIVE_UP;
        assert!(asks(&known));
    }

    #[test]
    fn rules_that_are_valid_for_too_long_are_requested_again() {
        let rules = Robots::parse(b"User-agent: *\nDisallow: /page");
        let until = UnixMillis(10).plus_ms(VALID_MS + 1);
        let asking = request(RobotsState::Known { robots: rules.clone(), until });
        assert_eq!((asking.hops, asking.old), (0, Some(rules)));
    }

    #[test]
    fn expired_rules_outlive_redirects_of_robots_txt() {
        let rules = Robots::parse(b"User-agent: *\nDisallow: /page\nCrawl-delay: 3");
        let expired = RobotsState::Known { robots: rules.clone(), until: UnixMillis(9) };
        let mut asking = request(expired);
        for hops in 1..3 {
            let target = CrawlUrl::parse(&format!("http://b.org/{hops}")).unwrap();
            let state = moved_state(&target, asking.hops + 1, asking.old);
            assert_eq!(state.delay_ms(), Some(3_000));
            let stored = postcard::to_allocvec(&state).unwrap();
            asking = request(postcard::from_bytes(&stored).unwrap());
            assert_eq!((&asking.url, asking.hops), (&target, hops));
            assert_eq!(asking.old.as_ref(), Some(&rules));
        }
        let target = CrawlUrl::parse("http://b.org/").unwrap();
        let new = moved_state(&target, 1, None);
        assert!(request(new).old.is_none());
    }
}
