//! A virtual internet built from a plan: namespaces, devices, addresses, routes, and the router.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle};

use nix::errno::Errno;
use nix::sys::eventfd::{EfdFlags, EventFd};

use super::netlink::Netlink;
use super::priority;
use super::proof::{self, Proof};
use super::router::{Home, Router};
use super::traffic::Counters;
use super::tun::{self, Tun};
use super::{Links, Namespace, NetError, Paths, Site};

/// An address and the site it is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedAddress {
    /// IPv4 or IPv6.
    pub address: IpAddr,
    /// Its place in the plan's matrix.
    pub site: Site,
}

/// One namespace to be.
#[derive(Debug, Clone)]
pub struct NodePlan {
    /// How the node is called in errors and looked up; unique.
    pub name: String,
    /// The first address of each family is the node's own, from which it sends; it answers for the
    /// others too, which may be at other sites: one node can be hundreds of hosts all over the
    /// world.
    pub addresses: Vec<PlacedAddress>,
}

/// What an internet shall look like.
#[derive(Debug, Clone)]
pub struct Plan {
    pub nodes: Vec<NodePlan>,
    /// Delays, jitter and loss between all sites.
    pub paths: Paths,
    /// Seed of the draws for jitter and loss.
    pub seed: u64,
}

/// A running internet. Dropping it stops the router and removes the devices; the namespaces go when
/// the last program inside has ended.
#[derive(Debug)]
pub struct Internet {
    namespaces: BTreeMap<String, Namespace>,
    links: Links,
    router: Option<JoinHandle<()>>,
}

impl Internet {
    /// Builds it. Needs the right to make network namespaces (see [`super::take_privilege`]) and
    /// `/dev/net/tun`.
    pub fn open(plan: Plan) -> Result<Self, NetError> {
        let homes = homes(&plan)?;
        let mut namespaces = BTreeMap::new();
        let mut devices = Vec::with_capacity(plan.nodes.len());
        for node in &plan.nodes {
            let (namespace, device) = Namespace::create(&node.name, || furnish(node))?;
            namespaces.insert(node.name.clone(), namespace);
            devices.push(device);
        }
        let (orders, inbox) = channel();
        let wakeup = EventFd::from_flags(EfdFlags::EFD_NONBLOCK | EfdFlags::EFD_CLOEXEC);
        let wakeup = Arc::new(wakeup.map_err(|e| NetError::Router(e.into()))?);
        let counters = Arc::new(Counters::default());
        let links = Links::new(orders, Arc::clone(&wakeup), Arc::clone(&counters));
        let paths = plan.paths;
        let seed = plan.seed;
        let router = Router { devices, homes, paths, orders: inbox, wakeup, counters, seed };
        Ok(Self { namespaces, links, router: Some(start(router)?) })
    }

    /// The namespace of a node.
    pub fn namespace(&self, name: &str) -> Result<&Namespace, NetError> {
        self.namespaces
            .get(name)
            .ok_or_else(|| NetError::Plan(format!("there is no node called {name}")))
    }

    /// The handle to cut, slow and heal ways, and to read the counters.
    pub fn links(&self) -> Links {
        self.links.clone()
    }

    /// Looks into every namespace and verifies that its TUN device is the only way out.
    pub fn prove_isolated(&self) -> Result<Proof, NetError> {
        proof::prove(self.namespaces.values())
    }
}

impl Drop for Internet {
    fn drop(&mut self) {
        // A router that has ended already cannot be told, and need not be.
        let _ = self.links.stop();
        if let Some(router) = self.router.take() {
            let _ = router.join();
        }
    }
}

fn start(router: Router) -> Result<JoinHandle<()>, NetError> {
    let route = || {
        let priority = priority::take();
        tracing::debug!(?priority, "the router of the virtual internet starts");
        if let Err(error) = router.run() {
            tracing::error!(%error, "the router of the virtual internet stopped");
        }
    };
    thread::Builder::new().name("router".to_owned()).spawn(route).map_err(NetError::Router)
}

/// Who has which address; refuses a plan that gives one twice or leaves a node without.
fn homes(plan: &Plan) -> Result<HashMap<IpAddr, Home>, NetError> {
    let mut homes = HashMap::new();
    for (device, node) in plan.nodes.iter().enumerate() {
        if node.addresses.is_empty() {
            return Err(NetError::Plan(format!("{} has no address", node.name)));
        }
        if plan.nodes[..device].iter().any(|other| other.name == node.name) {
            return Err(NetError::Plan(format!("two nodes are called {}", node.name)));
        }
        for PlacedAddress { address, site } in node.addresses.iter().copied() {
            if site.0 >= plan.paths.sites() {
                return Err(NetError::Plan(format!(
                    "{address} is at site {}, outside the matrix",
                    site.0
                )));
            }
            if homes.insert(address, Home { device, site }).is_some() {
                return Err(NetError::Plan(format!("{address} is given twice")));
            }
        }
    }
    Ok(homes)
}

/// Makes the device, the addresses and the routes of a node; runs inside its namespace.
fn furnish(node: &NodePlan) -> Result<Tun, NetError> {
    let attempt = |attempt: String| {
        let namespace = node.name.clone();
        move |source: Errno| NetError::Configure { namespace, attempt, source }
    };
    let device = Tun::create(tun::NAME)?;
    let mut netlink = Netlink::open().map_err(attempt("open a netlink socket".to_owned()))?;
    for link in ["lo", tun::NAME] {
        netlink.link_up(link).map_err(attempt(format!("set {link} up")))?;
    }
    let mut four = false;
    let mut six = false;
    for PlacedAddress { address, .. } in node.addresses.iter().copied() {
        let seen = if address.is_ipv4() { &mut four } else { &mut six };
        if std::mem::replace(seen, true) {
            netlink.answer_for(address).map_err(attempt(format!("answer for {address}")))?;
        } else {
            netlink
                .add_address(tun::NAME, address)
                .map_err(attempt(format!("add the address {address}")))?;
            netlink
                .default_route(tun::NAME, address)
                .map_err(attempt("set the default route".to_owned()))?;
        }
    }
    Ok(device)
}
