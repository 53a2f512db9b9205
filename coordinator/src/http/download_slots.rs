//! Limit on downloads that run at the same time. Strangers start them, and one that is read slowly
//! lasts for hours: without a limit per network a few slow clients would keep everybody else out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::http::network::Network;
use crate::http::problem::Problem;

/// Downloads that run at the same time. Each takes one open file.
const IN_ALL: usize = 64;
/// Downloads of one network, which may be the agents of an organisation behind one address.
const PER_NETWORK: usize = 4;

/// The downloads that run, by network.
#[derive(Clone, Debug, Default)]
pub struct DownloadSlots {
    running: Arc<Mutex<HashMap<Network, usize>>>,
}

/// A download that runs; it ends when this is dropped.
#[derive(Debug)]
pub struct DownloadSlot {
    slots: DownloadSlots,
    network: Network,
}

impl DownloadSlots {
    /// Begins a download of a client; 429 or 503 when too many run.
    pub fn begin(&self, client: IpAddr) -> Result<DownloadSlot, Problem> {
        let network = Network::from(client);
        let mut running = self.running();
        let of_network = running.get(&network).copied().unwrap_or(0);
        if of_network >= PER_NETWORK {
            let detail = "Too many downloads of your network run at once; try again later.";
            return Err(Problem::too_many(detail, 60));
        }
        if running.values().sum::<usize>() >= IN_ALL {
            return Err(Problem::unavailable("Too many downloads run at once; try again."));
        }
        running.insert(network, of_network + 1);
        Ok(DownloadSlot { slots: self.clone(), network })
    }

    fn running(&self) -> MutexGuard<'_, HashMap<Network, usize>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DownloadSlot {
    fn drop(&mut self) {
        let mut running = self.slots.running();
        if let Some(count) = running.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                running.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use axum::http::StatusCode;

    use super::*;

    fn client(network: u8) -> IpAddr {
        Ipv4Addr::new(192, 0, 2, network).into()
    }

    #[test]
    fn a_network_cannot_keep_others_out() {
        let slots = DownloadSlots::default();
        let mut held: Vec<_> = (0..4).map(|_| slots.begin(client(1)).unwrap()).collect();
        assert_eq!(slots.begin(client(1)).unwrap_err().status, StatusCode::TOO_MANY_REQUESTS);
        assert!(slots.begin(client(2)).is_ok());
        held.pop();
        assert!(slots.begin(client(1)).is_ok());
    }

    #[test]
    fn all_networks_together_have_a_limit() {
        let slots = DownloadSlots::default();
        let mut held: Vec<_> = (0..64).map(|n| slots.begin(client(n / 4)).unwrap()).collect();
        assert_eq!(slots.begin(client(99)).unwrap_err().status, StatusCode::SERVICE_UNAVAILABLE);
        held.clear();
        assert!(slots.running().is_empty());
        assert!(slots.begin(client(99)).is_ok());
    }
}
