//! Here is a host: at which addresses may it be reached?
//!
//! The guard judges every address of the answer, and one that is forbidden forbids the name: a name
//! that points both to the internet and into somebody's network is a trap. What is dialled later is
//! an address from here, never the name, so that a second answer of the name server can't lead
//! elsewhere.

use std::net::{IpAddr, SocketAddr};

use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig},
    net::{NetError, runtime::TokioRuntimeProvider},
};
use std::{sync::RwLock, time::Duration};
use url::Host;

use crate::{guard::Guard, guard::Refusal};
use model::CrawlUrl;

/// Answers that are remembered.
const CACHE: u64 = 2_048;
/// Answers are remembered at least this long, however short their own lifetime.
const LEAST_TTL: Duration = Duration::from_secs(30);
/// And at most this long.
const MOST_TTL: Duration = Duration::from_hours(1);

/// A host can't, or may not, be reached.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The resolver can't be set up.
    #[error("the resolver can't be set up")]
    Setup(#[source] NetError),
    /// The name server did not tell.
    #[error("{host} can't be resolved: {reason}")]
    Lookup {
        /// The name.
        host: String,
        /// Why.
        reason: String,
    },
    /// The name has no address that this agent can use.
    #[error("{0} has no address that this agent can reach")]
    NoAddress(String),
    /// By the owner's rules.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// Finds addresses that may be reached. One for the whole agent.
pub struct Resolver {
    dns: TokioResolver,
    guard: RwLock<Guard>,
    /// Source address of connections; targets are of the same family.
    bind: Option<IpAddr>,
}

impl Resolver {
    /// A resolver that asks these name servers, or the system's when there are none.
    pub fn new(
        servers: &[SocketAddr],
        bind: Option<IpAddr>,
        guard: Guard,
    ) -> Result<Self, ResolveError> {
        let mut builder = if servers.is_empty() {
            TokioResolver::builder_tokio().map_err(ResolveError::Setup)?
        } else {
            let servers = servers.iter().map(|server| name_server(*server, bind)).collect();
            let config = ResolverConfig::from_name_servers(servers);
            TokioResolver::builder_with_config(config, TokioRuntimeProvider::default())
        };
        let options = builder.options_mut();
        options.cache_size = CACHE;
        options.positive_min_ttl = Some(LEAST_TTL);
        options.positive_max_ttl = Some(MOST_TTL);
        options.negative_max_ttl = Some(LEAST_TTL);
        options.ip_strategy = match bind {
            Some(IpAddr::V4(_)) => LookupIpStrategy::Ipv4Only,
            Some(IpAddr::V6(_)) => LookupIpStrategy::Ipv6Only,
            None => LookupIpStrategy::Ipv4AndIpv6,
        };
        let dns = builder.build().map_err(ResolveError::Setup)?;
        Ok(Self { dns, guard: RwLock::new(guard), bind })
    }

    /// Replaces the guard, after the machine's networks changed.
    pub fn set_guard(&self, guard: Guard) {
        *self.guard.write().unwrap_or_else(std::sync::PoisonError::into_inner) = guard;
    }

    /// Whether packets may be sent to this address and port.
    pub fn judge(&self, address: IpAddr, port: Option<u16>) -> Result<(), Refusal> {
        let guard = self.guard.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        port.map_or(Ok(()), |port| guard.judge_port(port))?;
        guard.judge(address)
    }

    /// The addresses of this URL's host; never empty.
    pub async fn addresses(&self, url: &CrawlUrl) -> Result<Vec<IpAddr>, ResolveError> {
        self.judge_name(url)?;
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            Some(Host::Domain(name)) => self.look_up(name).await?,
            None => vec![],
        };
        for address in &addresses {
            self.judge(*address, Some(url.port()))?;
        }
        let mut usable: Vec<IpAddr> =
            addresses.into_iter().filter(|a| self.can_reach(*a)).collect();
        // IPv4 first: it is routed everywhere.
        usable.sort_by_key(|a| (a.is_ipv6(), *a));
        if usable.is_empty() {
            return Err(ResolveError::NoAddress(
                url.host().map(|h| h.to_string()).unwrap_or_default(),
            ));
        }
        Ok(usable)
    }

    /// What can be said before anybody is asked.
    fn judge_name(&self, url: &CrawlUrl) -> Result<(), Refusal> {
        let guard = self.guard.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        guard.judge_port(url.port())?;
        url.host().map_or(Ok(()), |host| guard.judge_host(&host))
    }

    async fn look_up(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        // The dot keeps search domains out.
        let full = format!("{}.", name.trim_end_matches('.'));
        match self.dns.lookup_ip(full).await {
            Ok(found) => Ok(found.iter().map(|ip| ip.to_canonical()).collect()),
            Err(error) => {
                Err(ResolveError::Lookup { host: name.to_owned(), reason: error.to_string() })
            }
        }
    }

    fn can_reach(&self, address: IpAddr) -> bool {
        self.bind.is_none_or(|bind| bind.is_ipv4() == address.is_ipv4())
    }
}

fn name_server(server: SocketAddr, bind: Option<IpAddr>) -> NameServerConfig {
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    for connection in &mut connections {
        connection.port = server.port();
        let bind = bind.filter(|bind| bind.is_ipv4() == server.is_ipv4());
        connection.bind_addr = bind.map(|bind| SocketAddr::new(bind, 0));
    }
    NameServerConfig::new(server.ip(), true, connections)
}
