//! Here is an address that somebody wants us to talk to: may we?
//!
//! Every connection and every probe passes through [`Guard::judge`] after names were resolved, so
//! that no order, no link and no redirect reaches into the owner's networks. In order:
//! 1. the owner's own prefixes, the longest match decides, deny wins between equals;
//! 2. the prefixes that this machine's interfaces are on: denied;
//! 3. the built-in [`table`] of addresses that are not on the public internet: denied.
//!
//! Ports and host names have their own lists. Nothing that a coordinator sends can change any of
//! it.

mod interfaces;
mod table;

use std::{fmt, net::IpAddr};

use ipnet::IpNet;
use url::Host;

pub use interfaces::on_link_prefixes;
pub use table::{Class, classify};

/// What the owner says in the configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardRules {
    /// Prefixes that may be reached whatever the other rules say.
    pub allow: Vec<IpNet>,
    /// Prefixes that may never be reached.
    pub deny: Vec<IpNet>,
    /// Host names that may never be asked for, with everything below them; lower case, without
    /// leading dot.
    pub deny_hosts: Vec<String>,
    /// TCP ports that may be reached.
    pub ports: Vec<u16>,
}

impl Default for GuardRules {
    fn default() -> Self {
        Self { allow: Vec::new(), deny: Vec::new(), deny_hosts: Vec::new(), ports: vec![80, 443] }
    }
}

/// Why something may not be reached.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// By the owner's deny list.
    #[error("the owner denies {prefix}, which holds {address}")]
    Denied {
        /// What was asked for.
        address: IpAddr,
        /// The owner's prefix.
        prefix: IpNet,
    },
    /// On a network of this machine.
    #[error("{address} is on this machine's own network {prefix}")]
    OnLink {
        /// What was asked for.
        address: IpAddr,
        /// The interface's prefix.
        prefix: IpNet,
    },
    /// Not an address of the public internet.
    #[error("{address} is not on the public internet ({class})")]
    NotPublic {
        /// What was asked for.
        address: IpAddr,
        /// What it is instead.
        class: Class,
    },
    /// Not one of the owner's ports.
    #[error("port {0} is not among the owner's ports")]
    Port(u16),
    /// By the owner's list of names.
    #[error("the owner denies the host {0}")]
    Host(String),
}

/// The owner's rules together with what the machine itself tells.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    rules: GuardRules,
    on_link: Vec<IpNet>,
}

impl Guard {
    /// A guard by these rules, on a machine whose interfaces are on these prefixes.
    pub fn new(rules: GuardRules, on_link: Vec<IpNet>) -> Self {
        Self { rules, on_link }
    }

    /// Whether packets may be sent to `address`. Addresses of IPv4 in IPv6 clothes are judged as
    /// IPv4.
    pub fn judge(&self, address: IpAddr) -> Result<(), Refusal> {
        let address = address.to_canonical();
        let deny = longest(&self.rules.deny, address);
        let allow = longest(&self.rules.allow, address);
        match (allow, deny) {
            (Some(allow), deny) if deny.is_none_or(|d| allow.prefix_len() > d.prefix_len()) => {
                return Ok(());
            }
            (_, Some(prefix)) => return Err(Refusal::Denied { address, prefix }),
            (_, None) => {}
        }
        if let Some(prefix) = longest(&self.on_link, address) {
            return Err(Refusal::OnLink { address, prefix });
        }
        match classify(address) {
            Class::Public => Ok(()),
            class => Err(Refusal::NotPublic { address, class }),
        }
    }

    /// Whether connections to this TCP port may be made.
    pub fn judge_port(&self, port: u16) -> Result<(), Refusal> {
        if self.rules.ports.contains(&port) { Ok(()) } else { Err(Refusal::Port(port)) }
    }

    /// Whether this name may be asked for at all; addresses are left to [`Self::judge`].
    pub fn judge_host(&self, host: &Host<&str>) -> Result<(), Refusal> {
        let Host::Domain(name) = host else { return Ok(()) };
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let denied = self.rules.deny_hosts.iter().any(|suffix| {
            name.strip_suffix(suffix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        });
        if denied { Err(Refusal::Host(name)) } else { Ok(()) }
    }
}

fn longest(prefixes: &[IpNet], address: IpAddr) -> Option<IpNet> {
    prefixes.iter().filter(|p| p.contains(&address)).max_by_key(|p| p.prefix_len()).copied()
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests;
