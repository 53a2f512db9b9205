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
    Content-Length: 10\r\n\r\nnot found\n";
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
