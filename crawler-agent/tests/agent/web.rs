//! Fake web servers that record requests per host and address: paths, counts, concurrency and
//! pauses.

use std::{
    collections::{BTreeMap, HashMap},
    net::{IpAddr, Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use axum::{
    Router,
    extract::State,
    http::{HeaderMap, StatusCode, Uri, header},
    response::{IntoResponse, Response},
};
use tokio::{net::TcpListener, task::AbortHandle};

/// Answer of a page.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) takes: Duration,
}

pub(crate) fn html(body: &str) -> Answer {
    Answer {
        status: 200,
        headers: vec![("content-type", "text/html; charset=utf-8".into())],
        body: body.into(),
        takes: Duration::from_millis(5),
    }
}

pub(crate) fn text(body: &str) -> Answer {
    Answer { headers: vec![("content-type", "text/plain".into())], ..html(body) }
}

pub(crate) fn redirect(to: &str) -> Answer {
    Answer { status: 302, headers: vec![("location", to.into())], ..html("") }
}

pub(crate) fn status(status: u16) -> Answer {
    Answer { status, ..html("") }
}

/// Record of the requests to a host or an address.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    pub(crate) fetches: BTreeMap<String, u32>,
    /// When the requests for each path began.
    pub(crate) begun: BTreeMap<String, Vec<Instant>>,
    pub(crate) most_in_flight: u32,
    pub(crate) least_gap: Option<Duration>,
    pub(crate) in_flight: u32,
    ended: Option<Instant>,
}

impl Seen {
    fn start(&mut self) {
        let gap = self.ended.map(|ended| ended.elapsed());
        self.least_gap = [self.least_gap, gap].into_iter().flatten().min();
        self.in_flight += 1;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
    }

    fn end(&mut self) {
        self.in_flight -= 1;
        self.ended = Some(Instant::now());
    }
}

#[derive(Default)]
pub(crate) struct AccessLog {
    pub(crate) pages: HashMap<(String, String), Answer>,
    pub(crate) hosts: BTreeMap<String, Seen>,
    pub(crate) addresses: BTreeMap<IpAddr, Seen>,
    pub(crate) agents: BTreeMap<String, u32>,
}

pub(crate) struct Web {
    pub(crate) port: u16,
    log: Arc<Mutex<AccessLog>>,
    serving: Vec<AbortHandle>,
}

impl Web {
    /// Servers at these addresses, on one port.
    pub(crate) async fn start(addresses: &[Ipv4Addr]) -> Self {
        let log = Arc::<Mutex<AccessLog>>::default();
        let (port, listeners) = listen(addresses).await;
        let serve = |(address, listener): (Ipv4Addr, TcpListener)| {
            let app =
                Router::new().fallback(visit).with_state((Arc::clone(&log), IpAddr::V4(address)));
            tokio::spawn(async move { drop(axum::serve(listener, app).await) }).abort_handle()
        };
        let serving = listeners.into_iter().map(serve).collect();
        Self { port, log, serving }
    }

    pub(crate) fn log(&self) -> MutexGuard<'_, AccessLog> {
        self.log.lock().unwrap()
    }

    /// Puts a page at this path of a host, and returns its URL.
    pub(crate) fn page(&self, host: &str, path: &str, answer: Answer) -> String {
        let key = (format!("{host}:{}", self.port), path.to_owned());
        self.log().pages.insert(key, answer);
        self.url(host, path)
    }

    /// Gives a host a robots.txt with this page as its sitemap, so that no other one is looked for.
    pub(crate) fn name_sitemap(&self, host: &str, path: &str) {
        let rules = format!("Sitemap: {}", self.url(host, path));
        self.page(host, "/robots.txt", text(&rules));
    }

    pub(crate) fn url(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.port)
    }

    pub(crate) fn seen(&self, host: &str) -> Seen {
        self.log().hosts.get(&format!("{host}:{}", self.port)).cloned().unwrap_or_default()
    }

    /// How often this path of a host was asked for.
    pub(crate) fn count(&self, host: &str, path: &str) -> u32 {
        self.seen(host).fetches.get(path).copied().unwrap_or(0)
    }

    /// Time between the first two requests for this path of a host.
    pub(crate) fn first_gap(&self, host: &str, path: &str) -> Duration {
        let begun = &self.seen(host).begun[path];
        begun[1] - begun[0]
    }
}

impl Drop for Web {
    fn drop(&mut self) {
        for serving in &self.serving {
            serving.abort();
        }
    }
}

async fn listen(addresses: &[Ipv4Addr]) -> (u16, Vec<(Ipv4Addr, TcpListener)>) {
    'port: loop {
        let first = TcpListener::bind((addresses[0], 0)).await.unwrap();
        let port = first.local_addr().unwrap().port();
        let mut listeners = vec![(addresses[0], first)];
        for address in &addresses[1..] {
            match TcpListener::bind(SocketAddr::from((*address, port))).await {
                Ok(listener) => listeners.push((*address, listener)),
                Err(_) => continue 'port,
            }
        }
        return (port, listeners);
    }
}

async fn visit(
    State((log, address)): State<(Arc<Mutex<AccessLog>>, IpAddr)>,
    headers: HeaderMap,
    uri: Uri,
) -> Response {
    let header = |name| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let known = header(header::IF_NONE_MATCH).to_owned();
    let host = header(header::HOST).to_owned();
    let agent = header(header::USER_AGENT).to_owned();
    let path = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let answer = {
        let mut log = log.lock().unwrap();
        *log.agents.entry(agent).or_default() += 1;
        log.addresses.entry(address).or_default().start();
        let seen = log.hosts.entry(host.clone()).or_default();
        seen.start();
        *seen.fetches.entry(path.clone()).or_default() += 1;
        seen.begun.entry(path.clone()).or_default().push(Instant::now());
        log.pages.get(&(host.clone(), path)).cloned().unwrap_or_else(|| status(404))
    };
    let ending = Ending { log, host, address };
    tokio::time::sleep(answer.takes).await;
    drop(ending);
    if answer.headers.iter().any(|(name, value)| *name == "etag" && *value == known) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let mut response = (StatusCode::from_u16(answer.status).unwrap(), answer.body).into_response();
    response.headers_mut().remove(header::CONTENT_TYPE);
    for (name, value) in answer.headers {
        response.headers_mut().append(name, value.parse().unwrap());
    }
    response
}

/// Records the end of a request, also when the client goes away.
struct Ending {
    log: Arc<Mutex<AccessLog>>,
    host: String,
    address: IpAddr,
}

impl Drop for Ending {
    fn drop(&mut self) {
        let mut log = self.log.lock().unwrap();
        log.addresses.get_mut(&self.address).unwrap().end();
        log.hosts.get_mut(&self.host).unwrap().end();
    }
}
