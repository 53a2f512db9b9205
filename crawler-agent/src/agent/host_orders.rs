//! The coordinator's orders about hosts: let go of them, or forget how fast they were.
//!
//! An order is taken up with the answer that brings it: from that moment on no request to the host
//! begins. It is carried out when the request under way is over, confirmed when everything is
//! shipped, and forgotten when the coordinator does not name it any more. After a crash the
//! coordinator names it again.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use model::HostTask;
use protocol::heartbeat::HostOrder;
use tokio::{sync::Notify, task::JoinSet};

use super::{AgentError, Shared};
use crate::frontier::{Change, Frontier, FrontierError, HostNumber};

/// Orders that were taken up.
#[derive(Default)]
pub(super) struct HostOrders {
    taken: Mutex<BTreeSet<u64>>,
    waiting: Mutex<Vec<Taken>>,
    arrived: Notify,
    /// Rung when orders may be confirmed.
    pub(super) done: Notify,
}

/// An order and the host it is about, when that is one of ours.
struct Taken {
    order: HostOrder,
    host: Option<HostNumber>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl HostOrders {
    /// Whether there is nothing to be carried out or confirmed.
    pub(super) fn is_empty(&self) -> bool {
        lock(&self.taken).is_empty()
    }

    /// Orders that need not be sent again for a while.
    pub(super) fn taken(&self) -> Vec<u64> {
        lock(&self.taken).iter().copied().collect()
    }
}

impl Shared {
    /// Takes up what is new. Hosts that shall be let go are left alone from here on.
    pub(super) async fn accept_orders(&self, orders: Vec<HostOrder>) -> Result<(), FrontierError> {
        if orders.is_empty() {
            return Ok(());
        }
        let executed = self.store.read(Frontier::orders_executed).await?;
        for order in orders {
            // What was carried out before a restart only waits to be confirmed; the host may be
            // ours again.
            if !lock(&self.host_orders.taken).insert(order.number)
                || executed.contains(&order.number)
            {
                continue;
            }
            let key = order.host.clone();
            let host =
                self.store.read(move |frontier: &Frontier| frontier.host_number(&key)).await?;
            if let (Some(host), HostTask::Release) = (host, order.task) {
                self.schedule.retire(host);
            }
            lock(&self.host_orders.waiting).push(Taken { order, host });
        }
        self.host_orders.arrived.notify_one();
        Ok(())
    }

    /// The coordinator has answered a heartbeat that confirmed `told`, and names `named` still.
    pub(super) async fn settle_confirmed(
        &self,
        told: &[u64],
        named: &[HostOrder],
    ) -> Result<(), FrontierError> {
        let over =
            told.iter().copied().filter(|number| named.iter().all(|order| order.number != *number));
        let numbers: Vec<u64> = over.collect();
        if numbers.is_empty() {
            return Ok(());
        }
        lock(&self.host_orders.taken).retain(|number| !numbers.contains(number));
        self.store.apply(Change::ForgetOrders { numbers }).await.map(drop)
    }

    async fn execute(&self, Taken { order, host }: Taken) -> Result<(), FrontierError> {
        if let (Some(host), HostTask::Release) = (host, order.task) {
            self.schedule.until_idle(host).await;
            self.fetcher.hang_up(&order.host);
        }
        let change = Change::Order { number: order.number, host, task: order.task };
        while self.store.apply(change.clone()).await?.more {}
        if let (Some(host), HostTask::Release) = (host, order.task) {
            self.schedule.forget(host);
        }
        tracing::info!(
            host = order.host,
            task = order.task.as_str(),
            "carried out an order of the coordinator"
        );
        // Nothing may be left to ship; then the order can be confirmed at once.
        self.pack_trigger.pack_now();
        self.host_orders.done.notify_one();
        Ok(())
    }
}

/// Carries orders out as they come.
pub(super) async fn run(shared: Arc<Shared>) -> Result<(), AgentError> {
    let mut working = JoinSet::new();
    loop {
        tokio::select! {
            () = shared.stop.cancelled() => return Ok(()),
            () = shared.host_orders.arrived.notified() => {
                for taken in std::mem::take(&mut *lock(&shared.host_orders.waiting)) {
                    let shared = Arc::clone(&shared);
                    working.spawn(async move { shared.execute(taken).await });
                }
            }
            Some(ended) = working.join_next() => ended.map_err(AgentError::Crashed)??,
        }
    }
}
