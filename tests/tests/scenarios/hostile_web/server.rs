//! Server of all hosts: one listener for each, raw bytes instead of an HTTP library.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::net::TcpListener as StdListener;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::script::{Reply, Request, Step};

/// Largest head of a request.
const HEAD_BYTES: usize = 16 << 10;

/// Requests of one host by path; connections without a request count under an empty path.
pub(super) type Paths = BTreeMap<String, usize>;

/// Hosts that answer until this is dropped.
pub(super) struct Server {
    requests: Arc<Mutex<BTreeMap<IpAddr, Paths>>>,
    serving: JoinSet<()>,
}

impl Server {
    pub(super) fn new() -> Self {
        Self { requests: Arc::default(), serving: JoinSet::new() }
    }

    /// Answers on this listener by `reply`.
    pub(super) fn serve(&mut self, listener: StdListener, reply: Reply) {
        let address = listener.local_addr().unwrap().ip();
        let listener = TcpListener::from_std(listener).unwrap();
        let requests = Arc::clone(&self.requests);
        self.serving.spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((stream, _)) = listener.accept().await {
                let count = {
                    let requests = Arc::clone(&requests);
                    move |path: &str| count(&requests, address, path)
                };
                connections.spawn(talk(stream, Arc::clone(&reply), count));
                while connections.try_join_next().is_some() {}
            }
        });
    }

    /// What the host at this address was asked for.
    pub(super) fn requests(&self, address: IpAddr) -> Paths {
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        requests.get(&address).cloned().unwrap_or_default()
    }
}

fn count(requests: &Mutex<BTreeMap<IpAddr, Paths>>, address: IpAddr, path: &str) {
    let mut requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
    *requests.entry(address).or_default().entry(path.to_owned()).or_default() += 1;
}

/// Reads one request and does what the script says. Whatever the client does to the connection, it
/// only ends.
async fn talk(mut stream: TcpStream, reply: Reply, count: impl Fn(&str)) {
    let request = read_request(&mut stream).await;
    count(&request.path);
    for step in reply(&request) {
        if perform(&mut stream, step).await.is_err() {
            return;
        }
    }
    // Data that is not read yet would turn the close into a reset.
    let _ = stream.shutdown().await;
}

/// The request of a client; an empty path where it sent something else, such as a TLS greeting.
async fn read_request(stream: &mut TcpStream) -> Request {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") && head.len() < HEAD_BYTES {
        let read = stream.read_buf(&mut head).await.unwrap_or(0);
        if read == 0 || !head[0].is_ascii_uppercase() {
            return Request { path: String::new(), authority: String::new() };
        }
    }
    let head = String::from_utf8_lossy(&head);
    let path = head.lines().next().and_then(|line| line.split(' ').nth(1)).unwrap_or_default();
    let host = head.lines().find_map(|line| line.strip_prefix("host: ")).unwrap_or_default();
    Request { path: path.to_owned(), authority: host.to_owned() }
}

async fn perform(stream: &mut TcpStream, step: Step) -> std::io::Result<()> {
    match step {
        Step::Send(bytes) => stream.write_all(&bytes).await,
        Step::Repeat(bytes) => loop {
            stream.write_all(&bytes).await?;
        },
        Step::Trickle(bytes, pause) => loop {
            stream.write_all(&bytes).await?;
            tokio::time::sleep(pause).await;
        },
        Step::Hang => until_closed(stream).await,
        Step::CloseHalf => {
            stream.shutdown().await?;
            until_closed(stream).await
        }
        Step::Reset => {
            stream.set_zero_linger()?;
            Err(std::io::ErrorKind::ConnectionReset.into())
        }
    }
}

async fn until_closed(stream: &mut TcpStream) -> std::io::Result<()> {
    let mut rest = [0; 1_024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}
