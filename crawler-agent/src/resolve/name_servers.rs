//! The name servers that are asked: those of the owner, or those of the system, which change where
//! the machine joins another network.

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError, RwLock},
};

use hickory_resolver::{
    TokioResolver,
    config::{ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig, ResolverOpts},
    net::{NetError, runtime::TokioRuntimeProvider},
    system_conf::parse_resolv_conf,
};

use crate::lock::lock;

/// Where the system names its servers.
pub(super) const SYSTEM: &str = "/etc/resolv.conf";

/// Client of the name servers.
pub(super) struct NameServers {
    client: RwLock<TokioResolver>,
    /// Source address of queries to servers of the owner, and the family of wanted addresses.
    bind: Option<IpAddr>,
    /// None where the owner names the servers.
    system: Option<SystemFile>,
}

/// The file in which the system names its servers, as it was last read.
struct SystemFile {
    path: PathBuf,
    content: Mutex<Vec<u8>>,
}

impl NameServers {
    /// Asks `servers`, or those of the file `system` when there are none.
    pub(super) fn new(
        servers: &[SocketAddr],
        bind: Option<IpAddr>,
        system: &Path,
    ) -> Result<Self, NetError> {
        if servers.is_empty() {
            let content = std::fs::read(system)?;
            let client = RwLock::new(of_system(&content, bind)?);
            let system = SystemFile { path: system.to_owned(), content: Mutex::new(content) };
            return Ok(Self { client, bind, system: Some(system) });
        }
        let servers = servers.iter().map(|server| name_server(*server, bind)).collect();
        let config = ResolverConfig::from_name_servers(servers);
        let client = RwLock::new(client(config, ResolverOpts::default(), bind)?);
        Ok(Self { client, bind, system: None })
    }

    /// The client for the next query.
    pub(super) fn client(&self) -> TokioResolver {
        self.client.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Asks the servers that the system names now, if it names others. Returns whether it does.
    /// While its file is missing or cannot be read, those before are asked.
    pub(super) fn follow_system(&self) -> Result<bool, NetError> {
        let Some(SystemFile { path, content: known }) = &self.system else { return Ok(false) };
        let content = std::fs::read(path)?;
        let mut known = lock(known);
        if content == *known {
            return Ok(false);
        }
        let client = of_system(&content, self.bind)?;
        *self.client.write().unwrap_or_else(PoisonError::into_inner) = client;
        *known = content;
        Ok(true)
    }
}

fn of_system(content: &[u8], bind: Option<IpAddr>) -> Result<TokioResolver, NetError> {
    let (config, options) = parse_resolv_conf(content)?;
    client(config, options, bind)
}

fn client(
    config: ResolverConfig,
    mut options: ResolverOpts,
    bind: Option<IpAddr>,
) -> Result<TokioResolver, NetError> {
    // The cache of names knows the answers, and which of them are about to expire.
    options.cache_size = 0;
    options.ip_strategy = match bind {
        Some(IpAddr::V4(_)) => LookupIpStrategy::Ipv4Only,
        Some(IpAddr::V6(_)) => LookupIpStrategy::Ipv6Only,
        None => LookupIpStrategy::Ipv4AndIpv6,
    };
    let builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    builder.with_options(options).build()
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

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[tokio::test]
    async fn the_servers_of_the_system_are_followed() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("resolv.conf");
        std::fs::write(&path, "nameserver 192.0.2.1\n").unwrap();
        let servers = NameServers::new(&[], None, &path).unwrap();
        assert!(!servers.follow_system().unwrap(), "nothing has changed");
        std::fs::write(&path, "nameserver 192.0.2.2\n").unwrap();
        assert!(servers.follow_system().unwrap());
        assert!(!servers.follow_system().unwrap());
        std::fs::remove_file(&path).unwrap();
        assert!(servers.follow_system().is_err(), "while a network is being joined");
        std::fs::write(&path, "nameserver 192.0.2.3\n").unwrap();
        assert!(servers.follow_system().unwrap());
    }

    #[tokio::test]
    async fn servers_of_the_owner_stay() {
        let own = ["192.0.2.1:53".parse().unwrap()];
        let servers = NameServers::new(&own, None, Path::new("/nowhere")).unwrap();
        assert!(!servers.follow_system().unwrap());
    }
}
