//! The coordinator's orders about hosts: release them, or forget how fast their pages were.
//!
//! A released host leaves as a bundle for its next agent, or, where it is too large for one, as
//! single URLs that are handed back with the results.
//!
//! An order is accepted with the answer that brings it; from then on no request to a host that is
//! to be released begins. The order is executed when the running request is over, confirmed when
//! every result of the host is shipped and its bundle is sent, and forgotten when the coordinator
//! does not name it any more. After a crash the coordinator names it again.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

use model::HostTask;
use protocol::{heartbeat::HostOrder, limits};
use tokio::{sync::Notify, task::JoinSet};

use super::AgentError;
use crate::{
    fetch::Fetcher,
    frontier::{
        BundleError, Change, Frontier, FrontierError, FrontierHandle, HostNumber, Progress,
    },
    lock::lock,
    outbox::{Bundles, PackTrigger},
    schedule::Schedule,
};

/// Orders that were accepted and are not forgotten yet.
pub(super) struct HostOrders {
    store: FrontierHandle,
    schedule: Arc<Schedule>,
    fetcher: Arc<Fetcher>,
    pack_trigger: Arc<PackTrigger>,
    /// Bundles of released hosts that are not sent yet.
    bundles: Arc<Bundles>,
    /// Held while a bundle is made, so that only one is in memory.
    bundling: tokio::sync::Mutex<()>,
    /// Numbers of all accepted orders.
    accepted: Mutex<BTreeSet<u64>>,
    /// Orders that are not being executed yet.
    pending: Mutex<Vec<PendingOrder>>,
    /// Notified when `pending` has grown.
    arrived: Notify,
    /// Notified when orders may have become confirmable.
    pub(super) confirmable: Notify,
}

/// An order, and the host it is about where that host is the agent's.
struct PendingOrder {
    order: HostOrder,
    host: Option<HostNumber>,
}

impl HostOrders {
    pub(super) fn new(
        store: FrontierHandle,
        schedule: Arc<Schedule>,
        fetcher: Arc<Fetcher>,
        pack_trigger: Arc<PackTrigger>,
        bundles: Arc<Bundles>,
    ) -> Self {
        Self {
            store,
            schedule,
            fetcher,
            pack_trigger,
            bundles,
            bundling: tokio::sync::Mutex::default(),
            accepted: Mutex::default(),
            pending: Mutex::default(),
            arrived: Notify::new(),
            confirmable: Notify::new(),
        }
    }

    /// Whether no order is left to execute or confirm.
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.accepted).is_empty()
    }

    /// Numbers of the accepted orders, which the coordinator need not repeat at once.
    pub(super) fn list(&self) -> Vec<u64> {
        lock(&self.accepted).iter().copied().collect()
    }

    /// Numbers of the orders that are executed, with everything that belongs to them sent.
    pub(super) async fn done(&self) -> Result<Vec<u64>, FrontierError> {
        let mut done = self.store.read(Frontier::orders_done).await?;
        done.retain(|number| !self.bundles.is_unsent(*number));
        Ok(done)
    }

    /// Accepts the orders that are new. Hosts that are to be released are retired at once.
    pub(super) async fn accept(&self, orders: Vec<HostOrder>) -> Result<(), FrontierError> {
        if orders.is_empty() {
            return Ok(());
        }
        let executed = self.store.read(Frontier::orders_executed).await?;
        for order in orders {
            let is_new = lock(&self.accepted).insert(order.number);
            // An order that was executed before a restart waits only for its confirmation. The
            // host may be the agent's again, so it must not be released a second time.
            if !is_new || executed.contains(&order.number) {
                continue;
            }
            let host = self.store.host_number(&order.host)?;
            if let (Some(host), HostTask::Release) = (host, order.task) {
                self.schedule.retire(host);
            }
            lock(&self.pending).push(PendingOrder { order, host });
        }
        self.arrived.notify_one();
        Ok(())
    }

    /// Forgets the orders that a heartbeat `confirmed` and whose answer does not name them any
    /// more.
    pub(super) fn forget_confirmed(
        &self,
        confirmed: &[u64],
        named: &[HostOrder],
    ) -> Result<(), FrontierError> {
        let is_named = |number: u64| named.iter().any(|order| order.number == number);
        let numbers: Vec<u64> =
            confirmed.iter().copied().filter(|number| !is_named(*number)).collect();
        if numbers.is_empty() {
            return Ok(());
        }
        lock(&self.accepted).retain(|number| !numbers.contains(number));
        self.store.apply(Change::ForgetOrders { numbers }).map(drop)
    }

    /// Executes orders as they come.
    pub(super) async fn run(self: Arc<Self>) -> Result<(), AgentError> {
        let mut executing = JoinSet::new();
        loop {
            tokio::select! {
                () = self.arrived.notified() => {
                    for pending in std::mem::take(&mut *lock(&self.pending)) {
                        let orders = Arc::clone(&self);
                        executing.spawn(async move { orders.execute(pending).await });
                    }
                }
                Some(ended) = executing.join_next() => ended.map_err(AgentError::Crashed)??,
            }
        }
    }

    async fn execute(&self, PendingOrder { order, host }: PendingOrder) -> Result<(), AgentError> {
        let released = host.filter(|_| order.task == HostTask::Release);
        if let Some(host) = released {
            self.schedule.until_idle(host).await;
            self.fetcher.close_connection(&order.host);
        }
        let is_handed_over = match released {
            Some(host) => self.hand_over(order.number, host).await?,
            None => false,
        };
        if !is_handed_over {
            self.apply_in_parts(&order, host).await?;
        }
        if let Some(host) = released {
            self.schedule.forget(host);
        }
        tracing::info!(host = order.host, task = order.task.as_str(), "executed a host order");
        // The confirmation waits for the host's results, so pack them now. If none are left, the
        // order can be confirmed at once.
        self.pack_trigger.pack_now();
        self.confirmable.notify_one();
        Ok(())
    }

    /// Executes an order without a bundle.
    async fn apply_in_parts(
        &self,
        order: &HostOrder,
        host: Option<HostNumber>,
    ) -> Result<(), FrontierError> {
        let change = Change::Order { number: order.number, host, task: order.task };
        // A large host is released in several changes.
        while self.store.apply(change.clone())?.progress == Progress::Partial {
            // The URLs that are handed back take the room.
            self.pack_trigger.until_room(&self.store).await?;
            // Other tasks have their turn between the parts.
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Releases a host with a bundle, which is on disk before the host is gone. Returns whether it
    /// was; else the host is too large for a bundle, or is not the agent's any more.
    async fn hand_over(&self, number: u64, host: HostNumber) -> Result<bool, AgentError> {
        let _one = self.bundling.lock().await;
        loop {
            let encoded =
                self.store.read(move |frontier: &Frontier| encoded(frontier, host)).await?;
            let Some((accepted, bytes)) = encoded else { return Ok(false) };
            if bytes.len() > limits::BUNDLE_BYTES {
                return Ok(false);
            }
            self.bundles.write(number, bytes).await?;
            // A link of another host may have come in meanwhile; then the bundle is made again.
            let released = self.store.apply(Change::HandOver { number, host, accepted })?;
            if released.progress != Progress::Outdated {
                self.bundles.may_be_sent(number);
                return Ok(true);
            }
        }
    }
}

/// The encoded bundle of a host, and the number of URLs that the host has accepted; none where the
/// host is too large for a bundle.
fn encoded(frontier: &Frontier, host: HostNumber) -> Result<Option<(u32, Vec<u8>)>, FrontierError> {
    let Some(bundle) = frontier.bundle(host)? else { return Ok(None) };
    match bundle.encode() {
        Err(BundleError::TooLarge) => Ok(None),
        bytes => Ok(Some((bundle.record.accepted, bytes?))),
    }
}
