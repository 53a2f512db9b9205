use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::*;

mod beginnings;
mod encodings;
mod owner;
mod tls;

const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

fn limits() -> Limits {
    Limits { connect: Duration::from_secs(5), ..Limits::default() }
}

fn impatient() -> Limits {
    Limits {
        first_byte: Duration::from_millis(400),
        fetch: Duration::from_millis(1_500),
        ..limits()
    }
}

fn fetcher() -> Fetcher {
    limited(limits())
}

fn limited(limits: Limits) -> Fetcher {
    gated(limits, Gate::of(""))
}

fn gated(limits: Limits, gate: Arc<Gate>) -> Fetcher {
    Fetcher::new(limits, "nearcrawl/test (+https://o.example)".into(), None, None, gate)
}

/// Keeps the body, up to some length.
#[derive(Debug)]
struct Keep(Vec<u8>, usize);

impl Sink for Keep {
    fn write(&mut self, bytes: &[u8]) -> Flow {
        self.0.extend_from_slice(bytes);
        if self.0.len() < self.1 { Flow::More } else { Flow::Enough }
    }

    fn held(&self) -> usize {
        self.0.capacity()
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the fetcher asks whether the body is wanted")]
fn keep(_: &Head) -> Option<Keep> {
    Some(Keep(Vec::new(), usize::MAX))
}

/// A server that answers the nth request over all its connections with `answer(n)`, and counts
/// connections.
struct Server {
    port: u16,
    connections: Arc<AtomicUsize>,
}

impl Server {
    async fn start(answer: impl Fn(usize) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let requests = AtomicUsize::new(0);
        let answer = Arc::new(move || answer(requests.fetch_add(1, Ordering::SeqCst)));
        Self::with(move |mut stream| {
            let answer = Arc::clone(&answer);
            async move {
                while read_request(&mut stream).await.is_some() {
                    let _ = stream.write_all(&answer()).await;
                }
            }
        })
        .await
    }

    /// A server that does whatever `talk` does with each connection.
    async fn with<F>(talk: impl Fn(TcpStream) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(talk(stream));
            }
        });
        Self { port, connections }
    }

    fn url(&self) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://h.example:{}/p?q", self.port)).unwrap()
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    async fn get(&self, fetcher: &Fetcher) -> Result<Answer<Keep>, FetchError> {
        fetcher.get(&self.url(), LOOPBACK, keep).await
    }

    async fn problem(&self) -> Problem {
        self.get(&fetcher()).await.unwrap_err().problem
    }
}

async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut request = Vec::new();
    while !request.ends_with(b"\r\n\r\n") {
        request.push(stream.read_u8().await.ok()?);
    }
    String::from_utf8(request).ok()
}

fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    [head.as_bytes(), body].concat()
}

#[tokio::test]
async fn requests_name_host_path_and_user_agent() {
    let (sender, received) = std::sync::mpsc::channel();
    let server = Server::with(move |mut stream| {
        let sender = sender.clone();
        async move {
            sender.send(read_request(&mut stream).await.unwrap()).unwrap();
            let _ = stream.write_all(&answer("", b"ok")).await;
        }
    })
    .await;
    server.get(&fetcher()).await.unwrap();
    let request = received.try_recv().unwrap();
    assert!(request.starts_with("GET /p?q HTTP/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: h.example:{}\r\n", server.port)));
    assert!(request.contains("user-agent: nearcrawl/test (+https://o.example)\r\n"));
    assert!(request.contains("accept-encoding: gzip, deflate, br, zstd\r\n"));
    assert!(!request.to_ascii_lowercase().contains("cookie"));
}

#[tokio::test]
async fn connections_are_reused_and_times_are_measured() {
    let server = Server::start(|n| answer("", format!("body {n}").as_bytes())).await;
    let fetcher = fetcher();
    let first = server.get(&fetcher).await.unwrap();
    assert_eq!((first.head.status, first.sink.unwrap().0), (200, b"body 0".to_vec()));
    assert_eq!(first.wire_bytes, 6);
    assert!(first.timing.tcp_us > 0 && first.timing.first_byte_us > 0);
    assert!(first.timing.connect_us >= first.timing.tcp_us);
    assert!(first.timing.total_us >= first.timing.connect_us + first.timing.first_byte_us);
    let second = server.get(&fetcher).await.unwrap();
    assert_eq!((second.timing.connect_us, second.sink.unwrap().0), (0, b"body 1".to_vec()));
    assert_eq!(second.timing.tcp_us, first.timing.tcp_us, "of the connection that is used");
    assert_eq!(server.connections(), 1);
    let elsewhere = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
    assert!(
        fetcher.get(&server.url(), elsewhere, keep).await.is_err(),
        "the address decides, not the name"
    );
}

#[tokio::test]
async fn a_kept_connection_that_died_is_replaced() {
    let server = Server::with(|mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(&answer("", b"once")).await;
    })
    .await;
    let fetcher = fetcher();
    for _ in 0..5 {
        assert_eq!(server.get(&fetcher).await.unwrap().sink.unwrap().0, b"once");
        // Until the end of the connection has arrived.
        let host = server.url().host_key().to_string();
        while let Some((connection, tcp)) = fetcher.pool.take(&host, LOOPBACK) {
            fetcher.pool.put(host.clone(), Idle::new(connection, LOOPBACK, tcp));
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(server.connections(), 5);
}

#[tokio::test]
async fn bodies_that_are_too_large_are_cut_off() {
    let small = limited(Limits { wire_bytes: 100_000, ..limits() });
    let announced =
        Server::start(|_| b"HTTP/1.1 200 OK\r\ncontent-length: 99999999999\r\n\r\nx".to_vec())
            .await;
    let error = announced.get(&small).await.unwrap_err();
    assert!(matches!(error.problem, Problem::TooLarge(100_000)), "{error:?}");
    let endless = Server::with(|mut stream| async move {
        read_request(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await;
        while stream
            .write_all(&[b"1000\r\n", [b'x'; 0x1000].as_slice(), b"\r\n"].concat())
            .await
            .is_ok()
        {}
    })
    .await;
    let error = endless.get(&small).await.unwrap_err();
    assert!(matches!(error.problem, Problem::TooLarge(100_000)), "{error:?}");
    assert!(error.wire_bytes < 300_000, "{}", error.wire_bytes);
}

#[tokio::test]
async fn a_body_without_memory_in_time_ends_with_its_reason() {
    let server = Server::start(|_| answer("", &vec![b'x'; 4 << 20])).await;
    let mut fetcher = fetcher();
    fetcher.budget = Budget::new(3 << 20, 1);
    let error = server.get(&fetcher).await.unwrap_err();
    assert!(matches!(error.problem, Problem::Memory), "{error:?}");
    assert!(error.problem.is_temporary());
    // Each takes more than a third of the pool, and gives it back.
    for _ in 0..5 {
        let enough = |_: &Head| Some(Keep(Vec::new(), 1_200_000));
        fetcher.get(&server.url(), LOOPBACK, enough).await.unwrap();
    }
}

#[tokio::test]
async fn slow_hosts_are_cut_off() {
    let fetcher = limited(impatient());
    let silent = Server::with(|mut stream| async move {
        read_request(&mut stream).await;
        std::future::pending::<()>().await;
    })
    .await;
    let error = silent.get(&fetcher).await.unwrap_err();
    assert!(matches!(error.problem, Problem::FirstByteTimeout) && error.problem.is_temporary());
    assert!((400_000..1_000_000).contains(&error.timing.total_us), "{:?}", error.timing);
    let dripping = |head: &'static [u8]| {
        Server::with(move |mut stream| async move {
            read_request(&mut stream).await;
            let _ = stream.write_all(head).await;
            let mut drip = tokio::time::interval(Duration::from_millis(50));
            while stream.write_all(b"x").await.is_ok() {
                drip.tick().await;
            }
        })
    };
    let slow_head = dripping(b"HTTP/1.1 200 OK\r\nx-").await;
    let error = slow_head.get(&fetcher).await.unwrap_err();
    assert!(matches!(error.problem, Problem::FirstByteTimeout), "{error:?}");
    let slow_body = dripping(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n").await;
    let error = slow_body.get(&fetcher).await.unwrap_err();
    assert!(matches!(error.problem, Problem::Timeout), "{error:?}");
    assert!(error.timing.total_us < 3_000_000, "{:?}", error.timing);
}

#[tokio::test]
async fn an_answer_may_have_two_hundred_headers() {
    let headers = (0..200).map(|n| format!("h{n}: x\r\n")).collect::<Vec<_>>().concat();
    let server = Server::start(move |_| answer(&headers, b"page")).await;
    assert_eq!(server.get(&fetcher()).await.unwrap().sink.unwrap().0, b"page");
}

#[tokio::test]
async fn answers_that_are_not_http_are_errors() {
    let raw = |bytes: Vec<u8>| {
        Server::with(move |mut stream| {
            let bytes = bytes.clone();
            async move {
                read_request(&mut stream).await;
                let _ = stream.write_all(&bytes).await;
            }
        })
    };
    let many_headers =
        (0..300).fold(String::from("HTTP/1.1 200 OK\r\n"), |all, n| format!("{all}h{n}: x\r\n"));
    let long_header = format!("HTTP/1.1 200 OK\r\nx: {}\r\n\r\n", "a".repeat(200_000));
    for bytes in [
        b"".to_vec(),
        b"SSH-2.0-OpenSSH_9.9\r\n".to_vec(),
        vec![0; 4_096],
        b"HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort".to_vec(),
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n".to_vec(),
        format!("{many_headers}\r\n").into_bytes(),
        long_header.into_bytes(),
    ] {
        let error = raw(bytes).await.get(&fetcher()).await.unwrap_err();
        assert!(
            matches!(error.problem, Problem::Http(_)) && error.problem.is_temporary(),
            "{error:?}"
        );
        assert!(!error_line::of(&error.problem).contains('\n'));
    }
    let irregular =
        raw(b"HTTP/1.1 299 Hm\r\nbad header: x\r\nserver :y\r\nLocation:/z\r\n\r\nbody".to_vec())
            .await;
    let answer = irregular.get(&fetcher()).await.unwrap();
    assert_eq!((answer.head.status, answer.head.location.as_deref()), (299, Some("/z")));
    assert_eq!(answer.sink.unwrap().0, b"body", "a body without length ends with the connection");
}

#[tokio::test]
async fn a_sink_may_have_enough_or_may_not_be_there() {
    let server = Server::start(|_| answer("", &vec![b'x'; 1 << 20])).await;
    let fetcher = fetcher();
    let cut = fetcher.get(&server.url(), LOOPBACK, |_| Some(Keep(Vec::new(), 10))).await.unwrap();
    assert!((10..200_000).contains(&cut.sink.unwrap().0.len()));
    let unwanted = fetcher.get(&server.url(), LOOPBACK, |_| None::<Keep>).await.unwrap();
    assert!(unwanted.sink.is_none() && unwanted.wire_bytes < 200_000);
    assert_eq!(server.connections(), 2, "neither connection can be used again");
    let small =
        Server::start(|_| b"HTTP/1.1 404 No\r\ncontent-length: 3\r\n\r\nno!".to_vec()).await;
    for _ in 0..3 {
        fetcher.get(&small.url(), LOOPBACK, |_| None::<Keep>).await.unwrap();
    }
    assert_eq!(small.connections(), 1, "a small body is read for the connection's sake");
}

#[tokio::test]
async fn everything_is_sent_from_the_owners_address() {
    let (sender, received) = std::sync::mpsc::channel();
    let server = Server::with(move |mut stream| {
        let sender = sender.clone();
        async move {
            sender.send(stream.peer_addr().unwrap().ip()).unwrap();
            read_request(&mut stream).await;
            let _ = stream.write_all(&answer("", b"")).await;
        }
    })
    .await;
    let own = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 77));
    let bound = Fetcher::new(limits(), "t".into(), Some(own), None, Gate::of(""));
    server.get(&bound).await.unwrap();
    assert_eq!(received.try_recv(), Ok(own));
}

#[tokio::test]
async fn refused_connections_are_errors() {
    let unused = TcpListener::bind((LOOPBACK, 0)).await.unwrap();
    let port = unused.local_addr().unwrap().port();
    drop(unused);
    let url = CrawlUrl::parse(&format!("http://h.example:{port}/")).unwrap();
    let error = fetcher().get(&url, LOOPBACK, keep).await.unwrap_err();
    assert!(matches!(error.problem, Problem::Connect(_)), "{error:?}");
    let tls = CrawlUrl::parse(&format!("https://h.example:{port}/")).unwrap();
    assert!(fetcher().get(&tls, LOOPBACK, keep).await.is_err());
}
