//! Pool of connections that are kept for the next request to the same host.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::Sender;

/// Most connections that are kept.
const MAX_CONNECTIONS: usize = 256;
/// Time for which a connection is kept.
const KEEP: Duration = Duration::from_secs(30);

/// A connection without a running request.
pub(super) struct Idle {
    sender: Sender,
    address: IpAddr,
    /// Time of its TCP handshake.
    tcp: Duration,
    since: Instant,
}

impl Idle {
    pub(super) fn new(sender: Sender, address: IpAddr, tcp: Duration) -> Self {
        Self { sender, address, tcp, since: Instant::now() }
    }

    fn is_fresh(&self) -> bool {
        !self.sender.is_closed() && self.since.elapsed() < KEEP
    }
}

/// Kept connections: at most one for each host, by scheme and authority.
#[derive(Default)]
pub(super) struct Pool(Mutex<HashMap<String, Idle>>);

impl Pool {
    /// Takes the connection of this host, if it leads to this address, and the time of its TCP
    /// handshake.
    pub(super) fn take(&self, host: &str, address: IpAddr) -> Option<(Sender, Duration)> {
        let idle = self.lock().remove(host)?;
        (idle.address == address && idle.is_fresh()).then_some((idle.sender, idle.tcp))
    }

    pub(super) fn put(&self, host: String, idle: Idle) {
        let mut kept = self.lock();
        if kept.len() >= MAX_CONNECTIONS {
            kept.retain(|_, idle| idle.is_fresh());
        }
        if kept.len() >= MAX_CONNECTIONS {
            let oldest =
                kept.iter().min_by_key(|(_, idle)| idle.since).map(|(host, _)| host.clone());
            oldest.and_then(|host| kept.remove(&host));
        }
        kept.insert(host, idle);
    }

    /// Closes the kept connection of this host.
    pub(super) fn close(&self, host: &str) {
        self.lock().remove(host);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Idle>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
