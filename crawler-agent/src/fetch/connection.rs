//! A connection to a host, and one request over it.
//!
//! The state of hyper, with 16 KiB of buffers, exists only while a request is in progress: of a
//! kept connection only the stream remains. The task that fetches drives the connection itself, so
//! that no other task is woken for it.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Empty};
use hyper::{
    Request, Response,
    body::{Body as _, Frame, Incoming},
    client::conn::http1::{self, SendRequest},
};
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    task::coop::unconstrained,
};

use super::metered::Pauses;

/// Most headers of an answer. [`MAX_HEAD_BYTES`] bounds them as well.
const MAX_HEADERS: usize = 256;
/// Largest head of an answer, and largest single read, in bytes.
const MAX_HEAD_BYTES: usize = 64 << 10;

type NoBody = Empty<Bytes>;

/// A request as it is sent.
pub(super) type OutgoingRequest = Request<NoBody>;

/// Why a request has no answer.
pub(super) enum SendError {
    /// The connection had ended before anything of this request was sent.
    Unsent(Box<OutgoingRequest>),
    Http(hyper::Error),
}

/// TCP, or TLS over it.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A connection without a request in progress.
pub(super) struct Connection {
    stream: Box<dyn Stream>,
    pauses: Pauses,
}

/// The body of an answer, with the connection over which it arrives.
pub(super) struct ArrivingBody {
    body: Incoming,
    sender: SendRequest<NoBody>,
    driver: Driver,
    pauses: Pauses,
}

/// What reads and writes while a request is in progress; none after the end of the connection.
struct Driver(Option<http1::Connection<TokioIo<Box<dyn Stream>>, NoBody>>);

impl Connection {
    pub(super) fn new(stream: Box<dyn Stream>, pauses: Pauses) -> Self {
        Self { stream, pauses }
    }

    /// Pauses of the connection because of the owner's bandwidth.
    pub(super) fn pauses(&self) -> Pauses {
        self.pauses.clone()
    }

    /// Whether the host has closed it, or sent something without a request. A pause for the owner's
    /// bandwidth begins only when something has arrived.
    pub(super) fn has_ended(&mut self) -> bool {
        let mut byte = [0];
        let mut cx = Context::from_waker(Waker::noop());
        let read = Pin::new(&mut self.stream).poll_read(&mut cx, &mut ReadBuf::new(&mut byte));
        read.is_ready() || self.pauses.has_unread()
    }

    /// Sends a request and waits for the head of its answer.
    pub(super) async fn send(
        self,
        request: OutgoingRequest,
    ) -> Result<(Response<()>, ArrivingBody), SendError> {
        let (mut sender, mut driver) = begin(self.stream).await.map_err(SendError::Http)?;
        let answered = driver.run(sender.try_send_request(request)).await;
        let (head, body) = answered
            .map_err(|mut failed| match failed.take_message() {
                Some(unsent) => SendError::Unsent(Box::new(unsent)),
                None => SendError::Http(failed.into_error()),
            })?
            .into_parts();
        let body = ArrivingBody { body, sender, driver, pauses: self.pauses };
        Ok((Response::from_parts(head, ()), body))
    }
}

/// Begins HTTP/1.1 on a stream. Errors that real servers make in headers are tolerated.
async fn begin(stream: Box<dyn Stream>) -> hyper::Result<(SendRequest<NoBody>, Driver)> {
    let mut builder = http1::Builder::new();
    builder
        .max_headers(MAX_HEADERS)
        .max_buf_size(MAX_HEAD_BYTES)
        .allow_obsolete_multiline_headers_in_responses(true)
        .allow_spaces_after_header_name_in_responses(true)
        .ignore_invalid_headers_in_responses(true);
    let (sender, connection) = builder.handshake(TokioIo::new(stream)).await?;
    Ok((sender, Driver(Some(connection))))
}

impl Driver {
    /// Reads and writes until `work` is done.
    async fn run<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);
        poll_fn(|cx| {
            // Polled first, because hyper reads a body only once it is waited for.
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(done);
            }
            let connection = self.0.as_mut();
            if connection.is_some_and(|connection| connection.poll_without_shutdown(cx).is_ready())
            {
                // `work` has the error of the connection. Where it still waits for an answer, it
                // learns that there will be none.
                self.0 = None;
            }
            work.as_mut().poll(cx)
        })
        .await
    }
}

impl ArrivingBody {
    /// Size of the body, where the head of the answer has it.
    pub(super) fn size(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// The next part of the body; none at its end.
    pub(super) async fn frame(&mut self) -> Option<hyper::Result<Frame<Bytes>>> {
        self.driver.run(self.body.frame()).await
    }

    /// The connection for the next request, once the body has ended; none where host or answer
    /// ended the connection.
    pub(super) async fn into_connection(self) -> Option<Connection> {
        let mut http = self.driver.0?;
        let mut sender = Some(self.sender);
        let is_given_back = poll_fn(|cx| {
            let has_ended = http.poll_without_shutdown(cx).is_ready();
            if has_ended || !sender.take().is_some_and(|sender| sender.is_ready()) {
                return Poll::Ready(false);
            }
            // Without its sender, hyper lets go of the stream. Nothing is waited for: a connection
            // that is not idle now is closed.
            let given_back = http.poll_without_shutdown(cx);
            Poll::Ready(matches!(given_back, Poll::Ready(Ok(()))))
        });
        // The task may have used up its budget, which would look like a busy connection.
        if !unconstrained(is_given_back).await || self.pauses.has_unread() {
            return None;
        }
        let parts = http.into_parts();
        let stream = parts.io.into_inner();
        parts.read_buf.is_empty().then(|| Connection::new(stream, self.pauses))
    }
}
