//! Here is a host whose turn it is: make its next request.
//!
//! One visit is one request at most: for robots.txt when its rules are missing or a day old, else
//! for the first URL of the queue that they allow, else for the page that was visited the longest
//! time ago, when its time has come. Its outcome is on disk before the host may be asked again.

mod retry;
mod revisit;
mod robots;

use std::{net::IpAddr, sync::Arc, time::Duration};

use model::{CrawlPolicy, CrawlUrl, UnixMillis};
use protocol::{page::DisallowedBy, page::Fetch, page::Outcome, page::Timing};
use tokio::sync::watch;

use crate::{
    clock, config::Limits, error_line, fetch::Answer, fetch::FetchError, fetch::Fetcher,
    frontier::Bounds, frontier::Change, frontier::Done, frontier::Effect, frontier::Frontier,
    frontier::FrontierError, frontier::FrontierHandle, frontier::HostRecord, frontier::PageRecord,
    frontier::Queued, journal::Journal, journal::Kind, outbox::PackTrigger, page, page::PageSink,
    resolve::ResolveError, resolve::Resolver, schedule::Claim, schedule::Schedule,
};

/// Everything that a visit needs. One for the whole agent.
pub struct Visitor {
    /// Where outcomes are stored.
    pub store: FrontierHandle,
    /// Who is next.
    pub schedule: Arc<Schedule>,
    /// Names to addresses that may be reached.
    pub resolver: Arc<Resolver>,
    /// Makes requests.
    pub fetcher: Arc<Fetcher>,
    /// Whether a TCP connection tells how far a host is: not where the owner lets nothing be probed
    /// by it.
    pub tcp_times_count: bool,
    /// What the owner can read.
    pub journal: Journal,
    /// Tells the outbox that there is something to pack.
    pub pack_trigger: Arc<PackTrigger>,
    /// The owner's.
    pub limits: Limits,
    /// The operator's.
    pub policy: watch::Receiver<CrawlPolicy>,
}

/// A host and what is known of it.
struct Visit {
    claim: Claim,
    record: HostRecord,
    delay: Duration,
}

/// What a request came to.
struct FetchResult {
    fetch: Fetch,
    /// What is kept of the page.
    page: Option<PageRecord>,
    links: Vec<CrawlUrl>,
    /// The host's failures in a row.
    failures: u32,
}

impl Visitor {
    /// Least time between two requests to a host that has no wishes of its own.
    pub fn delay(&self) -> Duration {
        self.limits.host_delay.max(Duration::from_millis(self.policy.borrow().host_delay_ms.into()))
    }

    /// What is taken into queues.
    pub fn bounds(&self) -> Bounds {
        let policy = *self.policy.borrow();
        Bounds { pages_a_host: policy.pages_a_host, depth: policy.depth.into() }
    }

    /// Makes the next request of the claimed host.
    pub async fn visit(&self, mut claim: Claim) -> Result<(), FrontierError> {
        let host = claim.host();
        let snapshot = self.store.read(move |frontier: &Frontier| frontier.snapshot(host)).await?;
        let Some(mut snapshot) = snapshot else {
            claim.finish(Duration::ZERO, false);
            return Ok(());
        };
        let oldest = snapshot.oldest.take();
        let wait = oldest.as_ref().and_then(|page| self.until_visit(page.known.as_ref()?.visited));
        let due = oldest.filter(|_| wait == Some(Duration::ZERO));
        let Some(item) = snapshot.next.take().or(due) else {
            claim.finish_until(Duration::ZERO, wait);
            return Ok(());
        };
        let need = robots::need(&snapshot, &item, clock::now());
        let crawl_delay =
            need.delay_ms().map_or(Duration::ZERO, |ms| Duration::from_millis(ms.into()));
        let delay = self.delay().max(crawl_delay);
        claim.set_pause(delay);
        let visit = Visit { claim, record: snapshot.record, delay };
        match need {
            robots::Need::Ask(asking) => self.ask_robots(visit, item, asking).await,
            robots::Need::Obey(rules) if rules.allows(item.url.path_and_query()) => {
                self.fetch(visit, item).await
            }
            robots::Need::Obey(_) => self.disallowed(visit, item).await,
        }
    }

    async fn disallowed(&self, visit: Visit, item: Queued) -> Result<(), FrontierError> {
        let outcome = Outcome::Disallowed { by: DisallowedBy::RobotsTxt };
        self.without_request(visit, item, outcome).await
    }

    async fn fetch(&self, visit: Visit, item: Queued) -> Result<(), FrontierError> {
        let address = match self.resolver.addresses(&item.url).await {
            // Another one each time, in case the first does not answer.
            Ok(addresses) => addresses[usize::from(item.attempts) % addresses.len()],
            Err(error) => return self.not_reached(visit, item, &error).await,
        };
        let Visit { claim, record, delay } = visit;
        let Some(claim) = claim.hold(address) else { return Ok(()) };
        let visit = Visit { claim, record, delay };
        let started = clock::now();
        let known = revisit::validators(&item);
        let result = self.fetcher.get_changed(&item.url, address, &known, PageSink::for_head).await;
        match result {
            Ok(answer) => self.answered(visit, item, started, address, answer).await,
            Err(error) => self.failed(visit, item, started, address, error).await,
        }
    }

    async fn answered(
        &self,
        mut visit: Visit,
        item: Queued,
        started: UnixMillis,
        address: IpAddr,
        answer: Answer<PageSink>,
    ) -> Result<(), FrontierError> {
        let Answer { head, mut timing, wire_bytes, sink } = answer;
        if !self.tcp_times_count {
            timing.tcp_us = 0;
        }
        self.journal.note(
            Kind::Page,
            item.url.as_str(),
            Some(address),
            &head.status.to_string(),
            wire_bytes,
            timing,
        );
        if let Some(pause) = retry::asks_for_time(&head, started) {
            if item.known.is_none() && item.attempts + 1 < retry::ATTEMPTS {
                return self.retry_later(visit, item, Some(pause)).await;
            }
            visit.delay = visit.delay.max(pause);
        }
        let validators = head.validators.clone();
        let (outcome, links) = page::outcome(&item.url, head, sink);
        let mut fetch =
            fetched(&item.url, started, Some(address), Some(timing), wire_bytes, outcome);
        let slowdown = self.policy.borrow().slowdown;
        let page = revisit::remember(&item, &mut fetch, validators, slowdown);
        let links =
            if matches!(fetch.outcome, Outcome::Unchanged { .. }) { Vec::new() } else { links };
        self.done(visit, item, FetchResult { fetch, page, links, failures: 0 }).await
    }

    async fn failed(
        &self,
        visit: Visit,
        item: Queued,
        started: UnixMillis,
        address: IpAddr,
        error: FetchError,
    ) -> Result<(), FrontierError> {
        let FetchError { problem, timing, wire_bytes } = error;
        let reason = error_line::of(&problem);
        self.journal.note(
            Kind::Page,
            item.url.as_str(),
            Some(address),
            &reason,
            wire_bytes,
            timing,
        );
        let passing = problem.may_pass();
        if passing && item.known.is_none() && item.attempts + 1 < retry::ATTEMPTS {
            return self.retry_later(visit, item, None).await;
        }
        let failures = if passing { visit.record.failures + 1 } else { 0 };
        let outcome = Outcome::Failed { reason };
        let fetch = fetched(&item.url, started, Some(address), Some(timing), wire_bytes, outcome);
        let page = revisit::still_known(&item);
        self.done(visit, item, FetchResult { fetch, page, links: Vec::new(), failures }).await
    }

    /// The host has no address, or none that may be reached. Nothing was sent to it.
    async fn not_reached(
        &self,
        visit: Visit,
        item: Queued,
        error: &ResolveError,
    ) -> Result<(), FrontierError> {
        let reason = error.to_string();
        let again = item.known.is_none() && item.attempts + 1 < retry::ATTEMPTS;
        if matches!(error, ResolveError::Refused(_)) || !again {
            return self.without_request(visit, item, Outcome::Failed { reason }).await;
        }
        self.retry_later(visit, item, None).await
    }

    /// Ends a URL for which nothing was sent; the host is due as it was.
    async fn without_request(
        &self,
        visit: Visit,
        item: Queued,
        outcome: Outcome,
    ) -> Result<(), FrontierError> {
        let forbidden = matches!(outcome, Outcome::Disallowed { .. });
        let fetch = fetched(&item.url, clock::now(), None, None, 0, outcome);
        let page = revisit::still_known(&item).filter(|_| !forbidden);
        let (links, bounds) = (Vec::new(), self.bounds());
        let done = Done { item, fetch, page, links, due: None, failures: 0, bounds };
        let effect = self.store.apply(Change::Done(Box::new(done))).await?;
        self.propagate(&effect, 0);
        self.finish(visit.claim, Duration::ZERO, &effect);
        Ok(())
    }

    async fn done(
        &self,
        visit: Visit,
        item: Queued,
        told: FetchResult,
    ) -> Result<(), FrontierError> {
        let FetchResult { fetch, page, links, failures } = told;
        let pause = visit.delay.max(retry::pause(self.limits.retry, failures));
        let size = size_of_result(&fetch);
        let (due, bounds) = (Some(after(pause)), self.bounds());
        let done = Done { item, fetch, page, links, due, failures, bounds };
        let effect = self.store.apply(Change::Done(Box::new(done))).await?;
        self.propagate(&effect, size);
        self.finish(visit.claim, pause, &effect);
        Ok(())
    }

    /// Leaves the URL first in its queue, for later.
    async fn retry_later(
        &self,
        visit: Visit,
        item: Queued,
        asked: Option<Duration>,
    ) -> Result<(), FrontierError> {
        let failures = visit.record.failures + 1;
        let pause =
            asked.unwrap_or_else(|| retry::pause(self.limits.retry, failures)).max(visit.delay);
        if failures >= retry::GIVE_UP {
            return self.give_up(visit, "the host failed again and again").await;
        }
        let effect = self.store.apply(Change::Retry { item, due: after(pause), failures }).await?;
        self.finish(visit.claim, pause, &effect);
        Ok(())
    }

    /// Ends everything in the host's queue.
    async fn give_up(&self, visit: Visit, reason: &str) -> Result<(), FrontierError> {
        let host = visit.claim.host();
        loop {
            let give_up = Change::GiveUp { host, reason: reason.to_owned(), at: clock::now() };
            let effect = self.store.apply(give_up).await?;
            self.propagate(&effect, 0);
            if !effect.more {
                self.finish(visit.claim, visit.delay, &effect);
                return Ok(());
            }
        }
    }

    /// The host may be asked again after `pause`, for what there is to do next.
    fn finish(&self, claim: Claim, pause: Duration, effect: &Effect) {
        let work = match effect.oldest {
            _ if effect.more => Some(Duration::ZERO),
            Some(visited) => self.until_visit(visited),
            None => None,
        };
        claim.finish_until(pause, work);
    }

    /// How long until a page is visited again that was visited at this moment; none when the
    /// operator wants none.
    fn until_visit(&self, visited: UnixMillis) -> Option<Duration> {
        let period = self.revisit()?;
        let due = visited.plus_ms(i64::try_from(period.as_millis()).unwrap_or(i64::MAX));
        Some(Duration::from_millis(due.0.saturating_sub(clock::now().0).max(0).unsigned_abs()))
    }

    /// Age at which a page is visited again; none for never.
    pub fn revisit(&self) -> Option<Duration> {
        let seconds = self.policy.borrow().revisit_s;
        (seconds > 0).then(|| Duration::from_secs(seconds.into()))
    }

    /// Passes on what follows from a change.
    fn propagate(&self, effect: &Effect, result_bytes: u64) {
        let now = clock::now();
        for (host, due) in &effect.ready {
            self.schedule.offer(*host, *due, now, Duration::ZERO);
        }
        if effect.results {
            self.pack_trigger.add(result_bytes);
        }
    }
}

fn fetched(
    url: &CrawlUrl,
    fetched_at: UnixMillis,
    address: Option<IpAddr>,
    timing: Option<Timing>,
    wire_bytes: u64,
    outcome: Outcome,
) -> Fetch {
    Fetch { url: url.to_string(), fetched_at, address, timing, wire_bytes, outcome, trend: None }
}

/// Roughly what the result takes in a package before compression.
fn size_of_result(fetch: &Fetch) -> u64 {
    let text = match &fetch.outcome {
        Outcome::Page(page) => page.text.len() + page.title.len(),
        _ => 0,
    };
    (text + fetch.url.len() + 300) as u64
}

/// The wall clock's moment so long from now, never less.
fn after(pause: Duration) -> UnixMillis {
    clock::now().plus_ms(i64::try_from(pause.as_millis()).unwrap_or(i64::MAX).saturating_add(1))
}
