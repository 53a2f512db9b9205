//! Pool of connections that are kept for the next request to the same host.

use std::{
    collections::{BTreeMap, HashMap},
    net::IpAddr,
    sync::Mutex,
    time::Duration,
};

use nix::sys::resource::{Resource, getrlimit};
use tokio::time::Instant;

use super::connection::Connection;
use crate::lock::lock;

/// Most connections that are kept, even if the limit of open files is higher.
const MAX_CONNECTIONS: usize = 2_048;
/// Connections that are kept where the limit of open files is unknown.
const FEW_CONNECTIONS: usize = 256;
/// Time for which a connection is kept.
const KEEP: Duration = Duration::from_secs(30);

/// A connection without a running request.
pub(super) struct Idle {
    connection: Connection,
    address: IpAddr,
    /// Time of its TCP handshake.
    tcp: Duration,
    since: Instant,
}

impl Idle {
    pub(super) fn new(connection: Connection, address: IpAddr, tcp: Duration) -> Self {
        Self { connection, address, tcp, since: Instant::now() }
    }

    fn is_fresh(&self) -> bool {
        self.since.elapsed() < KEEP
    }
}

/// Kept connections: at most one for each host, by scheme and authority.
pub(super) struct Pool {
    most: usize,
    kept: Mutex<KeptConnection>,
}

#[derive(Default)]
struct KeptConnection {
    /// Each with its place in the order of arrival.
    by_host: HashMap<String, (u64, Idle)>,
    in_order: BTreeMap<u64, String>,
    arrivals: u64,
}

impl Default for Pool {
    fn default() -> Self {
        let files = getrlimit(Resource::RLIMIT_NOFILE).map(|(soft, _)| soft);
        Self::new(files.map_or(FEW_CONNECTIONS, kept_connections))
    }
}

/// Connections that are kept by a process that may open this many files. Half are left to running
/// fetches, probes and files.
fn kept_connections(files: u64) -> usize {
    usize::try_from(files / 2).unwrap_or(MAX_CONNECTIONS).min(MAX_CONNECTIONS)
}

impl Pool {
    fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// Takes the connection of this host, if it leads to this address, and the time of its TCP
    /// handshake.
    pub(super) fn take(&self, host: &str, address: IpAddr) -> Option<(Connection, Duration)> {
        let mut idle = lock(&self.kept).remove(host)?;
        let is_useful = idle.address == address && idle.is_fresh() && !idle.connection.has_ended();
        is_useful.then_some((idle.connection, idle.tcp))
    }

    /// Keeps a connection. Where there are too many, those that have waited for longest are closed.
    pub(super) fn put(&self, host: String, idle: Idle) {
        let mut kept = lock(&self.kept);
        kept.remove(&host);
        kept.remove_old();
        while kept.by_host.len() >= self.most {
            if kept.remove_oldest().is_none() {
                // Nothing may be kept.
                return;
            }
        }
        kept.insert(host, idle);
    }

    /// Closes the connections that were kept for too long.
    pub(super) fn close_old(&self) {
        lock(&self.kept).remove_old();
    }

    /// Closes the kept connection of this host.
    pub(super) fn close(&self, host: &str) {
        lock(&self.kept).remove(host);
    }

    /// Closes all kept connections.
    pub(super) fn close_all(&self) {
        *lock(&self.kept) = KeptConnection::default();
    }
}

impl KeptConnection {
    fn insert(&mut self, host: String, idle: Idle) {
        self.arrivals += 1;
        self.in_order.insert(self.arrivals, host.clone());
        self.by_host.insert(host, (self.arrivals, idle));
    }

    fn remove(&mut self, host: &str) -> Option<Idle> {
        let (arrival, idle) = self.by_host.remove(host)?;
        self.in_order.remove(&arrival);
        Some(idle)
    }

    fn remove_old(&mut self) {
        while self.oldest().is_some_and(|idle| !idle.is_fresh()) {
            self.remove_oldest();
        }
    }

    fn oldest(&self) -> Option<&Idle> {
        let (_, host) = self.in_order.first_key_value()?;
        self.by_host.get(host).map(|(_, idle)| idle)
    }

    fn remove_oldest(&mut self) -> Option<Idle> {
        let (_, host) = self.in_order.pop_first()?;
        self.by_host.remove(&host).map(|(_, idle)| idle)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncWriteExt as _, DuplexStream};

    use super::*;
    use crate::fetch::metered::Pauses;

    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    /// A kept connection, and the end of its server.
    fn idle() -> (Idle, DuplexStream) {
        let (client, server) = tokio::io::duplex(1_024);
        let connection = Connection::new(Box::new(client), Pauses::default());
        (Idle::new(connection, ADDRESS, Duration::ZERO), server)
    }

    fn pool(most: usize, hosts: &[&str]) -> (Pool, Vec<DuplexStream>) {
        let pool = Pool::new(most);
        let mut servers = Vec::new();
        for host in hosts {
            let (idle, server) = idle();
            pool.put((*host).to_owned(), idle);
            servers.push(server);
        }
        (pool, servers)
    }

    #[tokio::test]
    async fn the_oldest_connections_make_room() {
        let (pool, _servers) = pool(2, &["a", "b", "a", "c"]);
        let taken = ["a", "b", "c", "c"].map(|host| pool.take(host, ADDRESS).is_some());
        assert_eq!(taken, [true, false, true, false]);
        assert!(lock(&pool.kept).in_order.is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_is_kept_for_a_while() {
        let (pool, _servers) = pool(8, &["a", "b"]);
        tokio::time::advance(KEEP).await;
        assert!(pool.take("a", ADDRESS).is_none());
        pool.close_old();
        assert!(lock(&pool.kept).by_host.is_empty(), "b is closed, too");
    }

    #[tokio::test]
    async fn a_connection_that_its_host_ended_or_used_is_not_taken() {
        let (pool, mut servers) = pool(8, &["closed", "spoken", "quiet"]);
        servers[1].write_all(b"x").await.unwrap();
        drop(servers.remove(0));
        let taken = ["closed", "spoken", "quiet"].map(|host| pool.take(host, ADDRESS).is_some());
        assert_eq!(taken, [false, false, true]);
    }

    #[tokio::test]
    async fn without_room_nothing_is_kept() {
        let (pool, _servers) = pool(0, &["a"]);
        assert!(pool.take("a", ADDRESS).is_none());
    }

    #[test]
    fn half_of_the_files_may_be_kept_connections() {
        assert_eq!([0, 1_024, 8_192, u64::MAX].map(kept_connections), [0, 512, 2_048, 2_048]);
    }
}
