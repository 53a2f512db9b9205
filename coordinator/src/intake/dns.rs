//! Here is a host name: which address does it have?

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ProtocolConfig, ResolverConfig,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use crate::runtime::failure::chain;

/// Why a name has no address now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// The DNS says that there is none; trying again soon is of little use.
    #[error("the name {0} has no address")]
    NoAddress(String),
    /// No answer, or one that says to try later.
    #[error("looking up {name}: {reason}")]
    NoAnswer {
        /// Which name.
        name: String,
        /// What happened, in one line.
        reason: String,
    },
}

/// The resolver for hosts.
pub struct Dns {
    resolver: TokioResolver,
}

impl Dns {
    /// Asks `server`, or the system's servers when there is none. Fails with a sentence when the
    /// system's configuration cannot be read.
    pub fn new(server: Option<SocketAddr>) -> Result<Self, String> {
        let mut builder = match server {
            Some(server) => {
                TokioResolver::builder_with_config(only(server), TokioRuntimeProvider::default())
            }
            None => TokioResolver::builder_tokio().map_err(|e| {
                format!("the system's DNS configuration cannot be read: {}", chain(&e))
            })?,
        };
        let options = builder.options_mut();
        options.timeout = Duration::from_secs(3);
        options.attempts = 2;
        options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
        // Addresses are remembered in Postgres; a cache here would only make changes late.
        options.cache_size = 0;
        let resolver = builder.build().map_err(|e| format!("DNS cannot be used: {}", chain(&e)))?;
        Ok(Self { resolver })
    }

    /// The first address of a name: IPv4 if it has any, else IPv6. The smallest, so that rotating
    /// answers do not move a host.
    pub async fn address(&self, name: &str) -> Result<IpAddr, LookupError> {
        // The dot at the end keeps the machine's search domains out.
        let absolute = format!("{}.", name.trim_end_matches('.'));
        let addresses = self.resolver.lookup_ip(absolute).await.map_err(|e| refused(name, &e))?;
        addresses.iter().min().ok_or_else(|| LookupError::NoAddress(name.to_owned()))
    }
}

fn refused(name: &str, error: &NetError) -> LookupError {
    if error.is_no_records_found() {
        return LookupError::NoAddress(name.to_owned());
    }
    LookupError::NoAnswer { name: name.to_owned(), reason: chain(error) }
}

fn only(server: SocketAddr) -> ResolverConfig {
    let mut connections = vec![
        ConnectionConfig::new(ProtocolConfig::Udp),
        ConnectionConfig::new(ProtocolConfig::Tcp),
    ];
    for connection in &mut connections {
        connection.port = server.port();
    }
    let server = NameServerConfig::new(server.ip(), true, connections);
    ResolverConfig::from_parts(None, vec![], vec![server])
}
