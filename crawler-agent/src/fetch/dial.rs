//! Connections: TCP, TLS and the HTTP handshake.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use http_body_util::Empty;
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpSocket, TcpStream},
};
use tokio_rustls::TlsConnector;
use url::Host;

use super::{
    Problem, Sender,
    metered::{MeteredStream, Pauses},
};
use crate::owner::gate::Gate;
use model::CrawlUrl;

/// Most headers of an answer.
const MAX_HEADERS: usize = 100;
/// Largest head of an answer, and largest single read, in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;

type Http = http1::SendRequest<Empty<Bytes>>;

pub(super) struct Dialler {
    bind: Option<IpAddr>,
    tls: Option<TlsConnector>,
    gate: Arc<Gate>,
}

impl Dialler {
    pub(super) fn new(
        bind: Option<IpAddr>,
        tls: Option<rustls::ClientConfig>,
        gate: Arc<Gate>,
    ) -> Self {
        Self { bind, tls: tls.map(|config| TlsConnector::from(Arc::new(config))), gate }
    }

    /// Connects to `target`; returns the connection and the time of the TCP handshake.
    pub(super) async fn connect(
        &self,
        target: SocketAddr,
    ) -> Result<(TcpStream, Duration), Problem> {
        connect_tcp(self.bind, target).await.map_err(Problem::Connect)
    }

    /// Begins HTTP on a connection, with TLS for https URLs. `pauses` is where the connection notes
    /// its pauses.
    pub(super) async fn speak(
        &self,
        url: &CrawlUrl,
        tcp: TcpStream,
        pauses: Pauses,
    ) -> Result<Sender, Problem> {
        // Below TLS, so that everything on the wire counts.
        let stream = MeteredStream::new(tcp, Arc::clone(&self.gate), pauses.clone());
        Ok(Sender::new(self.begin_http(url, stream).await?, pauses))
    }

    async fn begin_http(&self, url: &CrawlUrl, stream: MeteredStream) -> Result<Http, Problem> {
        if !url.is_https() {
            return handshake(stream).await;
        }
        let tls = self.tls.as_ref().ok_or(Problem::NoTls)?;
        let name = server_name(url).ok_or(Problem::Request)?;
        handshake(tls.connect(name, stream).await.map_err(Problem::tls)?).await
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

/// Starts HTTP/1.1 on a stream. Errors that real servers make in headers are tolerated.
async fn handshake<T>(stream: T) -> Result<Http, Problem>
where
    T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let mut builder = http1::Builder::new();
    builder
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    let (sender, connection) =
        builder.handshake(TokioIo::new(stream)).await.map_err(Problem::from)?;
    // The connection ends when sender and body are dropped; its errors reach the pending request.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

fn server_name(url: &CrawlUrl) -> Option<ServerName<'static>> {
    match url.host()? {
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned()).ok(),
        Host::Ipv4(address) => Some(ServerName::from(IpAddr::V4(address))),
        Host::Ipv6(address) => Some(ServerName::from(IpAddr::V6(address))),
    }
}
