//! Errors of choosing a world and opening its environment.

use crate::dns::DnsError;
use crate::net::NetError;
use crate::web::WebError;

/// Why a world could not be chosen.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// The folder of measurements is not what it should be.
    #[error("cannot read the measured round trips")]
    Oracle(#[source] anyhow::Error),
    /// Its list of addresses is not what it should be.
    #[error("cannot read the measured addresses")]
    Targets(#[source] anyhow::Error),
    /// The registry data has no use for the cities that are known.
    #[error(
        "the registry data has {found} addresses in known cities, too few for {wanted} {what}; \
         load more of it"
    )]
    TooFew {
        /// What there should be more of.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many were asked for.
        wanted: usize,
    },
    /// More original /8 blocks or records than fit into 127.0.0.0/8.
    #[error("the world does not fit into 127.0.0.0/8")]
    NoRoom,
}

/// Why a environment could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum EnvironmentError {
    /// No virtual internet; see [`NetError::is_unavailable`].
    #[error("cannot build the virtual internet")]
    Net(#[from] NetError),
    /// The web could not be made or served.
    #[error("cannot set up the web")]
    Web(#[from] WebError),
    /// The name server could not be started.
    #[error("cannot set up the name server")]
    Dns(#[from] DnsError),
}

impl EnvironmentError {
    /// True when this machine or user cannot have a virtual internet at all, so that the world
    /// should be moved to loopback.
    pub fn is_unavailable(&self) -> bool {
        let net = match self {
            Self::Net(net) | Self::Web(WebError::Net(net)) | Self::Dns(DnsError::Net(net)) => {
                Some(net)
            }
            _ => None,
        };
        net.is_some_and(NetError::is_unavailable)
    }
}
