//! HTTP client: requests one URL from one address that passed the guard.
//!
//! A request is one GET over HTTP/1.1, without redirects, cookies or proxies, to exactly this
//! address. Connections are kept for the next request to the same host. Every size and duration is
//! bounded by the owner's [`Limits`], and the body is passed on as it arrives.

mod body;
mod coding;
mod connection;
mod dial;
mod error;
mod head;
mod memory;
mod metered;
mod pool;
mod robots_body;
mod tls;

use std::{
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use http_body_util::Empty;
use hyper::{Method, Request, Response, header};
use protocol::page::Timing;
use tokio::time::Instant;
use tokio_rustls::TlsConnector;

use crate::{
    activity_log::UnderWay, config::Limits, error_line, outage_detector::OutageDetector,
    owner::gate::Gate,
};
use connection::{ArrivingBody, Connection, OutgoingRequest, SendError};
use memory::{Budget, TOTAL_BYTES};
use metered::{Pauses, within};
use model::CrawlUrl;
use pool::{Idle, Pool};

pub use body::{Flow, Sink};
pub(crate) use dial::connect_tcp;
pub use error::{FetchError, Problem};
pub use head::{Head, Validators};
pub(crate) use head::{charset, media_type};
pub use memory::Share;
pub use robots_body::RobotsBody;
pub use tls::config as tls_config;

/// Types of bodies by preference. XHTML is read as HTML, which is therefore preferred to it; plain
/// text has no links.
const ACCEPT: &str = "text/html,application/xhtml+xml;q=0.95,text/plain;q=0.9,*/*;q=0.1";

/// An answer that was read to its end, or as far as its sink wanted.
#[derive(Debug)]
pub struct Answer<S> {
    /// Status and headers.
    pub head: Head,
    /// Durations of the fetch.
    pub timing: Timing,
    /// Size of the body on the wire, in bytes.
    pub wire_bytes: u64,
    /// The sink that took the body; none when the body was not wanted.
    pub sink: Option<S>,
    /// Memory of the sink and of what is made of it; to be kept until that is stored.
    pub memory: Share,
}

/// HTTP client; one for the whole agent.
pub struct Fetcher {
    limits: Limits,
    user_agent: String,
    /// Source address of connections; none leaves it to the system.
    bind: Option<IpAddr>,
    /// None where https URLs cannot be fetched.
    tls: Option<TlsConnector>,
    pool: Pool,
    budget: Budget,
    gate: Arc<Gate>,
    /// Which hosts were reached lately.
    uplink: OutageDetector,
}

/// State of a running request, from which times are reported even if it fails.
struct Progress {
    started: Instant,
    deadline: Instant,
    connect: Duration,
    tcp: Duration,
    first_byte: Duration,
    wire_bytes: u64,
    /// Whether a TCP connection was made for this request.
    is_connected: bool,
    /// Pauses of the connection, of which those before the request do not concern it.
    pauses: Pauses,
    paused_before: Duration,
}

impl Progress {
    fn new(limits: &Limits) -> Self {
        let started = Instant::now();
        Self {
            started,
            deadline: started + limits.fetch,
            connect: Duration::ZERO,
            tcp: Duration::ZERO,
            first_byte: Duration::ZERO,
            wire_bytes: 0,
            is_connected: false,
            pauses: Pauses::default(),
            paused_before: Duration::ZERO,
        }
    }

    /// Time for which the owner's bandwidth kept the request waiting.
    fn paused(&self) -> Duration {
        self.pauses.total().saturating_sub(self.paused_before)
    }

    /// End of the time for the whole fetch.
    fn deadline(&self) -> Instant {
        self.deadline + self.paused()
    }

    fn timing(&self) -> Timing {
        Timing {
            connect_us: micros(self.connect),
            tcp_us: micros(self.tcp),
            first_byte_us: micros(self.first_byte),
            total_us: micros(self.started.elapsed().saturating_sub(self.paused())),
        }
    }
}

/// How long a fetch took, with or without success.
pub fn duration_of<S>(result: &Result<Answer<S>, FetchError>) -> Duration {
    let timing = match result {
        Ok(answer) => answer.timing,
        Err(error) => error.timing,
    };
    Duration::from_micros(timing.total_us.into())
}

/// Notes in the activity log how a fetch ended, unless nothing was sent.
pub fn note_end<S>(under_way: UnderWay<'_>, result: &Result<Answer<S>, FetchError>) {
    match result {
        Ok(Answer { head, timing, wire_bytes, .. }) => {
            under_way.end(&head.status.to_string(), *wire_bytes, *timing);
        }
        Err(FetchError { problem: Problem::Withheld(_), .. }) => under_way.withheld(),
        Err(FetchError { problem, timing, wire_bytes, .. }) => {
            under_way.end(&error_line::of(problem), *wire_bytes, *timing);
        }
    }
}

fn micros(duration: Duration) -> u32 {
    u32::try_from(duration.as_micros()).unwrap_or(u32::MAX)
}

impl Fetcher {
    /// A client that sends `user_agent` and connects from the source address `bind`, as far as
    /// `gate` permits. Without `tls`, https URLs fail.
    pub fn new(
        limits: Limits,
        user_agent: String,
        bind: Option<IpAddr>,
        tls: Option<rustls::ClientConfig>,
        gate: Arc<Gate>,
    ) -> Self {
        let tls = tls.map(|config| TlsConnector::from(Arc::new(config)));
        let budget = Budget::new(TOTAL_BYTES, limits.concurrency);
        let pool = Pool::default();
        let uplink = OutageDetector::default();
        Self { limits, user_agent, bind, tls, pool, budget, gate, uplink }
    }

    /// Which hosts were reached lately.
    pub const fn uplink(&self) -> &OutageDetector {
        &self.uplink
    }

    /// Requests `url` from `address`. `open` chooses the sink of the body by the head of the
    /// answer; none discards the body.
    pub async fn get<S: Sink>(
        &self,
        url: &CrawlUrl,
        address: IpAddr,
        open: impl FnOnce(&Head) -> Option<S>,
    ) -> Result<Answer<S>, FetchError> {
        self.get_changed(url, address, &Validators::default(), open).await
    }

    /// Requests `url` on the condition that it no longer matches `known` (RFC 9110 section 13.1);
    /// if it does, the answer is 304.
    pub async fn get_changed<S: Sink>(
        &self,
        url: &CrawlUrl,
        address: IpAddr,
        known: &Validators,
        open: impl FnOnce(&Head) -> Option<S>,
    ) -> Result<Answer<S>, FetchError> {
        let mut progress = Progress::new(&self.limits);
        let result = self.run((url, known), address, &mut progress, open).await;
        let timing = progress.timing();
        let wire_bytes = progress.wire_bytes;
        let problem = result.as_ref().err().filter(|_| !progress.is_connected);
        if problem.is_some_and(|problem| problem.is_silence(address)) {
            self.uplink.missed(url.host_key_str(), address, Instant::now());
        }
        match result {
            Ok((head, sink, memory)) => Ok(Answer { head, timing, wire_bytes, sink, memory }),
            Err(problem) => {
                let is_connected = progress.is_connected;
                Err(FetchError { problem, timing, wire_bytes, is_connected })
            }
        }
    }

    async fn run<S: Sink>(
        &self,
        wanted: (&CrawlUrl, &Validators),
        address: IpAddr,
        progress: &mut Progress,
        open: impl FnOnce(&Head) -> Option<S>,
    ) -> Result<(Head, Option<S>, Share), Problem> {
        self.gate.request().map_err(Problem::Withheld)?;
        let url = wanted.0;
        let (response, mut arriving) = self.head(wanted, address, progress).await?;
        let head = Head::of(&response);
        let mut sink = open(&head);
        let mut share = self.budget.share();
        let taking = (sink.as_mut(), &mut share);
        let is_whole = body::read(&mut arriving, &head, &self.limits, progress, taking).await?;
        if is_whole && let Some(connection) = arriving.into_connection().await {
            self.pool.put(url.host_key().to_string(), Idle::new(connection, address, progress.tcp));
        }
        Ok((head, sink, share))
    }

    /// Sends the request, over a kept connection where there is one, and waits for the head of the
    /// answer.
    async fn head(
        &self,
        (url, known): (&CrawlUrl, &Validators),
        address: IpAddr,
        progress: &mut Progress,
    ) -> Result<(Response<()>, ArrivingBody), Problem> {
        let mut request = self.request(Method::GET, url, known)?;
        if let Some((connection, tcp)) = self.pool.take(url.host_key().as_str(), address) {
            progress.tcp = tcp;
            progress.pauses = connection.pauses();
            progress.paused_before = progress.pauses.total();
            match self.send(connection, request, progress).await? {
                Ok(answered) => return Ok(answered),
                // The host had closed the connection before the request was sent, so that sending
                // it again cannot make it arrive twice.
                Err(unsent) => request = unsent,
            }
        }
        let connection = self.connect(url, address, progress).await?;
        self.send(connection, request, progress).await?.map_err(|_| Problem::Closed)
    }

    async fn connect(
        &self,
        url: &CrawlUrl,
        address: IpAddr,
        progress: &mut Progress,
    ) -> Result<Connection, Problem> {
        let started = Instant::now();
        let deadline = progress.deadline.min(started + self.limits.connect);
        let target = SocketAddr::new(address, url.port());
        let pauses = Pauses::default();
        progress.pauses = pauses.clone();
        progress.paused_before = Duration::ZERO;
        let connecting = self.dial(url, target, pauses.clone(), &mut progress.is_connected);
        let (connection, tcp) =
            within(deadline, &pauses, connecting).await.map_err(|_| Problem::ConnectTimeout)??;
        progress.connect = started.elapsed().saturating_sub(pauses.total());
        progress.tcp = tcp;
        Ok(connection)
    }

    async fn send(
        &self,
        connection: Connection,
        request: OutgoingRequest,
        progress: &mut Progress,
    ) -> Result<Result<(Response<()>, ArrivingBody), OutgoingRequest>, Problem> {
        let started = Instant::now();
        let before = progress.pauses.total();
        let deadline = progress.deadline().min(started + self.limits.first_byte);
        let answered = within(deadline, &progress.pauses, connection.send(request)).await;
        let paused = progress.pauses.total().saturating_sub(before);
        progress.first_byte = started.elapsed().saturating_sub(paused);
        match answered.map_err(|_| Problem::FirstByteTimeout)? {
            Ok(answered) => {
                self.uplink.reached(Instant::now());
                Ok(Ok(answered))
            }
            Err(SendError::Unsent(request)) => Ok(Err(*request)),
            Err(SendError::Http(error)) => Err(error.into()),
        }
    }

    /// Time from sending a HEAD request on a new connection to `target` until its answer.
    pub async fn head_round_trip(
        &self,
        url: &CrawlUrl,
        target: SocketAddr,
    ) -> Result<Duration, Problem> {
        self.gate.request().map_err(Problem::Withheld)?;
        let mut progress = Progress::new(&self.limits);
        let connection = self.connect(url, target.ip(), &mut progress).await?;
        let request = self.request(Method::HEAD, url, &Validators::default())?;
        match self.send(connection, request, &mut progress).await? {
            Ok(_) => Ok(progress.first_byte),
            Err(_) => Err(Problem::Closed),
        }
    }

    /// Closes the connection that is kept to a host, given by scheme and authority.
    pub fn close_connection(&self, host: &str) {
        self.pool.close(host);
    }

    /// Closes the connections that were kept for too long.
    pub fn close_old_connections(&self) {
        self.pool.close_old();
    }

    /// Closes all kept connections, after a time in which their hosts may have closed them.
    pub fn close_connections(&self) {
        self.pool.close_all();
    }

    fn request(
        &self,
        method: Method,
        url: &CrawlUrl,
        known: &Validators,
    ) -> Result<OutgoingRequest, Problem> {
        let authority = &url.url()[url::Position::BeforeHost..url::Position::AfterPort];
        let mut request = Request::builder();
        for (name, value) in [
            (header::IF_NONE_MATCH, &known.etag),
            (header::IF_MODIFIED_SINCE, &known.last_modified),
        ] {
            if let Some(value) = value {
                request = request.header(name, value);
            }
        }
        request
            .method(method)
            .uri(url.path_and_query())
            .header(header::HOST, authority)
            .header(header::USER_AGENT, &self.user_agent)
            .header(header::ACCEPT, ACCEPT)
            .header(header::ACCEPT_ENCODING, coding::ACCEPTED)
            .body(Empty::new())
            .map_err(|_| Problem::Request)
    }
}

#[cfg(test)]
mod tests;
