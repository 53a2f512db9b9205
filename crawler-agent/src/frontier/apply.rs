//! Application of changes to the file, many of them in one transaction.

use model::{CrawlUrl, UnixMillis};
use protocol::{Route, page::Entry, page::Fetch, page::Outcome};
use redb::{ReadableTable as _, WriteTransaction};

use super::{
    Bounds, Change, Done, Effect, Frontier, FrontierError, HostNumber, PageRecord, Past, Queued,
    tables::{self, PACKAGES},
    transaction::{Admission, Arrival, Transaction},
};

/// URLs that one [`Change::GiveUp`] ends, so that no transaction grows with the queue.
const MAX_URLS_PER_CHANGE: usize = 500;

impl Frontier {
    /// Applies the changes, all or none, and returns the effect of each. They are durable when this
    /// returns.
    pub fn apply(&self, changes: &[Change]) -> Result<Vec<Effect>, FrontierError> {
        let mut write = self.db.begin_write()?;
        // Without this a file that was not closed is checked as a whole when it is opened.
        write.set_quick_repair(true);
        let mut effects = Vec::with_capacity(changes.len());
        let mut transaction = Transaction::open(&write)?;
        for change in changes {
            effects.push(one(&write, &mut transaction, change)?);
        }
        transaction.close()?;
        write.commit()?;
        Ok(effects)
    }
}

fn one(
    write: &WriteTransaction,
    transaction: &mut Transaction<'_>,
    change: &Change,
) -> Result<Effect, FrontierError> {
    match change {
        Change::Routes { routes, at, bounds } => transaction.take_routes(routes, *at, *bounds),
        Change::Done(done) => transaction.finish(done),
        Change::Retry { item, due, failures } => transaction.retry(item, *due, *failures),
        Change::Robots { host, state, due, failures } => {
            if let Some(state) = state {
                transaction.robots.insert(host.0, serde_json::to_vec(state)?.as_slice())?;
            }
            transaction.asked(*host, *due, Some(*failures))
        }
        Change::Asked { host, due } => transaction.asked(*host, *due, None),
        Change::GiveUp { host, reason, at } => {
            // Rules are requested afresh if the host gets URLs later.
            transaction.robots.remove(host.0)?;
            transaction.give_up(*host, reason, *at)
        }
        Change::Order { number, host, task } => transaction.order(*number, *host, *task),
        Change::ForgetOrders { numbers } => transaction.forget_orders(numbers),
        Change::Sealed { seq, through, bytes } => {
            write.open_table(PACKAGES)?.insert(*seq, *bytes)?;
            transaction.seal(*seq, *through)
        }
        Change::Shipped { seq } => {
            write.open_table(PACKAGES)?.remove(*seq)?;
            Ok(Effect::default())
        }
    }
}

impl Transaction<'_> {
    fn take_routes(
        &mut self,
        routes: &[Route],
        at: UnixMillis,
        bounds: Bounds,
    ) -> Result<Effect, FrontierError> {
        let mut after = self.meta.get(tables::ROUTES_AFTER)?.map_or(0, |n| n.value());
        let mut effect = Effect::default();
        for route in routes {
            // Answers are repeated after a lost connection.
            if route.seq <= after {
                continue;
            }
            after = route.seq;
            match self.take_route(route, at, bounds)? {
                Ok(Admission::Queued(host)) => self.note_ready(&mut effect, host)?,
                Ok(Admission::Ignored) => {}
                Ok(Admission::Full) => {
                    self.refuse(
                        &mut effect,
                        &route.url,
                        "the host has reached its limit of pages",
                        at,
                    )?;
                }
                Err(reason) => self.refuse(&mut effect, &route.url, &reason, at)?,
            }
        }
        self.meta.insert(tables::ROUTES_AFTER, after)?;
        Ok(effect)
    }

    fn take_route(
        &mut self,
        route: &Route,
        at: UnixMillis,
        bounds: Bounds,
    ) -> Result<Result<Admission, String>, FrontierError> {
        let url = match CrawlUrl::parse(&route.url) {
            Ok(url) => url,
            Err(error) => return Ok(Err(format!("the URL cannot be crawled: {error}"))),
        };
        let host = self.acquire_host(&url, at)?;
        let arrival = Arrival { url: &url, depth: 0, redirects: route.redirects };
        self.enqueue(host, &arrival, bounds).map(Ok)
    }

    /// Reports a routed URL that is never tried, so that the coordinator does not wait for it.
    fn refuse(
        &mut self,
        effect: &mut Effect,
        url: &str,
        reason: &str,
        at: UnixMillis,
    ) -> Result<(), FrontierError> {
        effect.results = true;
        self.result(&failed(url, reason, at))
    }

    fn finish(&mut self, done: &Done) -> Result<Effect, FrontierError> {
        let item = &done.item;
        let past_forgotten = if let Some(known) = &item.known {
            self.forget_page(item, known)?
        } else {
            self.queue.remove((item.host.0, item.depth, item.order))?;
            false
        };
        if let Some(record) = &done.page {
            // An order settled the host during the visit; the record in `done` is from before.
            let past = if past_forgotten { Past::default() } else { record.past };
            self.keep_page(item, done.fetch.fetched_at, &PageRecord { past, ..record.clone() })?;
        }
        self.add(tables::FETCHED, 1)?;
        self.add(tables::WIRE_BYTES, done.fetch.wire_bytes)?;
        self.result(&Entry::Fetch(Box::new(done.fetch.clone())))?;
        let mut effect = match done.due {
            Some(due) => self.asked(item.host, due, Some(done.failures))?,
            None => Effect::default(),
        };
        self.follow(done, &mut effect)?;
        self.look_ahead(item.host, &mut effect)?;
        effect.results = true;
        Ok(effect)
    }

    /// Adds to the effect what the host has left to do.
    fn look_ahead(&self, host: HostNumber, effect: &mut Effect) -> Result<(), FrontierError> {
        effect.more = self.has_more(host)?;
        effect.oldest = if effect.more { None } else { self.oldest_visit(host)? };
        Ok(())
    }

    /// Admits the redirect target and the links of a finished fetch. A redirect keeps the depth of
    /// its URL; links are one deeper.
    fn follow(&mut self, done: &Done, effect: &mut Effect) -> Result<(), FrontierError> {
        let item = &done.item;
        let target = match &done.fetch.outcome {
            Outcome::Redirect { location, .. } => CrawlUrl::parse(location).ok(),
            _ => None,
        };
        let redirected = target.iter().map(|url| Arrival {
            url,
            depth: item.depth,
            redirects: item.redirects + 1,
        });
        // The queue is ordered by depth, which makes the crawl of a host breadth first.
        let depth = item.depth.saturating_add(1);
        let linked = done.links.iter().map(|url| Arrival { url, depth, redirects: 0 });
        for arrival in redirected.chain(linked) {
            if let Admission::Queued(host) = self.admit_link(&arrival, done.bounds)? {
                self.note_ready(effect, host)?;
            }
        }
        Ok(())
    }

    fn retry(
        &mut self,
        item: &Queued,
        due: UnixMillis,
        failures: u32,
    ) -> Result<Effect, FrontierError> {
        let key = (item.host.0, item.depth, item.order);
        self.queue
            .insert(key, (item.url.as_str(), item.redirects, item.attempts.saturating_add(1)))?;
        self.asked(item.host, due, Some(failures))
    }

    fn asked(
        &mut self,
        host: HostNumber,
        due: UnixMillis,
        failures: Option<u32>,
    ) -> Result<Effect, FrontierError> {
        if let Some(mut record) = self.record(host)? {
            record.due = due;
            record.failures = failures.unwrap_or(record.failures);
            self.put_record(host, &record)?;
        }
        let mut effect = Effect::default();
        self.look_ahead(host, &mut effect)?;
        Ok(effect)
    }

    fn give_up(
        &mut self,
        host: HostNumber,
        reason: &str,
        at: UnixMillis,
    ) -> Result<Effect, FrontierError> {
        let mut ended = Vec::new();
        for entry in self.queue.range((host.0, 0, 0)..(host.0 + 1, 0, 0))?.take(MAX_URLS_PER_CHANGE)
        {
            let (key, value) = entry?;
            ended.push((key.value(), value.value().0.to_owned()));
        }
        for (key, url) in &ended {
            self.queue.remove(key)?;
            self.result(&failed(url, reason, at))?;
        }
        self.add(tables::FETCHED, ended.len() as u64)?;
        // The count starts anew: URLs that are routed later get a fair chance.
        let effect = self.asked(host, at, Some(0))?;
        Ok(Effect { results: !ended.is_empty(), ..effect })
    }

    fn seal(&mut self, seq: u64, through: u64) -> Result<Effect, FrontierError> {
        self.results.retain_in(..=through, |_, _| false)?;
        self.meta.insert(tables::NEXT_PACKAGE, seq + 1)?;
        self.packed(seq)?;
        Ok(Effect::default())
    }

    fn has_more(&self, host: HostNumber) -> Result<bool, FrontierError> {
        Ok(self.queue.range((host.0, 0, 0)..(host.0 + 1, 0, 0))?.next().is_some())
    }

    fn note_ready(&self, effect: &mut Effect, host: HostNumber) -> Result<(), FrontierError> {
        if !effect.ready.iter().any(|(ready, _)| *ready == host) {
            let due = self.record(host)?.map_or(UnixMillis(0), |record| record.due);
            effect.ready.push((host, due));
        }
        Ok(())
    }
}

fn failed(url: &str, reason: &str, at: UnixMillis) -> Entry {
    Entry::Fetch(Box::new(Fetch {
        url: url.to_owned(),
        fetched_at: at,
        address: None,
        timing: None,
        wire_bytes: 0,
        outcome: Outcome::Failed { reason: reason.to_owned() },
        trend: None,
    }))
}
