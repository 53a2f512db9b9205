//! HTTP/1.1 server for all hosts; it reports every request to the referee.

use std::convert::Infallible;
use std::fmt;
use std::io::Write as _;
use std::net::{IpAddr, SocketAddr, TcpListener as StdListener};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::serve::IncomingStream;
use flate2::Compression;
use flate2::write::GzEncoder;
use futures_util::stream;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::referee::{Referee, Visit};
use crate::web::Answer;
use crate::web::Web;
use crate::web::WebError;

/// How long the server waits before it answers, by who asks and which host: nothing in the virtual
/// internet, whose router delays packets; the round trip on loopback.
#[derive(Clone, Default)]
pub struct Pace(Option<Arc<dyn Fn(IpAddr, usize) -> Duration + Send + Sync>>);

impl Pace {
    /// Answers at once.
    pub fn at_once() -> Self {
        Self(None)
    }

    /// Asks `delay(source address of the asker, index of the host)` for every request.
    pub fn imposed(delay: impl Fn(IpAddr, usize) -> Duration + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(delay)))
    }

    async fn keep(&self, asker: IpAddr, host: usize) {
        if let Some(delay) = &self.0 {
            tokio::time::sleep(delay(asker, host)).await;
        }
    }
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Pace(imposed)" } else { "Pace(at once)" })
    }
}

/// A running server; dropping it stops it.
#[derive(Debug)]
pub struct Server {
    _listeners: JoinSet<()>,
}

#[derive(Clone)]
struct ServerState {
    web: Arc<Web>,
    referee: Referee,
    pace: Pace,
}

/// Both ends of a connection.
#[derive(Debug, Clone, Copy)]
struct ConnectionEnds {
    local: IpAddr,
    peer: IpAddr,
}

impl Connected<IncomingStream<'_, TcpListener>> for ConnectionEnds {
    fn connect_info(stream: IncomingStream<'_, TcpListener>) -> Self {
        let peer = stream.remote_addr().ip();
        // A connection that has gone already has no local address; then its peer serves as well as
        // any.
        let local = stream.io().local_addr().map_or(peer, |local: SocketAddr| local.ip());
        Self { local, peer }
    }
}

impl Server {
    /// Serves a web on listeners from [`crate::web::listen`]. Call it inside a tokio runtime.
    pub fn start(
        web: Arc<Web>,
        referee: Referee,
        pace: Pace,
        listeners: Vec<StdListener>,
    ) -> Result<Self, WebError> {
        let app = Router::new().fallback(serve).with_state(ServerState { web, referee, pace });
        let mut serving = JoinSet::new();
        for listener in listeners {
            let listener = adopt(listener)?;
            let app = app.clone().into_make_service_with_connect_info::<ConnectionEnds>();
            serving.spawn(async move {
                if let Err(error) = axum::serve(listener, app).await {
                    tracing::error!(%error, "the web stopped");
                }
            });
        }
        Ok(Self { _listeners: serving })
    }
}

fn adopt(listener: StdListener) -> Result<TcpListener, WebError> {
    let address = listener.local_addr().unwrap_or_else(|_| SocketAddr::from(([0, 0, 0, 0], 0)));
    TcpListener::from_std(listener).map_err(|source| WebError::Listen { address, source })
}

async fn serve(
    State(state): State<ServerState>,
    ConnectInfo(ends): ConnectInfo<ConnectionEnds>,
    request: Request,
) -> Response {
    let named = request.headers().get(header::HOST).and_then(|value| value.to_str().ok());
    let Some(host) = state.web.host_for(named, ends.local) else {
        return (StatusCode::MISDIRECTED_REQUEST, "no such host here\n").into_response();
    };
    let get = request.method() == Method::GET;
    let head = request.method() == Method::HEAD;
    if !get && !head {
        return (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET, HEAD")]).into_response();
    }
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let what = state.web.what(host, path);
    let visit = state.referee.arrive(ends.peer, host, what.clone(), head, path);
    state.pace.keep(ends.peer, host).await;
    let answer = state.web.answer(host, &what);
    respond(answer, request.headers(), head, visit)
}

/// Puts an answer into HTTP: conditional, compressed where the asker can take it, and with the
/// visit ending when the body is out.
fn respond(answer: Answer, asked: &HeaderMap, head: bool, visit: Visit) -> Response {
    let known = |etag: &str| {
        asked.get(header::IF_NONE_MATCH).is_some_and(|value| value.as_bytes() == etag.as_bytes())
    };
    let unchanged = answer.etag.as_deref().is_some_and(known);
    let plain = if unchanged { Vec::new() } else { answer.body };
    let zipped = if takes_gzip(asked) && plain.len() > 200 { gzip(&plain) } else { None };
    let status = if unchanged { 304 } else { answer.status };
    let encoding = zipped.is_some().then(|| "gzip".to_owned());
    let body = Bytes::from(zipped.unwrap_or(plain));
    visit.answered(status);
    let headers = [
        (header::CONTENT_TYPE, Some(answer.media_type)),
        (header::CONTENT_ENCODING, encoding),
        (header::LOCATION, answer.location),
        (header::ETAG, answer.etag),
        (header::CONTENT_LENGTH, (!unchanged).then(|| body.len().to_string())),
        (header::VARY, Some("accept-encoding".to_owned())),
    ];
    let mut response = Response::new(if head { Body::empty() } else { watched(body, visit) });
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in headers {
        set(response.headers_mut(), name, value);
    }
    response
}

fn set(headers: &mut HeaderMap, name: HeaderName, value: Option<String>) {
    if let Some(value) = value.and_then(|value| value.try_into().ok()) {
        headers.insert(name, value);
    }
}

/// A body that holds the visit until the server has taken all of it.
fn watched(body: Bytes, visit: Visit) -> Body {
    let chunks = stream::unfold((Some(body), visit), |(body, visit)| async move {
        body.map(|body| (Ok::<_, Infallible>(body), (None, visit)))
    });
    Body::from_stream(chunks)
}

fn takes_gzip(asked: &HeaderMap) -> bool {
    let accepted = asked.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|list| list.split(',').any(|coding| coding.trim().starts_with("gzip")))
}

fn gzip(plain: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 2), Compression::fast());
    encoder.write_all(plain).ok()?;
    encoder.finish().ok()
}
