//! Errors while a virtual internet is built.

use std::io;
use std::net::IpAddr;

use nix::errno::Errno;

/// Why the internet, or a part of it, could not be made or used.
#[derive(Debug, thiserror::Error)]
pub enum NetError {
    /// Neither the privilege nor a user namespace to get it in.
    #[error(
        "this process may not create network namespaces; run it as root or allow user namespaces"
    )]
    NoNamespaces(#[source] Errno),
    /// A user namespace was made, but its identity map was refused.
    #[error("the kernel refused the identity map of a new user namespace ({path})")]
    IdentityMap {
        /// The file under /proc.
        path: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The TUN driver is absent or closed to this user.
    #[error("/dev/net/tun cannot be used; load the tun module or open the device to this user")]
    NoTun(#[source] io::Error),
    /// A namespace could not be entered.
    #[error("cannot enter the network namespace of {namespace}")]
    Enter {
        /// Its name in the plan.
        namespace: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A kernel setting of a namespace could not be written.
    #[error("cannot set {path} to {value:?} in the namespace of {namespace}")]
    Setting {
        /// Its name in the plan.
        namespace: String,
        /// File under /proc/sys.
        path: &'static str,
        /// What should have been written.
        value: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A link, address or route could not be set.
    #[error("cannot {attempt} in the namespace of {namespace}")]
    Configure {
        /// Its name in the plan.
        namespace: String,
        /// What was attempted, as words that follow "cannot".
        attempt: String,
        /// What the kernel said.
        source: Errno,
    },
    /// The work handed to a namespace panicked.
    #[error("the work inside the namespace of {namespace} panicked")]
    Panicked {
        /// Its name in the plan.
        namespace: String,
    },
    /// The plan gives one address to two nodes, or a node none.
    #[error("the plan of the virtual internet is wrong: {0}")]
    Plan(String),
    /// The router thread could not be started, or is gone.
    #[error("the router cannot be started or reached")]
    Router(#[source] io::Error),
    /// A namespace has an interface that it must not have.
    #[error("the namespace of {namespace} is not isolated: {finding}")]
    NotIsolated {
        /// Its name in the plan.
        namespace: String,
        /// What was found there.
        finding: String,
    },
    /// What the kernel tells about a namespace could not be read.
    #[error("cannot read {path} in the namespace of {namespace}")]
    Inspect {
        /// Its name in the plan.
        namespace: String,
        /// File under /proc.
        path: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// An address that no node of the plan has.
    #[error("no node of the virtual internet has the address {0}")]
    UnknownAddress(IpAddr),
}

impl NetError {
    /// True when this machine or user cannot have a virtual internet at all, so that the caller
    /// should do without (the loopback world), rather than report a fault.
    pub fn is_unavailable(&self) -> bool {
        matches!(
            self,
            Self::NoNamespaces(_)
                | Self::IdentityMap { .. }
                | Self::NoTun(_)
                | Self::Setting { .. }
        )
    }
}
