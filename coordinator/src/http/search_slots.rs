//! Limit on public searches that run at the same time. Anybody may search: without a share per
//! network, one client could keep everybody else waiting.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

use crate::http::concurrency_limit::WAIT;
use crate::http::network::Network;
use crate::http::problem::Problem;

/// Searches that run at the same time. The crawl needs the cores too.
const IN_ALL: usize = 8;
/// Searches of one network, which may be all people behind one address.
const PER_NETWORK: usize = 4;
/// Searches of a /48 of IPv6.
const PER_SITE: usize = 6;

/// The searches that run or wait.
#[derive(Clone, Debug)]
pub struct SearchSlots {
    all: Arc<Semaphore>,
    networks: Arc<Mutex<HashMap<Network, Arc<Semaphore>>>>,
}

/// A search that runs; it ends when this is dropped.
#[derive(Debug)]
pub struct SearchSlot {
    _permits: Vec<OwnedSemaphorePermit>,
}

impl Default for SearchSlots {
    fn default() -> Self {
        Self { all: Arc::new(Semaphore::new(IN_ALL)), networks: Arc::default() }
    }
}

impl SearchSlots {
    /// Waits until a search of this client may begin; 503 when it may not in time.
    pub async fn begin(&self, client: IpAddr) -> Result<SearchSlot, Problem> {
        let deadline = Instant::now() + WAIT;
        // Those of the client come first: what waits for them keeps nobody else waiting.
        let site = Network::site_of(client).map(|site| self.share(site, PER_SITE));
        let network = self.share(client.into(), PER_NETWORK);
        let mut permits = Vec::new();
        for semaphore in [Some(network), site, Some(Arc::clone(&self.all))].into_iter().flatten() {
            let permit = timeout_at(deadline, semaphore.acquire_owned()).await;
            let permit = permit.ok().and_then(Result::ok).ok_or_else(too_many)?;
            permits.push(permit);
        }
        Ok(SearchSlot { _permits: permits })
    }

    fn share(&self, network: Network, count: usize) -> Arc<Semaphore> {
        let mut networks = self.networks.lock().unwrap_or_else(PoisonError::into_inner);
        // Each search that runs or waits has one, too.
        networks.retain(|_, semaphore| Arc::strong_count(semaphore) > 1);
        let share = networks.entry(network).or_insert_with(|| Arc::new(Semaphore::new(count)));
        Arc::clone(share)
    }
}

fn too_many() -> Problem {
    Problem::unavailable("Too many searches run at once; try again.")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::timeout;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Whether a search of this client would have to wait.
    async fn waits(slots: &SearchSlots, client: &str) -> bool {
        timeout(Duration::ZERO, slots.begin(ip(client))).await.is_err()
    }

    #[tokio::test]
    async fn a_network_cannot_keep_others_waiting() {
        let slots = SearchSlots::default();
        let mut held = Vec::new();
        for _ in 0..4 {
            held.push(slots.begin(ip("192.0.2.1")).await.unwrap());
        }
        assert!(waits(&slots, "192.0.2.1").await);
        held.push(slots.begin(ip("192.0.2.2")).await.unwrap());
        held.clear();
        assert!(!waits(&slots, "192.0.2.1").await);
        slots.begin(ip("192.0.2.3")).await.unwrap();
        assert_eq!(slots.networks.lock().unwrap().len(), 1, "the others are forgotten");
    }

    #[tokio::test]
    async fn a_site_of_ipv6_cannot_either() {
        let slots = SearchSlots::default();
        let mut held = Vec::new();
        for n in 0..6 {
            held.push(slots.begin(ip(&format!("2001:db8:0:{n}::1"))).await.unwrap());
        }
        assert!(waits(&slots, "2001:db8:0:7::1").await);
        held.push(slots.begin(ip("2001:db8:1::1")).await.unwrap());
        held.push(slots.begin(ip("192.0.2.1")).await.unwrap());
        assert!(waits(&slots, "192.0.2.2").await, "8 run");
    }
}
