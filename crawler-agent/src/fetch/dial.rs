//! Connections: TCP, TLS and the HTTP handshake.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use rustls::pki_types::ServerName;
use tokio::net::{TcpSocket, TcpStream};
use url::Host;

use super::{
    Fetcher, Problem,
    connection::{Connection, Stream},
    metered::{MeteredStream, Pauses},
};
use model::CrawlUrl;

impl Fetcher {
    /// Connects, with TLS for https URLs; returns the time of the TCP handshake as well. `pauses` is
    /// where the connection notes its pauses.
    pub(super) async fn dial(
        &self,
        url: &CrawlUrl,
        target: SocketAddr,
        pauses: Pauses,
        is_connected: &mut bool,
    ) -> Result<(Connection, Duration), Problem> {
        let (tcp, round_trip) = connect_tcp(self.bind, target).await.map_err(Problem::Connect)?;
        *is_connected = true;
        self.uplink.reached(tokio::time::Instant::now());
        // Below TLS, so that everything on the wire counts.
        let stream = MeteredStream::new(tcp, Arc::clone(&self.gate), pauses.clone());
        let stream: Box<dyn Stream> = if url.is_https() {
            let tls = self.tls.as_ref().ok_or(Problem::NoTls)?;
            let name = server_name(url).ok_or(Problem::Request)?;
            Box::new(tls.connect(name, stream).await.map_err(Problem::tls)?)
        } else {
            Box::new(stream)
        };
        Ok((Connection::new(stream, pauses), round_trip))
    }
}

/// Connects to `target`, from `bind` if given; returns the stream and the time of the handshake,
/// which is one round trip. The caller sets the time limit.
pub(crate) async fn connect_tcp(
    bind: Option<IpAddr>,
    target: SocketAddr,
) -> io::Result<(TcpStream, Duration)> {
    let started = Instant::now();
    let socket = if target.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    if let Some(bind) = bind {
        socket.bind(SocketAddr::new(bind, 0))?;
    }
    let stream = socket.connect(target).await?;
    let round_trip = started.elapsed();
    stream.set_nodelay(true)?;
    Ok((stream, round_trip))
}

fn server_name(url: &CrawlUrl) -> Option<ServerName<'static>> {
    match url.host()? {
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned()).ok(),
        Host::Ipv4(address) => Some(ServerName::from(IpAddr::V4(address))),
        Host::Ipv6(address) => Some(ServerName::from(IpAddr::V6(address))),
    }
}
