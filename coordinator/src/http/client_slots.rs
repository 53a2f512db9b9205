//! Limit on work that strangers start and that runs at the same time: public searches, downloads.
//! Without a share per network, one client could keep all others out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::http::network::Network;

/// How much may run at the same time.
#[derive(Clone, Copy, Debug)]
pub struct SlotBounds {
    /// Of all clients together.
    pub in_all: usize,
    /// Of one network, which may be all people or agents behind one address.
    pub per_network: usize,
    /// Of one site of IPv6 (a /48), which has 65,536 networks.
    pub per_site: usize,
}

/// What runs or waits.
#[derive(Clone, Debug)]
pub struct ClientSlots {
    bounds: SlotBounds,
    all: Arc<Semaphore>,
    shares: Arc<Mutex<HashMap<Network, Arc<Semaphore>>>>,
}

/// Work that runs; it ends when this is dropped.
#[derive(Debug)]
pub struct ClientSlot {
    _permits: Vec<OwnedSemaphorePermit>,
}

/// Why nothing more may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// Too much runs of the client's network or site.
    OfNetwork,
    /// Too much runs of all clients together.
    InAll,
}

impl ClientSlots {
    /// Slots of which none is taken.
    pub fn new(bounds: SlotBounds) -> Self {
        Self { bounds, all: Arc::new(Semaphore::new(bounds.in_all)), shares: Arc::default() }
    }

    /// Waits until work of this client may begin; none when it may not in time.
    pub async fn begin(&self, client: IpAddr, patience: Duration) -> Option<ClientSlot> {
        let deadline = Instant::now() + patience;
        let mut permits = Vec::new();
        for semaphore in self.shares_of(client).into_iter().chain([Arc::clone(&self.all)]) {
            let permit = timeout_at(deadline, semaphore.acquire_owned()).await;
            permits.push(permit.ok()?.ok()?);
        }
        Some(ClientSlot { _permits: permits })
    }

    /// Begins work of this client at once.
    pub fn try_begin(&self, client: IpAddr) -> Result<ClientSlot, Full> {
        let mut permits = Vec::new();
        for share in self.shares_of(client) {
            permits.push(share.try_acquire_owned().map_err(|_| Full::OfNetwork)?);
        }
        let of_all = Arc::clone(&self.all).try_acquire_owned();
        permits.push(of_all.map_err(|_| Full::InAll)?);
        Ok(ClientSlot { _permits: permits })
    }

    /// The shares of a client's network and site. They are taken before a slot of all clients, so
    /// that a client that waits for its share blocks no other.
    fn shares_of(&self, client: IpAddr) -> Vec<Arc<Semaphore>> {
        let mut shares = self.shares.lock().unwrap_or_else(PoisonError::into_inner);
        // Each running or waiting request holds a reference to its share.
        shares.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        let mut share = |network, count| {
            let share = shares.entry(network).or_insert_with(|| Arc::new(Semaphore::new(count)));
            Arc::clone(share)
        };
        let of_network = share(client.into(), self.bounds.per_network);
        let site = Network::site_of(client);
        let of_site = site.map(|site| share(site, self.bounds.per_site));
        std::iter::once(of_network).chain(of_site).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots() -> ClientSlots {
        ClientSlots::new(SlotBounds { in_all: 8, per_network: 4, per_site: 6 })
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Why work of this client may not begin at once; none if it may. To wait gives the same.
    async fn full(slots: &ClientSlots, client: &str) -> Option<Full> {
        let refused = slots.try_begin(ip(client)).err();
        let waited = slots.begin(ip(client), Duration::ZERO).await;
        assert_eq!(waited.is_none(), refused.is_some());
        refused
    }

    #[tokio::test]
    async fn a_network_cannot_keep_others_out() {
        let slots = slots();
        let begin = |client| slots.try_begin(ip(client)).unwrap();
        let mut held: Vec<_> = (0..4).map(|_| begin("192.0.2.1")).collect();
        assert_eq!(full(&slots, "192.0.2.1").await, Some(Full::OfNetwork));
        held.push(begin("192.0.2.2"));
        held.clear();
        assert_eq!(full(&slots, "192.0.2.1").await, None);
        slots.try_begin(ip("192.0.2.3")).unwrap();
        assert_eq!(slots.shares.lock().unwrap().len(), 1, "the others are forgotten");
    }

    #[tokio::test]
    async fn a_site_of_ipv6_cannot_either() {
        let slots = slots();
        let begin = |client: &str| slots.try_begin(ip(client)).unwrap();
        let mut held: Vec<_> = (0..6).map(|n| begin(&format!("2001:db8:0:{n}::1"))).collect();
        assert_eq!(full(&slots, "2001:db8:0:7::1").await, Some(Full::OfNetwork));
        held.push(begin("2001:db8:1::1"));
        held.push(begin("192.0.2.1"));
        assert_eq!(full(&slots, "192.0.2.2").await, Some(Full::InAll));
        held.clear();
        assert_eq!(full(&slots, "2001:db8:0:7::1").await, None);
    }

    #[tokio::test(start_paused = true)]
    async fn work_waits_for_the_end_of_other_work() {
        let slots = slots();
        let held: Vec<_> = (0..4).map(|_| slots.try_begin(ip("192.0.2.1")).unwrap()).collect();
        let waiting = slots.begin(ip("192.0.2.1"), Duration::from_secs(5));
        let (slot, ()) = tokio::join!(waiting, async { drop(held) });
        assert!(slot.is_some());
    }
}
