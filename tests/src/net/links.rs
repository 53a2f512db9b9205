//! Cuts, slows and heals paths of a running virtual internet.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Sender, sync_channel};

use nix::sys::eventfd::EventFd;

use super::conditions::{Scope, Slowdown};
use super::router::{Command, Order};
use super::traffic::{Counters, Traffic};
use super::{NetError, Site};

/// A handle on the router; clone it freely. Every change is in force when the call returns.
#[derive(Debug, Clone)]
pub struct Links {
    orders: Sender<Command>,
    wakeup: Arc<EventFd>,
    counters: Arc<Counters>,
}

impl Links {
    pub(super) fn new(
        orders: Sender<Command>,
        wakeup: Arc<EventFd>,
        counters: Arc<Counters>,
    ) -> Self {
        Self { orders, wakeup, counters }
    }

    /// Drops every packet within the scope from now on; packets on their way still arrive.
    pub fn cut(&self, scope: Scope) -> Result<(), NetError> {
        self.tell(Order::Cut(scope))
    }

    /// Cuts every way that leads from one group of sites to another: a partition.
    pub fn part(&self, some: &[Site], others: &[Site]) -> Result<(), NetError> {
        let pairs = some.iter().flat_map(|a| others.iter().map(move |b| Scope::Sites(*a, *b)));
        pairs.into_iter().try_for_each(|pair| self.cut(pair))
    }

    /// Slows every packet within the scope; a second call replaces the first.
    pub fn slow(&self, scope: Scope, slowdown: Slowdown) -> Result<(), NetError> {
        self.tell(Order::Slow(scope, slowdown))
    }

    /// Ends what disturbs exactly this scope.
    pub fn heal(&self, scope: Scope) -> Result<(), NetError> {
        self.tell(Order::Heal(scope))
    }

    /// Ends every disturbance.
    pub fn heal_all(&self) -> Result<(), NetError> {
        self.tell(Order::HealAll)
    }

    /// What the router did so far.
    pub fn traffic(&self) -> Traffic {
        self.counters.read()
    }

    pub(super) fn stop(&self) -> Result<(), NetError> {
        self.tell(Order::Stop)
    }

    fn tell(&self, order: Order) -> Result<(), NetError> {
        let gone = || NetError::Router(io::Error::from(io::ErrorKind::BrokenPipe));
        let (done, answer) = sync_channel(1);
        self.orders.send((order, done)).map_err(|_| gone())?;
        self.wakeup.write(1).map_err(|e| NetError::Router(e.into()))?;
        answer.recv().map_err(|_| gone())
    }
}
