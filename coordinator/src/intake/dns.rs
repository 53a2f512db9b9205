//! Looks up the addresses of host names.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ProtocolConfig, ResolverConfig,
};
use hickory_resolver::net::NetError;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::Name;

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
///
/// It asks for both kinds of addresses one after the other. A single query for both would take an
/// error for IPv4 as the absence of IPv4 addresses, and return those of IPv6 alone.
pub struct Dns {
    ipv4: TokioResolver,
    ipv6: TokioResolver,
}

impl Dns {
    /// Uses `server`, or the system's servers if it is `None`.
    pub fn new(server: Option<SocketAddr>) -> Result<Self, DnsError> {
        Ok(Self {
            ipv4: resolver(server, LookupIpStrategy::Ipv4Only)?,
            ipv6: resolver(server, LookupIpStrategy::Ipv6Only)?,
        })
    }

    /// The smallest address of a name: IPv4 if it has any, else IPv6. Servers rotate the order of
    /// their answers; the smallest address keeps a host in the same subnet. After `patience` there
    /// is no answer.
    pub async fn address(&self, name: &str, patience: Duration) -> Result<IpAddr, LookupError> {
        let lookup = async {
            match smallest(&self.ipv4, name).await {
                Err(LookupError::NoAddress(_)) => smallest(&self.ipv6, name).await,
                found => found,
            }
        };
        tokio::time::timeout(patience, lookup).await.unwrap_or_else(|_| {
            Err(LookupError::NoAnswer {
                name: name.to_owned(),
                reason: format!("no answer within {} s", patience.as_secs()),
            })
        })
    }
}

/// A resolver for one kind of addresses.
fn resolver(
    server: Option<SocketAddr>,
    strategy: LookupIpStrategy,
) -> Result<TokioResolver, DnsError> {
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
    options.ip_strategy = strategy;
    // Addresses are stored in Postgres; a cache here would only delay changes.
    options.cache_size = 0;
    builder.build().map_err(DnsError::Resolver)
}

/// The smallest address of the resolver's kind.
async fn smallest(resolver: &TokioResolver, name: &str) -> Result<IpAddr, LookupError> {
    let without_address = || LookupError::NoAddress(name.to_owned());
    // Without the dot at the end, the search domains of this machine would be tried, too. As a
    // text it would be read as an international name, and those have no underscores.
    let absolute = Name::from_ascii(format!("{}.", name.trim_end_matches('.')));
    let absolute = absolute.map_err(|_| without_address())?;
    let addresses =
        resolver.lookup_ip(absolute).await.map_err(|error| lookup_error(name, &error))?;
    addresses.iter().min().ok_or_else(without_address)
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
