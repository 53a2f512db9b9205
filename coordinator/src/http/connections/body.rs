//! The body of a response, which ends its request.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::handle::RequestInProgress;

/// A body that keeps its request in progress until it is sent or dropped.
pub(super) struct ResponseBody {
    body: Body,
    _request: RequestInProgress,
}

impl ResponseBody {
    pub(super) fn new(body: Body, request: RequestInProgress) -> Self {
        Self { body, _request: request }
    }
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
