//! Release of a host: every URL that is known of it is handed back to the coordinator, so that the
//! next agent loses none.

use model::HostTask;
use protocol::{page::Discovered, page::Entry};
use redb::{ReadableDatabase as _, ReadableTable as _};

use super::{
    Effect, Frontier, FrontierError, HostNumber,
    tables::{self, ORDERS, PACKAGES},
    transaction::Transaction,
};

/// URLs that one [`super::Change::Order`] hands back, so that no transaction grows with the host.
const MAX_URLS_PER_CHANGE: usize = 500;

impl Transaction<'_> {
    /// Executes a host order, or a part of it; `more` in the effect means that the change must be
    /// applied again.
    pub(super) fn order(
        &mut self,
        number: u64,
        host: Option<HostNumber>,
        task: HostTask,
    ) -> Result<Effect, FrontierError> {
        // Executed before; the host may have come back since.
        if self.orders.get(number)?.is_some() {
            return Ok(Effect::default());
        }
        let effect = match (host, task) {
            (None, _) => Effect::default(),
            (Some(host), HostTask::Settle) => self.settle(host).map(|()| Effect::default())?,
            (Some(host), HostTask::Release) => self.release(host)?,
        };
        if !effect.more {
            self.record_executed(number)?;
        }
        Ok(effect)
    }

    fn release(&mut self, host: HostNumber) -> Result<Effect, FrontierError> {
        let queued = self.drain_queue(host)?;
        let room = MAX_URLS_PER_CHANGE - queued.len();
        let visited = self.drain_pages(host, room)?.into_iter().map(|url| (url, 0));
        let handed_back: Vec<(String, u8)> = queued.into_iter().chain(visited).collect();
        let more = handed_back.len() == MAX_URLS_PER_CHANGE;
        for (url, redirects) in handed_back {
            self.result(&Entry::Discovered(Discovered { url, redirects, handed_back: true }))?;
        }
        if !more {
            self.forget(host)?;
        }
        Ok(Effect { more, results: true, ..Effect::default() })
    }

    fn drain_queue(&mut self, host: HostNumber) -> Result<Vec<(String, u8)>, FrontierError> {
        let mut drained = Vec::new();
        for entry in self.queue.range((host.0, 0, 0)..(host.0 + 1, 0, 0))?.take(MAX_URLS_PER_CHANGE)
        {
            let (key, value) = entry?;
            let (url, redirects, _) = value.value();
            drained.push((key.value(), (url.to_owned(), redirects)));
        }
        for (key, _) in &drained {
            self.queue.remove(*key)?;
        }
        Ok(drained.into_iter().map(|(_, url)| url).collect())
    }

    /// Records which results and packages must be acknowledged before the order is confirmed: all
    /// that exist now.
    fn record_executed(&mut self, number: u64) -> Result<(), FrontierError> {
        let last = self.last_order();
        let nothing_waits = self.results.first()?.is_none();
        let next = self.meta.get(tables::NEXT_PACKAGE)?.map_or(1, |n| n.value());
        let packed = if nothing_waits { next } else { 0 };
        self.orders.insert(number, (last, packed))?;
        Ok(())
    }

    /// Notes on the orders, after package `seq` was sealed, which of them have all their results in
    /// packages.
    pub(super) fn packed(&mut self, seq: u64) -> Result<(), FrontierError> {
        let mut now_packed = Vec::new();
        for entry in self.orders.iter()? {
            let (number, state) = entry?;
            let (last, packed) = state.value();
            // Hosts and queue entries take numbers of the same sequence, so the last number before
            // the order need not be that of a result.
            let rest = self.results.first()?.map(|(order, _)| order.value());
            if packed == 0 && rest.is_none_or(|first| first > last) {
                now_packed.push((number.value(), (last, seq + 1)));
            }
        }
        for (number, state) in now_packed {
            self.orders.insert(number, state)?;
        }
        Ok(())
    }

    /// Forgets orders whose confirmation has reached the coordinator.
    pub(super) fn forget_orders(&mut self, numbers: &[u64]) -> Result<Effect, FrontierError> {
        for number in numbers {
            self.orders.remove(*number)?;
        }
        Ok(Effect::default())
    }
}

impl Frontier {
    /// Executed orders whose results are all acknowledged; these are confirmed in heartbeats.
    pub fn orders_done(&self) -> Result<Vec<u64>, FrontierError> {
        let read = self.db.begin_read()?;
        let waiting = read.open_table(PACKAGES)?.first()?.map(|(seq, _)| seq.value());
        let mut done = Vec::new();
        for entry in read.open_table(ORDERS)?.iter()? {
            let (number, state) = entry?;
            let (_, packed) = state.value();
            if packed > 0 && waiting.is_none_or(|first| first >= packed) {
                done.push(number.value());
            }
        }
        Ok(done)
    }

    /// All executed orders, confirmed or not.
    pub fn orders_executed(&self) -> Result<Vec<u64>, FrontierError> {
        let read = self.db.begin_read()?;
        let orders = read.open_table(ORDERS)?;
        orders.iter()?.map(|entry| Ok(entry?.0.value())).collect()
    }
}
