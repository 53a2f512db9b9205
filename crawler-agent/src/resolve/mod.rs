//! Resolver: finds the addresses at which a host may be reached.
//!
//! The guard checks every address of the answer, and one that is refused makes the whole name
//! refused: a name that points both to the internet and into a private network is an attack.
//! Connections are made to an address from here, never to the name, so that a second answer of the
//! name server cannot lead elsewhere (DNS rebinding).
//!
//! Names of hosts are looked up before a request slot is taken for them, so that no slot waits for
//! a name server: [`Resolver::resolve`] asks, and the visit finds the answer in the cache.
//!
//! The answers and their times to live are in [`name_cache`], the servers in [`name_servers`].
//! Every lookup for any purpose obeys the owner's rate by [`pace`].

mod name_cache;
mod name_servers;
mod pace;

use std::{
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::{Mutex, PoisonError, RwLock},
    time::{Duration, Instant},
};

use hickory_resolver::{net::NetError, proto::rr::Name};
use protocol::page::Failure;
use url::Host;

use crate::{guard::Guard, guard::Refusal, lock::lock, outage_detector::OutageDetector};
use model::{CrawlUrl, ErrorKind};
use name_cache::{Answer, NameCache};
use name_servers::NameServers;
use pace::Pace;

/// A host cannot, or may not, be reached.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError {
    /// The resolver cannot be set up.
    #[error("the resolver cannot be set up")]
    Setup(#[source] NetError),
    /// The lookup failed.
    #[error("{host} cannot be resolved: {reason}")]
    Lookup {
        /// Name that was looked up.
        host: String,
        /// Error of the resolver.
        reason: String,
    },
    /// The host has no address of a family that this agent can use.
    #[error("{0} has no address that this agent can reach")]
    NoAddress(String),
    /// The guard refuses an address, the port or the name.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl ResolveError {
    /// What is reported of it.
    pub fn failure(&self) -> Failure {
        let cause = match self {
            Self::Setup(_) => ErrorKind::Other,
            Self::Lookup { .. } => ErrorKind::Dns,
            Self::NoAddress(_) => ErrorKind::Agent,
            Self::Refused(Refusal::NotPublic { .. }) => ErrorKind::NotPublic,
            Self::Refused(_) => ErrorKind::Refused,
        };
        Failure::new(cause, self.to_string())
    }

    /// Whether no other answer of the name server would let the agent contact this URL's host: the
    /// owner's lists or the URL itself are the reason. An answer that leads into a private network
    /// may be one of a maintenance or of a filter, which ends.
    pub fn is_lasting(&self, url: &CrawlUrl) -> bool {
        match self {
            Self::Refused(Refusal::NotPublic { .. } | Refusal::OnLink { .. }) => {
                !matches!(url.host(), Some(Host::Domain(_)))
            }
            Self::Refused(_) => true,
            Self::Setup(_) | Self::Lookup { .. } | Self::NoAddress(_) => false,
        }
    }
}

/// Resolver with the guard in it; one for the whole agent.
pub struct Resolver {
    servers: NameServers,
    guard: RwLock<Guard>,
    /// Source address of connections; targets are of the same family.
    bind: Option<IpAddr>,
    names: Mutex<NameCache>,
    pace: Pace,
    /// Which names were found lately.
    outages: OutageDetector,
    started: Instant,
}

impl Resolver {
    /// A resolver that asks `servers`, or the system's name servers when there are none, for
    /// `lookups_per_second` names on average.
    pub fn new(
        servers: &[SocketAddr],
        bind: Option<IpAddr>,
        guard: Guard,
        lookups_per_second: u32,
    ) -> Result<Self, ResolveError> {
        let servers = NameServers::new(servers, bind, Path::new(name_servers::SYSTEM));
        let servers = servers.map_err(ResolveError::Setup)?;
        let guard = RwLock::new(guard);
        let names = Mutex::default();
        let outages = OutageDetector::default();
        let pace = Pace::new(lookups_per_second);
        Ok(Self { servers, guard, bind, names, pace, outages, started: Instant::now() })
    }

    /// Which names were found lately.
    pub const fn servers(&self) -> &OutageDetector {
        &self.outages
    }

    /// Whether an address is on the Internet, beyond the networks of this machine.
    pub fn is_outside(&self, address: IpAddr) -> bool {
        self.guard.read().unwrap_or_else(PoisonError::into_inner).is_outside(address)
    }

    /// Asks the name servers that the system names now. Blocks for the time to read a small file.
    pub fn follow_system(&self) {
        match self.servers.follow_system() {
            Ok(true) => tracing::info!("asking other name servers, as the system does"),
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "the system's name servers cannot be read"),
        }
    }

    /// Replaces the guard once the machine has joined or left a network.
    pub fn set_guard(&self, guard: Guard) {
        *self.guard.write().unwrap_or_else(PoisonError::into_inner) = guard;
    }

    /// Whether packets may be sent to this address and port.
    pub fn check(&self, address: IpAddr, port: Option<u16>) -> Result<(), Refusal> {
        let guard = self.guard.read().unwrap_or_else(PoisonError::into_inner);
        port.map_or(Ok(()), |port| guard.check_port(port))?;
        guard.check_address(address)
    }

    /// Whether the owner allows this name to be contacted. Literal addresses pass.
    pub fn check_host(&self, host: Option<Host<&str>>) -> Result<(), Refusal> {
        let guard = self.guard.read().unwrap_or_else(PoisonError::into_inner);
        host.map_or(Ok(()), |host| guard.check_host(&host))
    }

    /// The addresses of this URL's host; never empty. The one that answered within the last hour is
    /// first, then IPv4.
    pub async fn addresses(&self, url: &CrawlUrl) -> Result<Vec<IpAddr>, ResolveError> {
        self.check_name(url)?;
        let mut usable = self.usable_addresses(url, Some(url.port())).await?;
        let name = url.url().domain().unwrap_or_default();
        let preferred = lock(&self.names).preferred(name, self.now());
        // IPv6 is not routed everywhere. Sorted, so that retries take the addresses in turn.
        usable.sort_by_key(|a| (Some(*a) != preferred, a.is_ipv6(), *a));
        if usable.is_empty() {
            let host = url.host().map(|host| host.to_string()).unwrap_or_default();
            return Err(ResolveError::NoAddress(host));
        }
        Ok(usable)
    }

    /// Notes that this URL's host has answered at this address, which is asked first from now on.
    /// Otherwise each URL would be tried at an address that is dead.
    pub fn prefer(&self, url: &CrawlUrl, address: IpAddr) {
        let name = url.url().domain().unwrap_or_default();
        lock(&self.names).prefer(name, address, self.now());
    }

    /// The addresses of a peer of the region. Its port is the other owner's choice; name and
    /// addresses are checked like those of hosts.
    pub async fn addresses_of_peer(&self, url: &CrawlUrl) -> Result<Vec<IpAddr>, ResolveError> {
        self.check_host(url.host())?;
        self.usable_addresses(url, None).await
    }

    /// The addresses of this URL's host that can be reached from here.
    async fn usable_addresses(
        &self,
        url: &CrawlUrl,
        port: Option<u16>,
    ) -> Result<Vec<IpAddr>, ResolveError> {
        let addresses = match url.host() {
            Some(Host::Ipv4(address)) => vec![IpAddr::V4(address)],
            Some(Host::Ipv6(address)) => vec![IpAddr::V6(address)],
            Some(Host::Domain(name)) => self.lookup(name).await?,
            None => vec![],
        };
        // All of them, not only the one that is used: see the module header.
        for address in &addresses {
            self.check(*address, port)?;
        }
        Ok(addresses.into_iter().filter(|address| self.can_reach(*address)).collect())
    }

    /// Checks port and name, before any name server learns of the name.
    fn check_name(&self, url: &CrawlUrl) -> Result<(), Refusal> {
        let guard = self.guard.read().unwrap_or_else(PoisonError::into_inner);
        guard.check_port(url.port())?;
        url.host().map_or(Ok(()), |host| guard.check_host(&host))
    }

    /// Whether a visit that begins now needs no name server for this URL. A name that the owner
    /// denies needs none.
    pub fn is_ready(&self, url: &CrawlUrl) -> bool {
        match url.host() {
            Some(Host::Domain(name)) => {
                self.check_name(url).is_err() || lock(&self.names).is_ready(name, self.now())
            }
            _ => true,
        }
    }

    /// Asks the name servers for a URL's host without a look into the cache, and keeps the answer.
    pub async fn resolve(&self, url: &CrawlUrl) {
        if let Some(Host::Domain(name)) = url.host()
            && self.check_name(url).is_ok()
        {
            self.ask(name).await;
        }
    }

    async fn lookup(&self, name: &str) -> Result<Vec<IpAddr>, ResolveError> {
        let known = lock(&self.names).get(name, self.now()).cloned();
        let answer = match known {
            Some(answer) => answer,
            None => self.ask(name).await,
        };
        match answer {
            Answer::Addresses(addresses) => Ok(addresses.to_vec()),
            Answer::Missing(reason) | Answer::Failed(reason) => {
                Err(ResolveError::Lookup { host: name.to_owned(), reason: reason.to_string() })
            }
        }
    }

    async fn ask(&self, name: &str) -> Answer {
        self.pace.wait().await;
        // The final dot keeps the search domains of the system out.
        let full = format!("{}.", name.trim_end_matches('.'));
        // Not as a text, which would be read as an international name: those have no underscores.
        let (answer, ttl) = match Name::from_ascii(&full) {
            Ok(full) => self.ask_servers(full).await,
            // Failures are kept like other answers. Otherwise the host would be looked up again and
            // again.
            Err(error) => (Answer::Missing(error.to_string().into()), Duration::ZERO),
        };
        lock(&self.names).insert(name, answer.clone(), ttl, self.now());
        answer
    }

    /// The answer of the name servers, and the time to live of its addresses.
    async fn ask_servers(&self, name: Name) -> (Answer, Duration) {
        match self.servers.client().lookup_ip(name.clone()).await {
            Ok(found) => {
                self.outages.reached(tokio::time::Instant::now());
                // IPv4-mapped answers must meet the rules for IPv4.
                let addresses = found.iter().map(|ip| ip.to_canonical()).collect();
                let addresses = without_synthesised(addresses);
                let ttl = found.valid_until().saturating_duration_since(Instant::now());
                (Answer::Addresses(addresses.into()), ttl)
            }
            Err(error) if error.is_no_records_found() => {
                self.outages.reached(tokio::time::Instant::now());
                (Answer::Missing(error.to_string().into()), Duration::ZERO)
            }
            Err(error) => {
                self.outages.missed(&name, &name, tokio::time::Instant::now());
                (Answer::Failed(error.to_string().into()), Duration::ZERO)
            }
        }
    }

    fn now(&self) -> Duration {
        self.started.elapsed()
    }

    fn can_reach(&self, address: IpAddr) -> bool {
        self.bind.is_none_or(|bind| bind.is_ipv4() == address.is_ipv4())
    }
}

/// The addresses without those that DNS64 made of the others (RFC 6147), which are not public. They
/// lead to the same hosts and are not needed where there are IPv4 addresses.
fn without_synthesised(mut addresses: Vec<IpAddr>) -> Vec<IpAddr> {
    let ipv4: Vec<IpAddr> = addresses.iter().filter(|ip| ip.is_ipv4()).copied().collect();
    addresses.retain(|ip| embedded(*ip).is_none_or(|embedded| !ipv4.contains(&embedded)));
    addresses
}

/// The IPv4 address in an address of the well-known prefix 64:ff9b::/96 (RFC 6052).
fn embedded(address: IpAddr) -> Option<IpAddr> {
    let IpAddr::V6(address) = address else { return None };
    let [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0, a, b, c, d] = address.octets() else {
        return None;
    };
    Some(IpAddr::from([a, b, c, d]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::{AddressSet, GuardRules};

    #[test]
    fn only_another_answer_of_the_name_server_can_end_a_refusal() {
        let guard = Guard::default();
        let refused = |address: &str| {
            ResolveError::from(guard.check_address(address.parse().unwrap()).unwrap_err())
        };
        let url = |text: &str| CrawlUrl::parse(text).unwrap();
        let named = url("http://a.org/");
        for address in ["0.0.0.0", "10.0.0.1", "::1"] {
            assert!(!refused(address).is_lasting(&named), "{address}");
        }
        assert!(refused("10.0.0.1").is_lasting(&url("http://10.0.0.1/")));
        assert!(refused("::1").is_lasting(&url("http://[::1]/")));
        for refusal in [Refusal::Port(22), Refusal::Host("a.org".into())] {
            assert!(ResolveError::from(refusal).is_lasting(&named));
        }
        assert!(!ResolveError::NoAddress("a.org".into()).is_lasting(&named));
    }

    #[test]
    fn every_error_has_a_cause() {
        let lookup = ResolveError::Lookup { host: "a.org".into(), reason: "no records".into() };
        let refused = |address: &str| {
            let guard = Guard::default();
            ResolveError::from(guard.check_address(address.parse().unwrap()).unwrap_err())
        };
        for (error, cause) in [
            (lookup, ErrorKind::Dns),
            (ResolveError::NoAddress("a.org".into()), ErrorKind::Agent),
            (refused("10.0.0.7"), ErrorKind::NotPublic),
            (Refusal::Port(22).into(), ErrorKind::Refused),
            (Refusal::Host("a.org".into()).into(), ErrorKind::Refused),
        ] {
            assert_eq!(error.failure(), Failure::new(cause, error.to_string()));
        }
    }

    #[tokio::test]
    async fn a_name_that_no_server_can_be_asked_for_is_looked_up_once() {
        let resolver = Resolver::new(&[], None, Guard::default(), 100).unwrap();
        for text in ["http://www..a.org/", "http://a*b.org/"] {
            let url = CrawlUrl::parse(text).unwrap();
            assert!(!resolver.is_ready(&url));
            resolver.resolve(&url).await;
            assert!(resolver.is_ready(&url), "{text}");
            let error = resolver.addresses(&url).await.unwrap_err();
            assert!(matches!(error, ResolveError::Lookup { .. }), "{error}");
        }
    }

    /// The links of a page are looked up by this way in a region.
    #[tokio::test(start_paused = true)]
    async fn addresses_are_looked_up_at_the_owners_rate() {
        let resolver = Resolver::new(&[], None, Guard::default(), 1).unwrap();
        let begun = tokio::time::Instant::now();
        for name in ["a", "b", "c"] {
            // No name server is asked for such a name.
            let url = CrawlUrl::parse(&format!("http://www..{name}.org/")).unwrap();
            resolver.addresses(&url).await.unwrap_err();
            resolver.addresses(&url).await.unwrap_err();
        }
        let taken = begun.elapsed();
        assert!(taken >= Duration::from_secs(2), "one at once, then two: {taken:?}");
        assert!(taken < Duration::from_secs(3), "what is in the cache is free: {taken:?}");
    }

    #[tokio::test]
    async fn a_name_that_the_owner_denies_is_not_looked_up_for_a_peer() {
        let rules = GuardRules::new(&[], &[], vec!["a.org".into()], vec![]);
        let guard = Guard::new(rules.into(), AddressSet::default());
        let resolver = Resolver::new(&["127.0.0.1:9".parse().unwrap()], None, guard, 100).unwrap();
        let url = CrawlUrl::parse("http://peer.a.org:7946/").unwrap();
        let error = resolver.addresses_of_peer(&url).await.unwrap_err();
        assert!(matches!(error, ResolveError::Refused(Refusal::Host(_))), "{error}");
    }

    #[test]
    fn addresses_that_dns64_made_of_others_are_left_out() {
        let left = |addresses: &[&str]| {
            let addresses = addresses.iter().map(|address| address.parse().unwrap()).collect();
            without_synthesised(addresses).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let both = ["64:ff9b::203.0.113.7", "203.0.113.7", "2001:db8::7"];
        assert_eq!(left(&both), ["203.0.113.7", "2001:db8::7"]);
        for alone in [["64:ff9b::10.0.0.1", "203.0.113.7"], ["64:ff9b:1::cb00:7107", "203.0.113.7"]]
        {
            assert_eq!(left(&alone).len(), 2, "{alone:?}");
        }
        assert_eq!(left(&["64:ff9b::203.0.113.7"]), ["64:ff9b::cb00:7107"]);
    }
}
