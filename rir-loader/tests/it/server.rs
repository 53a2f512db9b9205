//! A web server on loopback that fails on demand.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use hierarchy::Registry;
use md5::{Digest, Md5};
use rir_loader::fetch::Mirror;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// A wrong answer to one request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fault {
    /// Announces the whole body and closes the connection after so many bytes.
    CutAfter(usize),
    /// Answers with this status and no body.
    Status(u16),
    /// Sends the whole body, whatever range was requested.
    IgnoreRange,
    /// Announces a body of so many bytes.
    Claim(u64),
    /// Answers 503 with a `Retry-After` of so many seconds.
    Later(u32),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Page {
    body: Vec<u8>,
    etag: String,
    faults: VecDeque<Fault>,
}

/// A request as received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    pub(crate) path: String,
    pub(crate) range: Option<String>,
    pub(crate) condition: Option<String>,
    pub(crate) agent: Option<String>,
    if_range: Option<String>,
}

#[derive(Debug, Default)]
struct State {
    pages: HashMap<String, Page>,
    asked: Vec<Request>,
}

#[derive(Debug, Clone)]
pub(crate) struct Server {
    base: String,
    state: Arc<Mutex<State>>,
}

const DATA: &str = "/stats/delegated-apnic-extended-latest";
const SUM: &str = "/stats/delegated-apnic-extended-latest.md5";

impl Server {
    /// Serves an empty site until the runtime ends.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}/stats/", listener.local_addr().unwrap());
        let server = Self { base, state: Arc::default() };
        let state = Arc::clone(&server.state);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                // Clients close connections in the middle of an answer.
                tokio::spawn(serve(stream, Arc::clone(&state)));
            }
        });
        server
    }

    pub(crate) fn mirror(&self) -> Mirror {
        Mirror::at(Registry::Apnic, &self.base).unwrap()
    }

    pub(crate) fn base(&self) -> &str {
        &self.base
    }

    /// Publishes an edition of APNIC's file with its checksum.
    pub(crate) fn publish(&self, body: &[u8], etag: &str) {
        let sum = data_encoding::HEXLOWER.encode(&Md5::digest(body));
        self.put(DATA, body, etag);
        self.put(SUM, format!("MD5 (delegated-apnic-extended) = {sum}\n").as_bytes(), "");
    }

    /// Publishes any file.
    pub(crate) fn publish_at(&self, name: &str, body: &[u8], etag: &str) {
        self.put(&format!("/stats/{name}"), body, etag);
    }

    pub(crate) fn with(&self, name: &str, faults: impl IntoIterator<Item = Fault>) {
        self.state
            .lock()
            .unwrap()
            .pages
            .get_mut(&format!("/stats/{name}"))
            .unwrap()
            .faults
            .extend(faults);
    }

    pub(crate) fn put_sum(&self, text: &str) {
        self.put(SUM, text.as_bytes(), "");
    }

    pub(crate) fn with_data(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state.lock().unwrap().pages.get_mut(DATA).unwrap().faults.extend(faults);
    }

    pub(crate) fn with_sum(&self, faults: impl IntoIterator<Item = Fault>) {
        self.state.lock().unwrap().pages.entry(SUM.to_owned()).or_default().faults.extend(faults);
    }

    /// Requests since the last call.
    pub(crate) fn asked(&self) -> Vec<Request> {
        std::mem::take(&mut self.state.lock().unwrap().asked)
    }

    /// Ranges of the requests for APNIC's file since the last call; "all" for the whole file.
    pub(crate) fn ranges(&self) -> Vec<String> {
        let data = self.asked().into_iter().filter(|asked| asked.path == DATA);
        data.map(|asked| asked.range.unwrap_or_else(|| "all".to_owned())).collect()
    }

    fn put(&self, path: &str, body: &[u8], etag: &str) {
        let page = Page { body: body.to_owned(), etag: etag.to_owned(), faults: VecDeque::new() };
        self.state.lock().unwrap().pages.insert(path.to_owned(), page);
    }
}

async fn serve(stream: TcpStream, state: Arc<Mutex<State>>) -> std::io::Result<()> {
    let mut stream = BufReader::new(stream);
    let mut lines = vec![];
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let answer = answer(&request(&lines), &state);
    stream.write_all(&answer).await?;
    stream.shutdown().await
}

fn request(lines: &[String]) -> Request {
    let header = |name: &str| {
        let found = lines
            .iter()
            .filter_map(|line| line.split_once(": "))
            .find(|(n, _)| n.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_owned())
    };
    let path = lines.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    Request {
        path,
        range: header("range"),
        condition: header("if-none-match").or_else(|| header("if-modified-since")),
        agent: header("user-agent"),
        if_range: header("if-range"),
    }
}

fn answer(asked: &Request, state: &Mutex<State>) -> Vec<u8> {
    let mut state = state.lock().unwrap();
    state.asked.push(asked.clone());
    let Some(page) = state.pages.get_mut(&asked.path) else { return head("404 Not Found", 0, "") };
    let fault = page.faults.pop_front();
    if fault.is_none() && asked.condition.as_ref().is_some_and(|condition| *condition == page.etag)
    {
        return head("304 Not Modified", 0, "");
    }
    let whole = page.body.len();
    let same_edition =
        asked.if_range.is_none() || asked.if_range.as_deref() == Some(page.etag.as_str());
    let ignore = !same_edition || matches!(fault, Some(Fault::IgnoreRange));
    let from =
        asked.range.as_ref().filter(|_| !ignore).and_then(|range| {
            range.strip_prefix("bytes=")?.strip_suffix('-')?.parse::<usize>().ok()
        });
    let mut body = page.body.get(from.unwrap_or(0)..).unwrap_or_default().to_owned();
    let mut length = body.len() as u64;
    let etag = match &page.etag {
        none if none.is_empty() => String::new(),
        tag if tag.ends_with('"') => format!("ETag: {tag}\r\n"),
        date => format!("Last-Modified: {date}\r\n"),
    };
    let (status, range) = match from {
        None => ("200 OK", String::new()),
        Some(from) if from >= whole => {
            ("416 Range Not Satisfiable", format!("Content-Range: bytes */{whole}\r\n"))
        }
        Some(from) => (
            "206 Partial Content",
            format!("Content-Range: bytes {from}-{}/{whole}\r\n", whole - 1),
        ),
    };
    match fault {
        Some(Fault::CutAfter(bytes)) => body.truncate(bytes),
        Some(Fault::Status(code)) => return head(&format!("{code} Whatever"), 0, ""),
        Some(Fault::Claim(bytes)) => length = bytes,
        Some(Fault::Later(seconds)) => {
            return head("503 Service Unavailable", 0, &format!("Retry-After: {seconds}\r\n"));
        }
        Some(Fault::IgnoreRange) | None => {}
    }
    let mut answer = head(status, length, &format!("{etag}{range}"));
    answer.extend_from_slice(&body);
    answer
}

fn head(status: &str, length: u64, extra: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n{extra}\r\n")
        .into_bytes()
}
