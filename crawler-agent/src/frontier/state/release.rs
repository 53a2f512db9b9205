//! Release of a host: every URL that is known of it is handed back to the coordinator, so that the
//! next agent loses none.

use model::HostTask;
use protocol::{page::Discovered, page::Entry};

use super::{State, apply::MAX_URLS_PER_CHANGE};
use crate::frontier::{Effect, FrontierError, HostNumber, Progress, disk::Disk};

impl State {
    /// Executes a host order, or a part of it.
    pub(super) fn order(
        &mut self,
        disk: &Disk,
        number: u64,
        host: Option<HostNumber>,
        task: HostTask,
    ) -> Result<Effect, FrontierError> {
        // Executed before; the host may have come back since.
        if self.totals.orders.contains_key(&number) {
            return Ok(Effect::default());
        }
        let effect = match (host, task) {
            (None, _) => Effect::default(),
            (Some(host), HostTask::Settle) => {
                if let Some(host) = self.hosts.get_mut(disk, host)? {
                    host.settle(disk)?;
                }
                Effect::default()
            }
            (Some(host), HostTask::Release) => self.release(disk, host)?,
        };
        if effect.progress == Progress::Complete {
            self.record_executed(number);
        }
        Ok(effect)
    }

    pub(super) fn release(
        &mut self,
        disk: &Disk,
        number: HostNumber,
    ) -> Result<Effect, FrontierError> {
        let Some(host) = self.hosts.get_mut(disk, number)? else { return Ok(Effect::default()) };
        let queued = host.drain_queue(disk, MAX_URLS_PER_CHANGE)?;
        let visited = host.drain_pages(disk, MAX_URLS_PER_CHANGE - queued.len())?;
        self.hosts.queued -= queued.len() as u64;
        let handed_back: Vec<(String, u8)> =
            queued.into_iter().chain(visited.into_iter().map(|url| (url, 0))).collect();
        let more = handed_back.len() == MAX_URLS_PER_CHANGE;
        for (url, redirects) in handed_back {
            self.result(&Entry::Discovered(Discovered { url, redirects, handed_back: true }));
        }
        if !more {
            self.hosts.remove(number);
        }
        Ok(Effect { progress: Progress::of(more), results: true, ..Effect::default() })
    }

    /// Records which results and packages must be acknowledged before the order is confirmed: all
    /// that exist now.
    pub(super) fn record_executed(&mut self, number: u64) {
        let packed = if self.results.is_empty() { self.totals.next_package } else { 0 };
        let last = self.last_order();
        self.totals.orders.insert(number, (last, packed));
    }

    /// Notes on the orders, after package `seq` was sealed, which of them have all their results in
    /// packages.
    pub(super) fn note_packed(&mut self, seq: u64) {
        // Hosts and queue entries take numbers of the same sequence, so the last number before the
        // order need not be that of a result.
        let rest = self.results.first_key_value().map(|(order, _)| *order);
        for (last, packed) in self.totals.orders.values_mut() {
            if *packed == 0 && rest.is_none_or(|first| first > *last) {
                *packed = seq + 1;
            }
        }
    }

    /// Executed orders whose results are all acknowledged; these are confirmed in heartbeats.
    pub(in crate::frontier) fn orders_done(&self) -> Vec<u64> {
        let waiting = self.totals.packages.first_key_value().map(|(seq, _)| *seq);
        let is_done = |packed: u64| packed > 0 && waiting.is_none_or(|first| first >= packed);
        let orders = self.totals.orders.iter().filter(|(_, (_, packed))| is_done(*packed));
        orders.map(|(number, _)| *number).collect()
    }
}
