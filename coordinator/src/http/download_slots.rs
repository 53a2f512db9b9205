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
/// Downloads of one IPv6 site, which has 65,536 networks.
const PER_SITE: usize = 16;

/// The downloads that run.
#[derive(Clone, Debug, Default)]
pub struct DownloadSlots {
    running: Arc<Mutex<Running>>,
}

#[derive(Debug, Default)]
struct Running {
    in_all: usize,
    /// Those of each network, and of each site.
    of: HashMap<Network, usize>,
}

impl Running {
    fn is_full(&self, network: Network, most: usize) -> bool {
        self.of.get(&network).is_some_and(|running| *running >= most)
    }
}

/// A download that runs; it ends when this is dropped.
#[derive(Debug)]
pub struct DownloadSlot {
    slots: DownloadSlots,
    client: IpAddr,
}

impl DownloadSlots {
    /// Begins a download of a client; 429 or 503 when too many run.
    pub fn begin(&self, client: IpAddr) -> Result<DownloadSlot, Problem> {
        let mut running = self.running();
        let is_site_full = |site| running.is_full(site, PER_SITE);
        if running.is_full(Network::from(client), PER_NETWORK)
            || Network::site_of(client).is_some_and(is_site_full)
        {
            let detail = "Too many downloads of your network run at once; try again later.";
            return Err(Problem::too_many(detail, 60));
        }
        if running.in_all >= IN_ALL {
            return Err(Problem::unavailable("Too many downloads run at once; try again."));
        }
        running.in_all += 1;
        for network in networks(client) {
            *running.of.entry(network).or_default() += 1;
        }
        Ok(DownloadSlot { slots: self.clone(), client })
    }

    fn running(&self) -> MutexGuard<'_, Running> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for DownloadSlot {
    fn drop(&mut self) {
        let mut running = self.slots.running();
        running.in_all -= 1;
        for network in networks(self.client) {
            if let Some(count) = running.of.get_mut(&network) {
                *count -= 1;
            }
        }
        running.of.retain(|_, count| *count > 0);
    }
}

/// The network of a client, and its site.
fn networks(client: IpAddr) -> impl Iterator<Item = Network> {
    std::iter::once(Network::from(client)).chain(Network::site_of(client))
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

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
    fn a_site_of_ipv6_cannot_either() {
        let slots = DownloadSlots::default();
        let of_site = |network: u16| Ipv6Addr::new(0x2001, 0xdb8, 1, network, 0, 0, 0, 1).into();
        let held: Vec<_> = (0..16).map(|network| slots.begin(of_site(network)).unwrap()).collect();
        let refused = slots.begin(of_site(99)).unwrap_err();
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert!(slots.begin(client(1)).is_ok());
        drop(held);
        assert!(slots.begin(of_site(99)).is_ok());
    }

    #[test]
    fn all_networks_together_have_a_limit() {
        let slots = DownloadSlots::default();
        let mut held: Vec<_> = (0..64).map(|n| slots.begin(client(n / 4)).unwrap()).collect();
        assert_eq!(slots.begin(client(99)).unwrap_err().status, StatusCode::SERVICE_UNAVAILABLE);
        held.clear();
        assert!(slots.running().of.is_empty());
        assert!(slots.begin(client(99)).is_ok());
    }
}
