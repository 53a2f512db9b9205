//! ICMP echo. A datagram socket is tried first, which needs no privilege where the system's `ping_group_range`
//! allows it, then a raw one.

use std::{
    net::{IpAddr, SocketAddr},
    sync::atomic::{AtomicU16, Ordering},
    time::Duration,
};

use surge_ping::{Client, Config, ICMP, PingIdentifier, PingSequence};
use tokio::sync::OnceCell;

const PAYLOAD: [u8; 16] = *b"nearcrawl probe.";

/// Sends echo requests over one socket for each family, opened when it is first needed.
pub(super) struct Icmp {
    bind: Option<IpAddr>,
    v4: OnceCell<Result<Client, String>>,
    v6: OnceCell<Result<Client, String>>,
    /// Over datagram sockets the kernel sets the identifier, and only the sequence number tells two requests to one
    /// address apart.
    sequence: AtomicU16,
}

impl Icmp {
    pub(super) fn new(bind: Option<IpAddr>) -> Self {
        Self { bind, v4: OnceCell::new(), v6: OnceCell::new(), sequence: AtomicU16::new(0) }
    }

    /// The round trip of one echo, or why there is none.
    pub(super) async fn echo(&self, address: IpAddr, within: Duration) -> Result<Duration, String> {
        let (cell, kind) = if address.is_ipv4() { (&self.v4, ICMP::V4) } else { (&self.v6, ICMP::V6) };
        let client = cell.get_or_init(|| async { self.open(kind) }).await;
        let client = client.as_ref().map_err(Clone::clone)?;
        let mut pinger = client.pinger(address, PingIdentifier(rand::random())).await;
        pinger.timeout(within);
        let sequence = PingSequence(self.sequence.fetch_add(1, Ordering::Relaxed));
        let (_, rtt) = pinger.ping(sequence, &PAYLOAD).await.map_err(|error| error.to_string())?;
        Ok(rtt)
    }

    fn open(&self, kind: ICMP) -> Result<Client, String> {
        let mut config = Config::builder().kind(kind);
        if let Some(bind) = self.bind {
            config = config.bind(SocketAddr::new(bind, 0));
        }
        Client::new(&config.build()).map_err(|error| {
            let first_line = error.to_string().lines().next().unwrap_or_default().to_owned();
            tracing::warn!(%error, "no ICMP on this machine; probes fall back on other methods");
            first_line
        })
    }
}
