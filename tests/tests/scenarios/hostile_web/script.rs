//! Scripts: what a server does on a connection after a request, step by step.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

/// A pause between pieces that keeps a connection alive and its client waiting.
pub(super) const SLOW: Duration = Duration::from_millis(200);

/// Paths that the agent asks every host for.
pub(super) const ASKED_OF_ALL: [&str; 2] = ["/robots.txt", "/sitemap.xml"];

/// One step of a server.
#[derive(Debug, Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Send(Bytes),
    /// Sends these bytes again and again, until the client leaves.
    Repeat(Bytes),
    /// Sends these bytes again and again, with a pause after each time.
    Trickle(Bytes, Duration),
    /// Sends nothing more and waits until the client leaves.
    Hang,
    /// Closes the sending direction only and waits until the client leaves.
    CloseHalf,
    /// Ends the connection with a reset.
    Reset,
}

/// A request as far as scripts look at it.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Path with the query.
    pub(crate) path: String,
    /// Host and port by which the client knows the server.
    pub(crate) authority: String,
}

impl Request {
    /// A URL of the same port on another host.
    pub(super) fn url_on(&self, host: impl Display, path: &str) -> String {
        let port = self.authority.rsplit(':').next().unwrap_or_default();
        format!("http://{host}:{port}{path}")
    }
}

/// The script for a request. After its last step the connection is closed.
pub(crate) type Reply = Arc<dyn Fn(&Request) -> Vec<Step> + Send + Sync>;

/// Does the same for every request, robots.txt included.
pub(super) fn steps(steps: Vec<Step>) -> Reply {
    Arc::new(move |_| steps.clone())
}

/// Answers each path with the steps that `of` makes of it. What every host is asked for is missing.
pub(super) fn pages(of: impl Fn(&Request) -> Vec<Step> + Send + Sync + 'static) -> Reply {
    Arc::new(move |request| {
        if ASKED_OF_ALL.contains(&request.path.as_str()) { vec![missing()] } else { of(request) }
    })
}

/// Answers every page with these bytes.
pub(super) fn every_page(bytes: impl Into<Bytes>) -> Reply {
    every_page_does(vec![Step::Send(bytes.into())])
}

/// Answers every page with these steps.
pub(super) fn every_page_does(steps: Vec<Step>) -> Reply {
    pages(move |_| steps.clone())
}

/// An answer with these header lines and this body, of which it tells the true length.
pub(super) fn answer(status: &str, headers: &[&str], body: &[u8]) -> Bytes {
    let mut head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for header in headers {
        head.push_str(header);
        head.push_str("\r\n");
    }
    head.push_str("\r\n");
    [head.as_bytes(), body].concat().into()
}

/// A page of HTML.
pub(crate) fn page(html: &str) -> Step {
    Step::Send(answer("200 OK", &["content-type: text/html; charset=utf-8"], html.as_bytes()))
}

/// The head of a page of HTML whose length is not told.
pub(super) fn head_of_page() -> Step {
    send_text("HTTP/1.1 200 OK\r\ncontent-type: text/html; charset=utf-8\r\n\r\n")
}

pub(super) fn send_text(text: &'static str) -> Step {
    Step::Send(Bytes::from_static(text.as_bytes()))
}

pub(super) fn redirect(to: &str) -> Step {
    Step::Send(answer("302 Found", &[&format!("location: {to}")], b""))
}

pub(super) fn missing() -> Step {
    Step::Send(answer("404 Not Found", &[], b""))
}
