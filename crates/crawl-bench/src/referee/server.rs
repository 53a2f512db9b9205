//! HTTP/1.1 for all hosts on one port: a loop a connection, and answers that are ready.

use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::hosts::Hosts;
use super::records::{Records, Resource};
use super::request::{self, Request};
use crate::web::Web;

/// Connections that may wait to be accepted.
const BACKLOG: u32 = 4_096;

/// Longest head of a request, in bytes.
const HEAD_BYTES: usize = 8 << 10;

const NOT_FOUND: &[u8] = b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\n\
    Content-Length: 10\r\nConnection: keep-alive\r\n\r\nnot found\n";
const MISDIRECTED: &[u8] = b"HTTP/1.1 421 Misdirected Request\r\nContent-Length: 0\r\n\r\n";

/// What all connections share.
#[derive(Debug)]
pub(super) struct Server {
    web: Web,
    hosts: Hosts,
    records: RwLock<Arc<Records>>,
    started: Instant,
}

impl Server {
    pub(super) fn new(web: Web) -> Self {
        let hosts = Hosts::new(web.plan());
        let records = RwLock::new(Arc::new(Records::new(web.plan())));
        Self { web, hosts, records, started: Instant::now() }
    }

    /// The records of the crawl that is going on.
    pub(super) fn records(&self) -> Arc<Records> {
        Arc::clone(&self.records.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Starts empty records.
    pub(super) fn reset(&self) {
        let empty = Arc::new(Records::new(self.web.plan()));
        *self.records.write().unwrap_or_else(PoisonError::into_inner) = empty;
    }

    /// Accepts connections until the runtime ends.
    pub(super) async fn serve(self: Arc<Self>, listener: TcpListener) -> io::Result<()> {
        loop {
            let (stream, _) = listener.accept().await?;
            let IpAddr::V4(local) = stream.local_addr()?.ip() else { continue };
            // The socket listens on all interfaces, but the web is only for this machine.
            if !self.hosts.answer_at(local) {
                continue;
            }
            let server = Arc::clone(&self);
            // A client that goes away in the middle is its own business.
            tokio::spawn(async move { drop(server.connection(stream, local).await) });
        }
    }

    async fn connection(&self, mut stream: TcpStream, local: Ipv4Addr) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let records = self.records();
        records.connected();
        let mut buffer = Vec::with_capacity(HEAD_BYTES);
        loop {
            let length = loop {
                match request::head_length(&buffer) {
                    Some(length) => break length,
                    None if buffer.len() >= HEAD_BYTES => return Ok(()),
                    None => {}
                }
                if stream.read_buf(&mut buffer).await? == 0 {
                    return Ok(());
                }
            };
            let Some(request) = request::parse(&buffer[..length]) else { return Ok(()) };
            let keeps_alive = request.keeps_alive;
            self.answer(&mut stream, &request, local, &records).await?;
            if !keeps_alive {
                return Ok(());
            }
            buffer.drain(..length);
        }
    }

    async fn answer(
        &self,
        stream: &mut TcpStream,
        request: &Request<'_>,
        local: Ipv4Addr,
        records: &Records,
    ) -> io::Result<()> {
        let plan = self.web.plan();
        let Some(host) = self.hosts.find(plan, request.host, local) else {
            return stream.write_all(MISDIRECTED).await;
        };
        let what = Resource::of(request.path, plan.pages);
        records.begin(host, what, self.started.elapsed());
        let found = match what {
            Resource::Page(page) => self.web.page(host, page),
            Resource::Robots => Some(self.web.robots()),
            Resource::Forbidden | Resource::Unknown => None,
        };
        let form = found.map(|answer| answer.form(request.accepts_gzip));
        let bytes = match form {
            Some(form) if request.head_only => form.head(),
            Some(form) => form.whole(),
            None => NOT_FOUND,
        };
        let sent = stream.write_all(bytes).await;
        let plain_bytes = found.map_or(0, crate::web::Answer::plain_bytes);
        let wire_bytes = form.map_or(0, crate::web::Form::wire_bytes);
        records.end(host, what, (plain_bytes, wire_bytes), self.started.elapsed());
        sent
    }
}

/// A listener on all addresses of 127.0.0.0/8, which only the wildcard address reaches.
pub(super) fn listen() -> io::Result<TcpListener> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((Ipv4Addr::UNSPECIFIED, 0).into())?;
    socket.listen(BACKLOG)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::web::WebPlan;

    /// Sends `request` on a new connection to `address`, and reads until the server closes it.
    async fn ask(address: Ipv4Addr, port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((address, port)).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[tokio::test]
    async fn requests_of_a_connection_are_answered_and_counted() {
        let plan = WebPlan { hosts: 2, pages: 2, one_address: false, gzip: false };
        let server = Arc::new(Server::new(Web::make(plan).unwrap()));
        let listener = listen().unwrap();
        let port = listener.local_addr().unwrap().port();
        let serving = tokio::spawn(Arc::clone(&server).serve(listener));
        let get = |host: u32, path: &str, more: &str| {
            format!("GET {path} HTTP/1.1\r\nHost: {}:{port}\r\n{more}\r\n", plan.host_name(host))
        };
        let close = "Connection: close\r\n";
        let first = plan.address(0);
        let requests = [get(0, "/robots.txt", ""), get(0, "/", ""), get(0, "/none", close)];
        let answers = ask(first, port, &requests.concat()).await;
        assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 2);
        assert!(answers.contains("Disallow: /private/"));
        assert!(answers.ends_with("not found\n"));
        let head = ask(first, port, &get(0, "/pages/1.html", close).replace("GET", "HEAD")).await;
        assert!(head.ends_with("\r\n\r\n"), "no body");
        let confused = ask(first, port, &(get(1, "/", "") + "\r\n\r\n")).await;
        assert!(confused.contains("421"), "the host is at another address");
        let report = server.records().report();
        assert_eq!((report.requests, report.unique, report.robots), (4, 2, 1));
        assert_eq!((report.unknown, report.connections, report.most_in_flight), (1, 3, 1));
        serving.abort();
        server.reset();
        assert_eq!(server.records().report().requests, 0);
    }
}
