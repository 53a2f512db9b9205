//! Asking for robots.txt, one request for each visit.

use std::{net::IpAddr, time::Duration};

use model::{CrawlUrl, UnixMillis};
use protocol::page::Outcome;

use super::{Visit, Visitor, after, retry};
use crate::{
    clock, error_line, fetch::Answer, fetch::FetchError, fetch::Flow, fetch::Sink,
    frontier::Change, frontier::Frontier, frontier::FrontierError, frontier::HostNumber,
    frontier::HostSnapshot, frontier::Queued, frontier::RobotsState, journal::Kind,
    resolve::ResolveError, robots::MAX_BYTES, robots::Robots, robots::answer,
    robots::answer::Meaning, schedule::Claim,
};

/// How long rules hold.
const VALID_MS: i64 = 24 * 3_600 * 1_000;
/// How long old rules hold on when new ones can't be had.
const STALE_MS: i64 = 3_600 * 1_000;

/// What must happen before a URL can be fetched.
pub(super) enum Need {
    /// These rules hold.
    Obey(Robots),
    /// Rules must be asked for.
    Ask(Asking),
}

/// One step on the way to rules.
pub(super) struct Asking {
    url: CrawlUrl,
    hops: u8,
    /// Rules that are too old.
    old: Option<Robots>,
}

impl Need {
    /// Crawl-delay of the rules, new or old.
    pub(super) fn delay_ms(&self) -> Option<u32> {
        match self {
            Self::Obey(rules) => rules.delay_ms(),
            Self::Ask(asking) => asking.old.as_ref().and_then(Robots::delay_ms),
        }
    }
}

/// What a host's turn needs.
pub(super) fn need(snapshot: &HostSnapshot, item: &Queued, now: UnixMillis) -> Need {
    let first = |old| Need::Ask(Asking { url: item.url.robots(), hops: 0, old });
    match &snapshot.robots {
        Some(RobotsState::Known { robots, until }) if now < *until => Need::Obey(robots.clone()),
        Some(RobotsState::Known { robots, .. }) => first(Some(robots.clone())),
        Some(RobotsState::Moved { url, hops }) => match CrawlUrl::parse(url) {
            Ok(url) => Need::Ask(Asking { url, hops: *hops, old: None }),
            Err(_) => first(None),
        },
        None => first(None),
    }
}

/// Keeps as much of robots.txt as counts.
struct Text(Vec<u8>);

impl Sink for Text {
    fn write(&mut self, bytes: &[u8]) -> Flow {
        let room = MAX_BYTES - self.0.len();
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if self.0.len() < MAX_BYTES { Flow::More } else { Flow::Enough }
    }
}

impl Visitor {
    pub(super) async fn ask_robots(
        &self,
        visit: Visit,
        item: Queued,
        asking: Asking,
    ) -> Result<(), FrontierError> {
        let address = match self.resolver.addresses(&asking.url).await {
            Ok(addresses) => addresses[visit.record.failures as usize % addresses.len()],
            // When robots.txt of the URL's own host may not be had, neither may the URL.
            Err(error @ ResolveError::Refused(_)) if asking.hops == 0 => {
                let outcome = Outcome::Failed { reason: error.to_string() };
                return self.without_request(visit, item, outcome).await;
            }
            Err(error) => return self.no_rules(visit, asking, error.to_string()).await,
        };
        let Visit { claim, record, delay } = visit;
        let claimed = self.claim_all(claim, &record.key, &asking.url, address, delay).await?;
        let Some((claim, other)) = claimed else { return Ok(()) };
        let visit = Visit { claim, record, delay };
        let result = self.fetcher.get(&asking.url, address, |_| Some(Text(Vec::new()))).await;
        if let Some(host) = other {
            self.store.apply(Change::Asked { host, due: after(delay) }).await?;
        }
        match result {
            Ok(answer) => self.robots_answered(visit, asking, address, answer).await,
            Err(error) => self.robots_failed(visit, asking, address, error).await,
        }
    }

    /// Takes the address and, when robots.txt has moved to another host of ours, that host too.
    async fn claim_all(
        &self,
        claim: Claim,
        key: &str,
        url: &CrawlUrl,
        address: IpAddr,
        delay: Duration,
    ) -> Result<Option<(Claim, Option<HostNumber>)>, FrontierError> {
        let target = url.host_key().to_string();
        if target == key {
            return Ok(claim.hold(address).map(|claim| (claim, None)));
        }
        let other =
            self.store.read(move |frontier: &Frontier| frontier.host_number(&target)).await?;
        let claim = match other {
            Some(other) => claim.borrow(other, delay),
            None => Some(claim),
        };
        Ok(claim.and_then(|claim| claim.hold(address)).map(|claim| (claim, other)))
    }

    async fn robots_answered(
        &self,
        visit: Visit,
        asking: Asking,
        address: IpAddr,
        answer: Answer<Text>,
    ) -> Result<(), FrontierError> {
        let Answer { head, timing, wire_bytes, sink } = answer;
        let (url, status) = (asking.url.as_str(), head.status.to_string());
        self.journal.note(Kind::Robots, url, Some(address), &status, wire_bytes, timing);
        let body = sink.map(|text| text.0).unwrap_or_default();
        match answer::meaning(head.status, head.location.as_deref(), &body, asking.hops) {
            Meaning::Rules(robots) => self.rules(visit, robots).await,
            Meaning::Moved(location) => match CrawlUrl::join(asking.url.url(), &location) {
                Ok(url) => self.moved(visit, &url, asking.hops + 1).await,
                // A redirect to nowhere is as good as no robots.txt.
                Err(_) => self.rules(visit, Robots::allow_all()).await,
            },
            Meaning::Unreachable(reason) => self.no_rules(visit, asking, reason).await,
        }
    }

    async fn robots_failed(
        &self,
        visit: Visit,
        asking: Asking,
        address: IpAddr,
        error: FetchError,
    ) -> Result<(), FrontierError> {
        let FetchError { problem, timing, wire_bytes } = error;
        let reason = error_line::of(&problem);
        self.journal.note(
            Kind::Robots,
            asking.url.as_str(),
            Some(address),
            &reason,
            wire_bytes,
            timing,
        );
        self.no_rules(visit, asking, format!("robots.txt could not be had: {reason}")).await
    }

    async fn rules(&self, visit: Visit, robots: Robots) -> Result<(), FrontierError> {
        let crawl_delay =
            robots.delay_ms().map_or(Duration::ZERO, |ms| Duration::from_millis(ms.into()));
        let pause = self.delay().max(crawl_delay);
        let state = RobotsState::Known { robots, until: clock::now().plus_ms(VALID_MS) };
        self.robots_known(visit, Some(state), pause, 0).await
    }

    async fn moved(&self, visit: Visit, url: &CrawlUrl, hops: u8) -> Result<(), FrontierError> {
        let (pause, failures) = (visit.delay, visit.record.failures);
        let state = RobotsState::Moved { url: url.to_string(), hops };
        self.robots_known(visit, Some(state), pause, failures).await
    }

    /// Without rules nothing is fetched: old ones hold on for a while, else the host is asked again
    /// later, and given up in the end.
    async fn no_rules(
        &self,
        visit: Visit,
        asking: Asking,
        reason: String,
    ) -> Result<(), FrontierError> {
        let failures = visit.record.failures + 1;
        if let Some(robots) = asking.old {
            let state = RobotsState::Known { robots, until: clock::now().plus_ms(STALE_MS) };
            let pause = visit.delay;
            return self.robots_known(visit, Some(state), pause, failures).await;
        }
        if failures >= retry::GIVE_UP {
            return self.give_up(visit, &reason).await;
        }
        let pause = visit.delay.max(retry::pause(self.limits.retry, failures));
        self.robots_known(visit, None, pause, failures).await
    }

    async fn robots_known(
        &self,
        visit: Visit,
        state: Option<RobotsState>,
        pause: Duration,
        failures: u32,
    ) -> Result<(), FrontierError> {
        let host = visit.claim.host();
        let due = after(pause);
        let effect = self.store.apply(Change::Robots { host, state, due, failures }).await?;
        self.finish(visit.claim, pause, &effect);
        Ok(())
    }
}
