//! ICMP echo. A datagram socket is tried first, which needs no privilege where the system's
//! `ping_group_range` allows it, then a raw socket.

use std::{
    net::{IpAddr, SocketAddr},
    sync::atomic::{AtomicU16, Ordering},
    time::{Duration, Instant},
};

use surge_ping::{Client, Config, ICMP, PingIdentifier, PingSequence};
use tokio::sync::OnceCell;

const PAYLOAD: [u8; 16] = *b"nearcrawl probe.";

/// Sends echo requests over one socket for each address family, opened on first use.
pub(super) struct Icmp {
    bind: Option<IpAddr>,
    v4: OnceCell<Result<Client, String>>,
    v6: OnceCell<Result<Client, String>>,
    /// Next sequence number. On datagram sockets the kernel sets the identifier, so that only this
    /// number separates two requests to one address.
    sequence: AtomicU16,
}

impl Icmp {
    pub(super) fn new(bind: Option<IpAddr>) -> Self {
        Self { bind, v4: OnceCell::new(), v6: OnceCell::new(), sequence: AtomicU16::new(0) }
    }

    /// Round trip of one echo, or the reason why there is none.
    pub(super) async fn echo(
        &self,
        address: IpAddr,
        time_limit: Duration,
    ) -> Result<Duration, String> {
        let (cell, kind) =
            if address.is_ipv4() { (&self.v4, ICMP::V4) } else { (&self.v6, ICMP::V6) };
        let client = cell.get_or_init(|| async { self.open(kind) }).await;
        let client = client.as_ref().map_err(Clone::clone)?;
        let mut pinger = client.pinger(address, PingIdentifier(rand::random())).await;
        pinger.timeout(time_limit);
        let sequence = PingSequence(self.sequence.fetch_add(1, Ordering::Relaxed));
        // surge-ping starts its clock after the request was sent. Where the task was preempted in
        // between, its result is too short, and the smallest sample counts. A clock started before
        // can only measure too much.
        let before = Instant::now();
        pinger.ping(sequence, &PAYLOAD).await.map_err(|error| error.to_string())?;
        Ok(before.elapsed())
    }

    fn open(&self, kind: ICMP) -> Result<Client, String> {
        Client::new(&config(kind, self.bind)).map_err(|error| {
            let first_line = error.to_string().lines().next().unwrap_or_default().to_owned();
            tracing::warn!(%error, "no ICMP on this machine; probes fall back on other methods");
            first_line
        })
    }
}

/// Whether this machine lets this user send echo requests; if not, why.
pub fn is_allowed(bind: Option<IpAddr>) -> Result<(), String> {
    let kind = if bind.is_some_and(|bind| bind.is_ipv6()) { ICMP::V6 } else { ICMP::V4 };
    Client::new(&config(kind, bind)).map(drop).map_err(|error| error.to_string())
}

/// Socket configuration; by default surge-ping tries a datagram socket and then a raw one.
fn config(kind: ICMP, bind: Option<IpAddr>) -> Config {
    let mut config = Config::builder().kind(kind);
    if let Some(bind) = bind {
        config = config.bind(SocketAddr::new(bind, 0));
    }
    config.build()
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use tokio::task::JoinSet;

    use super::*;

    const LOOPBACKS: [IpAddr; 2] =
        [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];

    #[test]
    fn a_socket_that_needs_no_privilege_is_tried_first() {
        for kind in [ICMP::V4, ICMP::V6] {
            let first = config(kind, None).sock_type_hint;
            assert_eq!(format!("{first:?}"), "SOCK_DGRAM");
        }
    }

    /// Where the machine allows neither kind of socket, the reason must be returned at once.
    #[tokio::test]
    async fn many_echoes_to_one_address_do_not_mix() {
        let icmp = std::sync::Arc::new(Icmp::new(None));
        for address in LOOPBACKS {
            let mut echoes = JoinSet::new();
            for _ in 0..100 {
                let icmp = std::sync::Arc::clone(&icmp);
                echoes.spawn(async move { icmp.echo(address, Duration::from_secs(20)).await });
            }
            let kind = if address.is_ipv4() { ICMP::V4 } else { ICMP::V6 };
            let allowed = Client::new(&config(kind, None)).is_ok();
            for echo in echoes.join_all().await {
                assert_eq!(echo.is_ok(), allowed, "{address}: {echo:?}");
                assert!(echo.is_ok() || echo.is_err_and(|reason| !reason.is_empty()));
            }
        }
    }

    #[tokio::test]
    async fn an_address_of_the_other_family_cannot_be_probed() {
        let icmp = Icmp::new(Some(LOOPBACKS[0]));
        assert!(icmp.echo(LOOPBACKS[1], Duration::from_millis(200)).await.is_err());
    }
}
