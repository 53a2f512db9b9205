//! Application of changes.

use model::{CrawlUrl, ErrorKind, UnixMillis};
use protocol::{
    Route,
    package::encode_entry,
    page::{Discovered, Entry, Failure, Fetch, MAX_REDIRECTS, Outcome},
};

use super::{
    State,
    host::{Admission, Arrival},
    inbox::InboxUrl,
    visited::{self, Filed},
};
use crate::{
    clock,
    frontier::{
        Bounds, Change, Done, Effect, FrontierError, HostBundle, HostNumber, HostRecord, Progress,
        Report, VisitedUrl, disk::Disk, longest_rest,
    },
};

/// URLs that one [`Change::GiveUp`] ends, so that no change grows with the queue.
pub(super) const MAX_URLS_PER_CHANGE: usize = 500;

impl State {
    /// Applies a change and returns its effect.
    pub(in crate::frontier) fn apply(
        &mut self,
        disk: &Disk,
        change: &Change,
    ) -> Result<Effect, FrontierError> {
        match change {
            Change::Routes { routes, at, bounds } => self.take_routes(disk, routes, *at, *bounds),
            Change::Done(done) => self.finish(disk, done),
            Change::Retry { host, key, due, failures } => {
                if let Some(host) = self.hosts.get_mut(disk, *host)? {
                    host.count_attempt(disk, *key)?;
                }
                self.asked(disk, *host, *due, Some(*failures))
            }
            Change::Robots { host, state, sitemaps, reports, bounds, due, failures } => {
                if let Some(state) = state
                    && let Some(host) = self.hosts.get_mut(disk, *host)?
                {
                    host.set_robots(Some(state.clone()));
                }
                self.set_due(disk, *host, *due, Some(*failures))?;
                let mut effect = Effect::default();
                self.push_reports(reports, &mut effect);
                let sitemaps = sitemaps.iter().map(|url| Arrival { url, depth: 0, redirects: 0 });
                self.admit(disk, sitemaps, *bounds, *due, &mut effect)?;
                self.look_ahead(disk, *host, &mut effect)?;
                Ok(effect)
            }
            Change::Asked { host, due } => self.asked(disk, *host, *due, None),
            Change::GiveUp { host, failure, failures, at } => {
                self.give_up(disk, *host, failure, *failures, *at)
            }
            Change::Order { number, host, task } => self.order(disk, *number, *host, *task),
            Change::ForgetOrders { numbers } => {
                self.totals.orders.retain(|number, _| !numbers.contains(number));
                Ok(Effect::default())
            }
            Change::Sealed { seq, through, bytes } => {
                self.seal(*seq, *through, *bytes);
                Ok(Effect::default())
            }
            Change::Shipped { seq } => {
                self.totals.packages.remove(seq);
                Ok(Effect::default())
            }
            Change::HandOver { number, host, accepted } => {
                self.hand_over(disk, *number, *host, *accepted)
            }
            Change::TakeOver { bundle, keeps_times, at } => {
                self.take_over(disk, &HostBundle::decode(bundle)?, *keeps_times, *at)
            }
            Change::Adopt { urls, at, bounds } => self.adopt(disk, urls, *at, *bounds),
            Change::Report { reports } => {
                let mut effect = Effect::default();
                self.push_reports(reports, &mut effect);
                Ok(effect)
            }
            Change::RoutesStored { through } => Ok(self.routes_stored(*through)),
            Change::Drop { host } => self.drop_host(disk, *host),
            Change::HandBack { host } => self.release(disk, *host),
            Change::FailedVisit { host, url, failure, at, due, failures } => {
                self.report_failure(disk, *host, &failed(url, failure, *at), (*due, *failures))
            }
        }
    }

    fn routes_stored(&mut self, through: u64) -> Effect {
        self.totals.routes_after = self.totals.routes_after.max(through);
        Effect::default()
    }

    fn take_routes(
        &mut self,
        disk: &Disk,
        routes: &[Route],
        at: UnixMillis,
        bounds: Bounds,
    ) -> Result<Effect, FrontierError> {
        let mut effect = Effect::default();
        for route in routes {
            // Answers are repeated after a lost connection.
            if route.seq <= self.totals.routes_after {
                continue;
            }
            self.totals.routes_after = route.seq;
            // A route that is never tried is reported, so that the coordinator does not wait.
            if let Err(reason) = self.take_route(disk, route, at, bounds, &mut effect)? {
                effect.results = true;
                let failure = Failure::new(ErrorKind::Other, reason);
                self.result(&failed(&route.url, &failure, at));
            }
        }
        Ok(effect)
    }

    fn take_route(
        &mut self,
        disk: &Disk,
        route: &Route,
        at: UnixMillis,
        bounds: Bounds,
        effect: &mut Effect,
    ) -> Result<Result<(), String>, FrontierError> {
        let url = match CrawlUrl::parse(&route.url) {
            Ok(url) => url,
            Err(error) => return Ok(Err(format!("the URL cannot be crawled: {error}"))),
        };
        let host = self.acquire_host(url.host_key_str(), at);
        let arrival = Arrival { url: &url, depth: 0, redirects: route.redirects };
        match self.enqueue(disk, host, arrival, bounds, effect)? {
            Admission::Full => Ok(Err("the host has reached its limit of pages".into())),
            Admission::Queued => self.shorten_rest(disk, host, at, effect).map(Ok),
            Admission::Known => Ok(Ok(())),
        }
    }

    /// Drops a host without handing anything back.
    fn drop_host(&mut self, disk: &Disk, number: HostNumber) -> Result<Effect, FrontierError> {
        let Some(host) = self.hosts.get_mut(disk, number)? else { return Ok(Effect::default()) };
        let queued = host.drain_queue(disk, MAX_URLS_PER_CHANGE)?.len();
        let visited = host.drain_pages(disk, MAX_URLS_PER_CHANGE - queued)?.len();
        self.hosts.queued -= queued as u64;
        let more = queued + visited == MAX_URLS_PER_CHANGE;
        if !more {
            self.hosts.remove(number);
        }
        Ok(Effect { progress: Progress::of(more), ..Effect::default() })
    }

    /// The host with this key, which is the agent's from now on.
    pub(super) fn acquire_host(&mut self, key: &str, at: UnixMillis) -> HostNumber {
        if let Some(host) = self.hosts.number(key) {
            return host;
        }
        // Host numbers are never reused, so late changes for a released host find nothing.
        let host = HostNumber(self.next_order());
        let record =
            HostRecord { key: key.to_owned(), due: at, accepted: 0, ended: 0, failures: 0 };
        self.hosts.add(host, record);
        host
    }

    /// Queues a URL of this host, and notes in the effect that the host has work.
    pub(super) fn enqueue(
        &mut self,
        disk: &Disk,
        number: HostNumber,
        arrival: Arrival<'_>,
        bounds: Bounds,
        effect: &mut Effect,
    ) -> Result<Admission, FrontierError> {
        let order = self.next_order();
        // Most links lead to URLs that are known, which changes nothing of the host.
        let Some(host) = self.hosts.get(disk, number)? else { return Ok(Admission::Known) };
        // Two keys with equal hashes: the host is another one, whose URLs are not fetched here.
        if host.record.key != arrival.url.host_key_str() {
            return Ok(Admission::Full);
        }
        let admission = host.enqueue(disk, arrival, order, bounds)?;
        if admission == Admission::Queued {
            host.is_changed = true;
            let due = host.record.due;
            self.hosts.queued += 1;
            if !effect.ready.iter().any(|(ready, _)| *ready == number) {
                effect.ready.push((number, due));
            }
        }
        Ok(admission)
    }

    fn finish(&mut self, disk: &Disk, done: &Done) -> Result<Effect, FrontierError> {
        let mut filed = Filed::default();
        if let Some(host) = self.hosts.get_mut(disk, done.host)? {
            filed = visited::file(host, disk, done)?;
            host.bring_forward(disk, &done.brought_forward)?;
            self.hosts.queued -= u64::from(filed.was_queued);
        }
        self.totals.fetched += 1;
        self.totals.wire_bytes = self.totals.wire_bytes.saturating_add(done.wire_bytes);
        self.push_result(&done.result);
        if let Some(due) = done.due {
            self.set_due(disk, done.host, due, Some(done.failures))?;
        }
        let mut effect = Effect::default();
        self.follow(disk, done, filed, &mut effect)?;
        self.look_ahead(disk, done.host, &mut effect)?;
        effect.results = true;
        Ok(effect)
    }

    /// Admits the redirect target and the links of a finished fetch. A redirect keeps the depth of
    /// its URL; links are one deeper.
    fn follow(
        &mut self,
        disk: &Disk,
        done: &Done,
        filed: Filed,
        effect: &mut Effect,
    ) -> Result<(), FrontierError> {
        let Filed { is_respelled, has_lost_content, .. } = filed;
        self.push_reports(&done.reports, effect);
        let redirects = done.redirects.saturating_add(1);
        if is_respelled {
            self.queue_respelled(disk, done, effect)?;
        }
        let target = done.target.as_ref().filter(|_| redirects <= MAX_REDIRECTS && !is_respelled);
        let mut target = target.map(|url| Arrival { url, depth: done.depth, redirects });
        let has_ended = done.page.is_none() && matches!(done.item, VisitedUrl::Page { .. });
        let has_moved = has_ended || has_lost_content;
        if let Some(moved_to) = target.as_ref().filter(|_| has_moved)
            && self.queue_ended(disk, moved_to, effect)?
        {
            target = None;
        }
        // The queue is ordered by depth, which makes the crawl of a host breadth first.
        let depth = done.depth.saturating_add(1);
        let links = done.links.iter().map(|url| Arrival { url, depth, redirects: 0 });
        self.admit(disk, target.into_iter().chain(links), done.bounds, done.fetched_at, effect)
    }

    /// Queues URLs of hosts of the agent, each unless it was queued before or exceeds a bound.
    /// Those of hosts that are not in memory are decided later.
    fn admit<'a>(
        &mut self,
        disk: &Disk,
        arrivals: impl Iterator<Item = Arrival<'a>>,
        bounds: Bounds,
        at: UnixMillis,
        effect: &mut Effect,
    ) -> Result<(), FrontierError> {
        for arrival in arrivals.filter(|arrival| arrival.depth <= bounds.depth) {
            if let Some(host) = self.hosts.number(arrival.url.host_key_str()) {
                if self.hosts.is_in_memory(host) {
                    self.enqueue(disk, host, arrival, bounds, effect)?;
                } else {
                    // It has the place that it would have had if it was decided now.
                    let order = self.next_order();
                    self.hosts.defer(host, order, InboxUrl::new(arrival, bounds, at));
                    effect.undecided = true;
                }
            }
        }
        Ok(())
    }

    fn push_reports(&mut self, reports: &[Report], effect: &mut Effect) {
        effect.results |= !reports.is_empty();
        for Report { url, redirects } in reports {
            let url = url.to_string();
            let discovered = Discovered { url, redirects: *redirects, handed_back: false };
            self.result(&Entry::Discovered(discovered));
        }
    }

    fn asked(
        &mut self,
        disk: &Disk,
        number: HostNumber,
        due: UnixMillis,
        failures: Option<u32>,
    ) -> Result<Effect, FrontierError> {
        self.set_due(disk, number, due, failures)?;
        let mut effect = Effect::default();
        self.look_ahead(disk, number, &mut effect)?;
        Ok(effect)
    }

    fn report_failure(
        &mut self,
        disk: &Disk,
        host: HostNumber,
        failure: &Entry,
        (due, failures): (UnixMillis, u32),
    ) -> Result<Effect, FrontierError> {
        self.result(failure);
        let effect = self.asked(disk, host, due, Some(failures))?;
        Ok(Effect { results: true, ..effect })
    }

    fn set_due(
        &mut self,
        disk: &Disk,
        number: HostNumber,
        due: UnixMillis,
        failures: Option<u32>,
    ) -> Result<(), FrontierError> {
        let Some(host) = self.hosts.get_mut(disk, number)? else { return Ok(()) };
        if let Some(failures) = failures {
            host.record.due = due;
            host.record.failures = failures;
        } else {
            // A request for another host, or a probe, does not end a longer pause.
            let known = host.record.due;
            host.record.due = if clock::is_wrong(known, due) { due } else { known.max(due) };
        }
        Ok(())
    }

    /// Adds to the effect what the host has left to do.
    pub(super) fn look_ahead(
        &mut self,
        disk: &Disk,
        number: HostNumber,
        effect: &mut Effect,
    ) -> Result<(), FrontierError> {
        let Some(host) = self.hosts.get(disk, number)? else { return Ok(()) };
        effect.has_queued = host.has_queued();
        effect.revisit_base = if effect.has_queued { None } else { host.first_revisit_base(disk)? };
        Ok(())
    }

    fn give_up(
        &mut self,
        disk: &Disk,
        number: HostNumber,
        failure: &Failure,
        failures: u32,
        at: UnixMillis,
    ) -> Result<Effect, FrontierError> {
        let Some(host) = self.hosts.get_mut(disk, number)? else { return Ok(Effect::default()) };
        // Rules are requested again if the host gets URLs later.
        host.set_robots(None);
        let ended = host.give_queue_up(disk, MAX_URLS_PER_CHANGE, at)?;
        self.hosts.queued -= ended.len() as u64;
        self.totals.fetched += ended.len() as u64;
        for url in &ended {
            self.result(&failed(url, failure, at));
        }
        // The failures count on: until the host answers, one more is enough to give it up again.
        let due = at.plus(longest_rest(failures));
        let effect = self.asked(disk, number, due, Some(failures))?;
        let progress = Progress::of(effect.has_queued);
        Ok(Effect { progress, results: !ended.is_empty(), ..effect })
    }

    fn seal(&mut self, seq: u64, through: u64, bytes: u64) {
        let rest = self.results.split_off(&(through + 1));
        for (order, result) in std::mem::replace(&mut self.results, rest) {
            self.result_bytes -= result.bytes.len();
            if result.is_on_disk {
                self.packed.push(order);
            }
        }
        self.totals.packages.insert(seq, bytes);
        // After a rebuild the number is larger than those of the log.
        self.totals.next_package = self.totals.next_package.max(seq + 1);
        self.note_packed(seq);
    }

    pub(super) fn result(&mut self, entry: &Entry) {
        self.push_result(&encode_entry(entry));
    }

    fn push_result(&mut self, bytes: &[u8]) {
        let order = self.next_order();
        self.insert_result(order, bytes, false);
    }
}

fn failed(url: &str, failure: &Failure, at: UnixMillis) -> Entry {
    Entry::Fetch(Box::new(Fetch {
        url: url.to_owned(),
        fetched_at: at,
        address: None,
        timing: None,
        wire_bytes: 0,
        outcome: Outcome::Failed(failure.clone()),
        trend: None,
    }))
}
