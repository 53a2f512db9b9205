//! The accept loop, and one task per connection.

use std::collections::HashMap;
use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use ipnet::IpNet;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::activity::{Activity, Timeouts};
use super::admission::{Admission, Bounds, ConnectionId, Connections, Source};
use super::body::ResponseBody;
use super::handle::{ConnectionHandle, SharedConnections, locked};
use super::stream::ObservedStream;
use crate::http::network::Network;
use crate::runtime::config::Config;

/// Pause after the system refused a connection, usually because descriptors are used up.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);

/// How connections are limited.
#[derive(Clone, Debug)]
pub struct Options {
    /// How many may be open.
    pub bounds: Bounds,
    /// How long one may be idle.
    pub timeouts: Timeouts,
    /// Reverse proxies, each of which carries many clients.
    pub trusted_proxies: Vec<IpNet>,
}

impl Options {
    /// The limits of a configuration.
    pub fn new(config: &Config) -> Self {
        Self {
            bounds: Bounds::from(&config.limits),
            timeouts: Timeouts::from(&config.limits),
            trusted_proxies: config.trusted_proxies.clone(),
        }
    }
}

/// Serves `router` until `stop`, then lets open requests end.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    options: &Options,
    stop: &CancellationToken,
) {
    let server = Server {
        router,
        timeouts: options.timeouts,
        connections: Arc::new(Mutex::new(Connections::new(options.bounds))),
        closers: Arc::default(),
        stop: stop.clone(),
    };
    let tracker = TaskTracker::new();
    let mut next_id: ConnectionId = 0;
    loop {
        let accepted = tokio::select! {
            () = stop.cancelled() => break,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                pause_after(&error).await;
                continue;
            }
        };
        next_id += 1;
        let source = source(peer.ip(), &options.trusted_proxies);
        if let Some(close) = server.admit(next_id, source) {
            tracker.spawn(server.clone().run(next_id, stream, peer, close));
        }
    }
    drop(listener);
    tracker.close();
    tracker.wait().await;
}

fn source(peer: IpAddr, trusted_proxies: &[IpNet]) -> Source {
    let peer = peer.to_canonical();
    if trusted_proxies.iter().any(|proxy| proxy.contains(&peer)) {
        return Source::Proxy;
    }
    Source::Network(Network::from(peer))
}

/// An error of one connection is of no concern to the others. Any other error, such as too many
/// open files, would repeat at once.
async fn pause_after(error: &io::Error) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::error!(%error, "cannot accept a connection");
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }
}

/// What the tasks of connections share.
#[derive(Clone)]
struct Server {
    router: Router,
    timeouts: Timeouts,
    connections: SharedConnections,
    /// The signals that close connections before their time.
    closers: Arc<Mutex<HashMap<ConnectionId, CancellationToken>>>,
    stop: CancellationToken,
}

impl Server {
    fn closers(&self) -> MutexGuard<'_, HashMap<ConnectionId, CancellationToken>> {
        self.closers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits a connection, instead of another one if necessary; none when it has to be closed.
    fn admit(&self, id: ConnectionId, source: Source) -> Option<CancellationToken> {
        let admission = locked(&self.connections).admit(id, source);
        match admission {
            Admission::Refused => return None,
            Admission::OpenInsteadOf(victim) => {
                if let Some(close) = self.closers().remove(&victim) {
                    close.cancel();
                }
            }
            Admission::Open => {}
        }
        let close = CancellationToken::new();
        self.closers().insert(id, close.clone());
        Some(close)
    }

    /// Serves one connection until it ends, is idle for too long, or is closed for another.
    async fn run(
        self,
        id: ConnectionId,
        stream: TcpStream,
        peer: SocketAddr,
        close: CancellationToken,
    ) {
        // Responses are small: waiting to fill a packet would only delay them. Without the option
        // the connection works as well.
        let _ = stream.set_nodelay(true);
        let activity = Arc::new(Activity::new(Instant::now()));
        let handle = ConnectionHandle {
            id,
            activity: Arc::clone(&activity),
            connections: Arc::clone(&self.connections),
        };
        let stream = TokioIo::new(ObservedStream::new(stream, Arc::clone(&activity)));
        let router = self.router.clone();
        let service =
            service_fn(move |request| respond(router.clone(), handle.clone(), peer, request));
        let connection =
            http1::Builder::new().header_read_timeout(None).serve_connection(stream, service);
        tokio::pin!(connection);
        let mut is_stopping = false;
        loop {
            let check_at = activity.deadline(&self.timeouts);
            let check_at = check_at.unwrap_or_else(|| Instant::now() + self.timeouts.header);
            tokio::select! {
                _ = connection.as_mut() => break,
                () = close.cancelled() => break,
                () = self.stop.cancelled(), if !is_stopping => {
                    is_stopping = true;
                    connection.as_mut().graceful_shutdown();
                }
                () = tokio::time::sleep_until(check_at.into()) => {
                    let deadline = activity.deadline(&self.timeouts);
                    if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
                        break;
                    }
                }
            }
        }
        locked(&self.connections).remove(id);
        self.closers().remove(&id);
    }
}

async fn respond(
    router: Router,
    handle: ConnectionHandle,
    peer: SocketAddr,
    request: hyper::Request<Incoming>,
) -> Result<hyper::Response<ResponseBody>, Infallible> {
    let in_progress = handle.begin_request();
    let mut request = request.map(Body::new);
    request.extensions_mut().insert(ConnectInfo(peer));
    request.extensions_mut().insert(handle);
    let response = router.oneshot(request).await?;
    Ok(response.map(|body| ResponseBody::new(body, in_progress)))
}
