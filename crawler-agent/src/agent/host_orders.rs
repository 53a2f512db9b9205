//! The coordinator's orders about hosts: release them, or forget how fast their pages were.
//!
//! An order is accepted with the answer that brings it; from then on no request to a host that is
//! to be released begins. The order is executed when the running request is over, confirmed when
//! every result of the host is shipped, and forgotten when the coordinator does not name it any
//! more. After a crash the coordinator names it again.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use model::HostTask;
use protocol::heartbeat::HostOrder;
use tokio::{sync::Notify, task::JoinSet};
use tokio_util::sync::CancellationToken;

use super::AgentError;
use crate::{
    fetch::Fetcher,
    frontier::{Change, Frontier, FrontierError, FrontierHandle, HostNumber},
    outbox::PackTrigger,
    schedule::Schedule,
};

/// Orders that were accepted and are not forgotten yet.
pub(super) struct HostOrders {
    store: FrontierHandle,
    schedule: Arc<Schedule>,
    fetcher: Arc<Fetcher>,
    pack_trigger: Arc<PackTrigger>,
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostOrders {
    pub(super) fn new(
        store: FrontierHandle,
        schedule: Arc<Schedule>,
        fetcher: Arc<Fetcher>,
        pack_trigger: Arc<PackTrigger>,
    ) -> Self {
        Self {
            store,
            schedule,
            fetcher,
            pack_trigger,
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

    /// Executes orders as they come, until `stop`.
    pub(super) async fn run(self: Arc<Self>, stop: CancellationToken) -> Result<(), AgentError> {
        let mut executing = JoinSet::new();
        loop {
            tokio::select! {
                () = stop.cancelled() => return Ok(()),
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

    async fn execute(
        &self,
        PendingOrder { order, host }: PendingOrder,
    ) -> Result<(), FrontierError> {
        let released = host.filter(|_| order.task == HostTask::Release);
        if let Some(host) = released {
            self.schedule.until_idle(host).await;
            self.fetcher.close_connection(&order.host);
        }
        let change = Change::Order { number: order.number, host, task: order.task };
        // A large host is released in several changes.
        while self.store.apply(change.clone())?.more {
            self.store.until_room().await?;
            // Other tasks have their turn between the parts.
            tokio::task::yield_now().await;
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
}
