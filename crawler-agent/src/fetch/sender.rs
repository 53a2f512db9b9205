//! Sending half of a connection.

use bytes::Bytes;
use http_body_util::Empty;
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::{TrySendError, http1::SendRequest},
};

use super::metered::Pauses;

type Body = Empty<Bytes>;

/// Sends requests over a connection, one after the other.
pub(crate) struct Sender {
    http: SendRequest<Body>,
    pauses: Pauses,
}

impl Sender {
    pub(super) fn new(http: SendRequest<Body>, pauses: Pauses) -> Self {
        Self { http, pauses }
    }

    /// Pauses of the connection because of the owner's bandwidth.
    pub(super) fn pauses(&self) -> Pauses {
        self.pauses.clone()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.http.is_closed()
    }

    /// Sends a request; an error holds the request if nothing of it was sent.
    pub(super) async fn send(
        &mut self,
        request: Request<Body>,
    ) -> Result<Response<Incoming>, TrySendError<Request<Body>>> {
        self.http.try_send_request(request).await
    }
}
