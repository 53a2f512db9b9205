//! Address guard: decides whether an address, a port or a host name may be contacted.
//!
//! Every connection and every probe passes through [`Guard::check_address`] after its name was
//! resolved, so that no order, link or redirect reaches into the owner's networks. In order:
//! 1. the owner's allow and deny lists: the longest matching prefix decides, deny wins a tie;
//! 2. the prefixes of this machine's interfaces: refused;
//! 3. addresses that are not on the public internet ([`hierarchy::special_purpose`]): refused.
//!
//! Ports and host names have lists of their own. Nothing that a coordinator sends can change any
//! of them.

mod address_set;
mod interfaces;

use std::{net::IpAddr, sync::Arc};

use ipnet::IpNet;
use url::Host;

pub use address_set::AddressSet;
pub use hierarchy::special_purpose::{Class, classify};
pub use interfaces::on_link_prefixes;

/// The owner's lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardRules {
    /// Addresses that may be contacted even if the built-in rules forbid them.
    allowed: AddressSet,
    /// Addresses that may never be contacted; disjoint from `allowed`.
    denied: AddressSet,
    /// Domain names that may never be resolved, nor any name below them; lower case, without
    /// leading dot.
    pub deny_hosts: Vec<String>,
    /// TCP ports that may be contacted.
    pub ports: Vec<u16>,
}

impl GuardRules {
    /// Rules from the owner's lists of prefixes, in any order.
    pub fn new(allow: &[IpNet], deny: &[IpNet], deny_hosts: Vec<String>, ports: Vec<u16>) -> Self {
        let mut allowed = AddressSet::default();
        let mut denied = AddressSet::default();
        // From short to long prefixes, so that a longer one overrides what a shorter one said.
        for length in 0..=128 {
            let of_length = |prefixes: &[IpNet]| -> AddressSet {
                prefixes.iter().filter(|prefix| prefix.prefix_len() == length).copied().collect()
            };
            let denied_here = of_length(deny);
            // Deny wins where both lists name the same prefix.
            let allowed_here = of_length(allow).exclude(&denied_here);
            allowed = allowed.exclude(&denied_here).merge(&allowed_here);
            denied = denied.exclude(&allowed_here).merge(&denied_here);
        }
        Self { allowed, denied, deny_hosts, ports }
    }
}

impl Default for GuardRules {
    fn default() -> Self {
        Self::new(&[], &[], Vec::new(), vec![80, 443])
    }
}

/// Reason for a refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The owner's deny list holds the address.
    #[error("the owner denies {prefix}, which holds {address}")]
    Denied {
        /// Address that was to be contacted.
        address: IpAddr,
        /// Largest denied prefix that holds it.
        prefix: IpNet,
    },
    /// The address belongs to a network that this machine is on.
    #[error("{address} is on this machine's own network {prefix}")]
    OnLink {
        /// Address that was to be contacted.
        address: IpAddr,
        /// Prefix of the interface.
        prefix: IpNet,
    },
    /// The address is not on the public internet.
    #[error("{address} is not on the public internet ({class})")]
    NotPublic {
        /// Address that was to be contacted.
        address: IpAddr,
        /// What the address is reserved for.
        class: Class,
    },
    /// The port is not in the owner's list.
    #[error("port {0} is not among the owner's ports")]
    Port(u16),
    /// The owner's list of denied host names holds the name or a parent of it.
    #[error("the owner denies the host {0}")]
    Host(String),
}

/// The owner's rules together with the networks of this machine.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    rules: Arc<GuardRules>,
    on_link: AddressSet,
}

impl Guard {
    /// A guard for a machine whose interfaces are on the networks `on_link`.
    pub fn new(rules: Arc<GuardRules>, on_link: AddressSet) -> Self {
        Self { rules, on_link }
    }

    /// Whether packets may be sent to `address`.
    pub fn check_address(&self, address: IpAddr) -> Result<(), Refusal> {
        // An IPv4-mapped IPv6 address reaches the IPv4 address and must obey its rules.
        let address = address.to_canonical();
        if self.rules.allowed.contains(address) {
            return Ok(());
        }
        if let Some(prefix) = self.rules.denied.prefix_of(address) {
            return Err(Refusal::Denied { address, prefix });
        }
        if let Some(prefix) = self.on_link.prefix_of(address) {
            return Err(Refusal::OnLink { address, prefix });
        }
        match classify(address) {
            Class::Public => Ok(()),
            class => Err(Refusal::NotPublic { address, class }),
        }
    }

    /// Whether `address` is on the Internet, beyond the networks of this machine.
    pub fn is_outside(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        classify(address) == Class::Public && self.on_link.prefix_of(address).is_none()
    }

    /// Whether connections to this TCP port may be made.
    pub fn check_port(&self, port: u16) -> Result<(), Refusal> {
        if self.rules.ports.contains(&port) { Ok(()) } else { Err(Refusal::Port(port)) }
    }

    /// Whether this name may be resolved. Literal addresses pass; [`Self::check_address`] judges
    /// them.
    pub fn check_host(&self, host: &Host<&str>) -> Result<(), Refusal> {
        let Host::Domain(name) = host else { return Ok(()) };
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        // `example.org` denies `www.example.org` but not `badexample.org`: what precedes the
        // suffix must be empty or end with a dot.
        let denied = self.rules.deny_hosts.iter().any(|suffix| {
            name.strip_suffix(suffix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        if denied { Err(Refusal::Host(name)) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests;
