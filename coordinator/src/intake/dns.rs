//! Looks up the addresses of host names.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ProtocolConfig, ResolverConfig,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;

use crate::runtime::failure::chain;

/// Time for one query to one server, before it is sent again.
const TRY: Duration = Duration::from_secs(1);

/// Why the resolver cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DnsError {
    /// The list of the system's servers cannot be read.
    #[error("cannot read the system's DNS configuration")]
    SystemConfiguration(#[source] NetError),
    /// The resolver rejected its configuration.
    #[error("cannot set up the DNS resolver")]
    Resolver(#[source] NetError),
}

/// Why a lookup gave no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// The DNS answered that the name has no address, which rarely changes soon.
    #[error("the name {0} has no address")]
    NoAddress(String),
    /// No server answered, or the answer was an error.
    #[error("looking up {name}: {reason}")]
    NoAnswer {
        /// The name that was looked up.
        name: String,
        /// The error with its causes, in one line.
        reason: String,
    },
}

/// A DNS resolver without a cache.
pub struct Dns {
    resolver: TokioResolver,
}

impl Dns {
    /// Uses `server`, or the system's servers if it is `None`.
    pub fn new(server: Option<SocketAddr>) -> Result<Self, DnsError> {
        let mut builder = match server {
            Some(server) => TokioResolver::builder_with_config(
                single_server(server),
                TokioRuntimeProvider::default(),
            ),
            None => TokioResolver::builder_tokio().map_err(DnsError::SystemConfiguration)?,
        };
        let options = builder.options_mut();
        options.timeout = TRY;
        options.attempts = 2;
        options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
        // Addresses are stored in Postgres; a cache here would only delay changes.
        options.cache_size = 0;
        let resolver = builder.build().map_err(DnsError::Resolver)?;
        Ok(Self { resolver })
    }

    /// The smallest address of a name: IPv4 if it has any, else IPv6. Servers rotate the order of
    /// their answers; the smallest address keeps a host in the same subnet. After `patience` there
    /// is no answer.
    pub async fn address(&self, name: &str, patience: Duration) -> Result<IpAddr, LookupError> {
        // Without the dot at the end, the search domains of this machine would be tried, too.
        let absolute = format!("{}.", name.trim_end_matches('.'));
        let answer = tokio::time::timeout(patience, self.resolver.lookup_ip(absolute)).await;
        let answer = answer.map_err(|_| LookupError::NoAnswer {
            name: name.to_owned(),
            reason: format!("no answer within {} s", patience.as_secs()),
        })?;
        let addresses = answer.map_err(|error| lookup_error(name, &error))?;
        addresses.iter().min().ok_or_else(|| LookupError::NoAddress(name.to_owned()))
    }
}

fn lookup_error(name: &str, error: &NetError) -> LookupError {
    if error.is_no_records_found() {
        return LookupError::NoAddress(name.to_owned());
    }
    LookupError::NoAnswer { name: name.to_owned(), reason: chain(error) }
}

fn single_server(server: SocketAddr) -> ResolverConfig {
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
