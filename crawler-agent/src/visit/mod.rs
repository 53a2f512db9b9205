//! A visit: makes the next request of a host that is due.
//!
//! One visit makes at most one request: for robots.txt where its rules are missing or a day old,
//! else for the first URL of the queue, else for the page that is visited again first, once it is
//! due. The outcome is on disk before the host is visited again.

mod failures;
mod outage;
mod region;
mod retry;
mod revisit;
mod robots;
mod slot;

use std::{net::IpAddr, pin::pin, sync::Arc, time::Duration};

use model::{CrawlPolicy, CrawlUrl, ErrorKind, UnixMillis, UrlError};
use protocol::{page::DisallowedBy, page::Failure, page::Fetch, page::Outcome, page::Timing};
use tokio::{sync::watch, time::Instant};

use crate::{
    activity_log::Activity, activity_log::ActivityLog, clock, config::Limits, fetch, fetch::Answer,
    fetch::Fetcher, fetch::Validators, frontier::Bounds, frontier::Change, frontier::Done,
    frontier::Effect, frontier::FrontierError, frontier::FrontierHandle, frontier::GIVE_UP,
    frontier::HostRecord, frontier::INBOX_PATIENCE, frontier::PageRecord, frontier::QueueItem,
    lease::Lease, metrics::Metrics, outbox::PackTrigger, page, page::Content, page::PageSink,
    peers::Peers, resolve::Resolver, schedule::Claim, schedule::Schedule, schedule::after_answer,
};
use retry::AddressChoice;
pub use revisit::LostBefore;
pub use slot::RequestSlot;

/// Makes visits; one for the whole agent.
pub struct Visitor {
    /// Queues and results.
    pub store: FrontierHandle,
    /// Where claims are given back and new work is offered.
    pub schedule: Arc<Schedule>,
    /// Finds addresses and checks them with the guard.
    pub resolver: Arc<Resolver>,
    /// HTTP client, shared with the prober.
    pub fetcher: Arc<Fetcher>,
    /// Whether the time of a TCP connection may be reported as a round trip: only where the owner
    /// allows TCP probes.
    pub tcp_times_count: bool,
    /// Record of all requests for the owner.
    pub activity_log: ActivityLog,
    /// Tells the outbox of new results.
    pub pack_trigger: Arc<PackTrigger>,
    /// The owner's limits.
    pub limits: Limits,
    /// The operator's settings.
    pub policy: watch::Receiver<CrawlPolicy>,
    /// What was sent of pages before is lost at the coordinator.
    pub lost_before: LostBefore,
    /// Counts the outcomes.
    pub metrics: Metrics,
    /// How long hosts outside the region may be fetched from.
    pub lease: Arc<Lease>,
    /// The agent as a member of a region; none where the owner wants none.
    pub peers: Option<Arc<Peers>>,
}

/// A claimed host, its record and its delay between requests.
struct Visit {
    claim: Claim,
    record: HostRecord,
    delay: Duration,
    /// Pause that the time of the last answer asks for.
    slowness_pause: Duration,
    /// The outage of the agent's uplink that may be the reason for a failure of the request.
    outage: Option<Duration>,
    /// When the request must have ended, in a region.
    deadline: Option<Instant>,
    /// Which address of the host is asked.
    choice: AddressChoice,
}

impl Visitor {
    /// Least time between two requests to a host without a Crawl-delay.
    pub fn delay(&self) -> Duration {
        self.limits.host_delay.max(Duration::from_millis(self.policy.borrow().host_delay_ms.into()))
    }

    /// Bounds of what is queued.
    pub fn bounds(&self) -> Bounds {
        let policy = *self.policy.borrow();
        Bounds { pages_a_host: policy.pages_a_host, depth: policy.depth.into() }
    }

    /// Makes the next request of the claimed host in a request slot; returns the slot, unless it
    /// was given back when the request was over.
    pub async fn visit(
        &self,
        claim: Claim,
        slot: RequestSlot,
    ) -> Result<Option<RequestSlot>, FrontierError> {
        let mut slot = Some(slot);
        self.visit_in(&mut slot, claim).await?;
        Ok(slot)
    }

    async fn visit_in(
        &self,
        slot: &mut Option<RequestSlot>,
        mut claim: Claim,
    ) -> Result<(), FrontierError> {
        let host = claim.host();
        let snapshot = self.store.snapshot(host).await?;
        // The host was released while it waited.
        let Some(mut snapshot) = snapshot else {
            claim.finish(Duration::ZERO, false);
            return Ok(());
        };
        let page = snapshot.next_page.take();
        let wait =
            page.as_ref().and_then(|page| self.until_revisit(page.known.as_ref()?.revisit_base));
        let due = page.filter(|_| wait == Some(Duration::ZERO));
        let due = due.map(|page| self.lost_before.without_lost_content(page));
        let Some(item) = snapshot.next.take().or(due) else {
            claim.finish_until(Duration::ZERO, wait);
            return Ok(());
        };
        if let Err(error) = CrawlUrl::parse(item.url.as_str()) {
            return self.forbidden(claim, &item, &error);
        }
        let need = robots::need(&snapshot, &item, clock::now());
        if !self.resolver.is_ready(&item.url)
            || need.request().is_some_and(|url| !self.resolver.is_ready(url))
        {
            claim.look_up();
            return Ok(());
        }
        let limit = match self.permission(&item.url).await {
            Ok(limit) => limit,
            Err(pause) => {
                claim.postpone(pause);
                return Ok(());
            }
        };
        let crawl_delay =
            need.delay_ms().map_or(Duration::ZERO, |ms| Duration::from_millis(ms.into()));
        let delay = self.delay().max(crawl_delay);
        // From here on a cancelled visit may have sent something.
        claim.set_pause(delay);
        let deadline = limit.map(|limit| Instant::now() + limit);
        let record = snapshot.record;
        let slowness_pause = Duration::ZERO;
        let choice = AddressChoice::default();
        let outage = None;
        let visit = Visit { claim, record, delay, slowness_pause, outage, deadline, choice };
        match need {
            robots::Need::Ask(asking) => self.ask_robots(visit, item, asking).await,
            robots::Need::Obey { allows: true, .. } => self.fetch(visit, item, slot).await,
            robots::Need::Obey { allows: false, .. } => {
                let outcome = Outcome::Disallowed { by: DisallowedBy::RobotsTxt };
                self.without_request(visit, &item, outcome)
            }
        }
    }

    async fn fetch(
        &self,
        visit: Visit,
        item: QueueItem,
        slot: &mut Option<RequestSlot>,
    ) -> Result<(), FrontierError> {
        let addresses = match self.resolver.addresses(&item.url).await {
            Ok(addresses) => addresses,
            Err(error) => return self.not_reached(visit, &item, &error),
        };
        let number = self.address_number(visit.record.failures);
        let choice = AddressChoice::of(number, addresses.len());
        let address = addresses[choice.index];
        // Two hosts at one address are one server: politeness counts for both.
        let Some(claim) = self.hold(visit.claim, address)? else { return Ok(()) };
        let mut visit = Visit { claim, choice, ..visit };
        let started = clock::now();
        let known = revisit::validators(&item);
        let open = |head: &fetch::Head| PageSink::open(&item.url, head);
        let under_way = self.activity_log.begin(Activity::Page, item.url.as_str(), address);
        let result = {
            let request = pin!(self.fetcher.get_changed(&item.url, address, &known, open));
            visit.in_time(request).await
        };
        let Some(result) = result else { return Ok(()) };
        let duration = self.note_end(&mut visit, under_way, &result);
        if visit.outage.is_none() {
            visit.claim.page_took(duration);
        }
        visit.delay = visit.delay.max(after_answer(visit.delay, duration));
        self.note_address(&item.url, address, &result);
        match result {
            Ok(answer) => self.answered(visit, &item, started, address, answer, slot).await,
            Err(error) => self.failed(visit, &item, started, address, error),
        }
    }

    /// Holds the address for a claim, unless the host has to wait for it. The time of a host that
    /// is sent away is stored: an address may have more hosts than can be remembered.
    fn hold(&self, claim: Claim, address: IpAddr) -> Result<Option<Claim>, FrontierError> {
        let host = claim.host();
        let held = claim.hold(address, self.delay());
        if held.is_none()
            && let Some(rest) = self.schedule.away(host)
        {
            self.store.apply(Change::Asked { host, due: clock::after(rest) })?;
            self.schedule.rest_is_stored(host);
        }
        Ok(held)
    }

    async fn answered(
        &self,
        mut visit: Visit,
        item: &QueueItem,
        started: UnixMillis,
        address: IpAddr,
        answer: Answer<PageSink>,
        slot: &mut Option<RequestSlot>,
    ) -> Result<(), FrontierError> {
        let Answer { head, mut timing, wire_bytes, sink, mut memory } = answer;
        if !self.tcp_times_count {
            timing.tcp_us = 0;
        }
        if item.known.is_none() {
            // A host that answers is not given up for a new URL, so that its attempts alone count.
            visit.record.failures = item.attempts.into();
        }
        let is_in_trouble = retry::is_in_trouble(head.status);
        // Never as many as of a host that is given up, because this one answers.
        let failures = if is_in_trouble { (visit.record.failures + 1).min(GIVE_UP - 1) } else { 0 };
        let asked = retry::requested_pause(&head, started, failures);
        if is_in_trouble && retry::has_attempts(item) {
            return self.retry_later(visit, item, asked);
        }
        let validators = head.validators.clone();
        let Content { outcome, links, list, expires } =
            page::content(&item.url, head, sink, started);
        // An answer "unchanged" would not show that the time has passed.
        let validators = if expires { Validators::default() } else { validators };
        let mut fetch =
            fetched(&item.url, started, Some(address), Some(timing), wire_bytes, outcome);
        let slowdown = self.policy.borrow().slowdown.filter(|_| visit.choice.is_usual());
        let page = revisit::remember(item, &mut fetch, validators, slowdown);
        let mut page = page.filter(|_| !revisit::is_file(item, &fetch, list.as_ref()));
        if let Some(page) = &mut page {
            revisit::observe(page, &fetch, list.as_ref(), self.revisit_ages());
        }
        let changed = list.and_then(|list| revisit::stated(list, self.revisit_ages(), started));
        let links =
            if matches!(fetch.outcome, Outcome::Unchanged { .. }) { Vec::new() } else { links };
        if self.must_look_up(&fetch, &links) {
            // Nothing more is sent: other hosts need not wait for name servers.
            visit.claim.request_is_over();
            if memory.leave_guaranteed() {
                *slot = None;
            }
        }
        let (links, target_is_shared) = self.share(item, &fetch, links).await?;
        let ended = self.ended(item, fetch, page);
        let target = ended.target.filter(|_| !target_is_shared);
        let failures = if item.known.is_some() { failures } else { 0 };
        let pause = retry::pause_in_trouble(self.limits.retry, failures);
        let pause = pause.max(asked.unwrap_or_default());
        self.done(visit, pause, Done { target, links, stated: changed, failures, ..ended })?;
        drop(memory);
        if let Some(peers) = &self.peers {
            peers.fetched(&item.url);
        }
        Ok(())
    }

    /// Ends a URL for which nothing was sent; the host is due at once.
    fn without_request(
        &self,
        visit: Visit,
        item: &QueueItem,
        outcome: Outcome,
    ) -> Result<(), FrontierError> {
        // robots.txt may allow it again. Its next answer is reported as new, because the index
        // drops forbidden pages.
        let page = match &outcome {
            Outcome::Disallowed { .. } => Some(revisit::known_or_new(item).forget_content()),
            _ => revisit::still_known(item),
        };
        let fetch = fetched(&item.url, clock::now(), None, None, 0, outcome);
        self.apply(visit.claim, Duration::ZERO, self.ended(item, fetch, page))
    }

    /// Ends a URL that the rules of URLs have forbidden since it was stored.
    fn forbidden(
        &self,
        claim: Claim,
        item: &QueueItem,
        error: &UrlError,
    ) -> Result<(), FrontierError> {
        let failure = Failure::new(ErrorKind::Other, format!("it cannot be crawled: {error}"));
        let outcome = Outcome::Failed(failure);
        let fetch = fetched(&item.url, clock::now(), None, None, 0, outcome);
        self.apply(claim, Duration::ZERO, self.ended(item, fetch, None))
    }

    /// The end of a fetch, which is counted.
    fn ended(&self, item: &QueueItem, fetch: Fetch, page: Option<PageRecord>) -> Done {
        self.metrics.fetched(&fetch);
        let page = page.map(|page| revisit::scheduled(page, self.revisit_ages()));
        Done { page, ..Done::new(item, fetch, self.bounds()) }
    }

    /// Ends a URL, after which the host rests for this pause at least.
    fn done(&self, visit: Visit, pause: Duration, done: Done) -> Result<(), FrontierError> {
        let pause = visit.delay.max(pause);
        let due = Some(clock::after(pause));
        self.apply(visit.claim, pause, Done { due, ..done })
    }

    /// Stores the end of a fetch, and gives the claim back.
    fn apply(&self, claim: Claim, pause: Duration, done: Done) -> Result<(), FrontierError> {
        let size = done.result.len() as u64;
        let effect = self.store.apply(Change::Done(Box::new(done)))?;
        self.propagate(&effect, size);
        self.finish(claim, pause, &effect);
        Ok(())
    }

    /// Gives the claim back. The host is due after `pause` if it has URLs, else when the first of
    /// its pages is due for a revisit.
    fn finish(&self, claim: Claim, pause: Duration, effect: &Effect) {
        let work = match effect.revisit_base {
            _ if effect.has_queued => Some(Duration::ZERO),
            Some(base) => self.until_revisit(base),
            None => None,
        };
        claim.finish_until(pause, work);
    }

    /// Passes the effects of a change on to schedule and outbox.
    fn propagate(&self, effect: &Effect, result_bytes: u64) {
        let now = clock::now();
        for (host, due) in &effect.ready {
            self.schedule.offer(*host, *due, now, Duration::ZERO);
        }
        if effect.undecided {
            self.schedule.expect_work(INBOX_PATIENCE);
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
