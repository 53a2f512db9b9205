//! Bodies of requests from peers: few are read at the same time, because each may take the memory
//! of a bundle and whoever sends it is known only when it was read.

use std::time::Duration;

use axum::{
    body::{Bytes, HttpBody as _, to_bytes},
    extract::Request,
    http::StatusCode,
};
use region::relay::{RELAY_BYTES, RELAY_FILL};
use tokio::sync::{Semaphore, SemaphorePermit};

/// Longest body without a bundle: envelopes up to the filling, and a last one.
const SMALL_BYTES: u64 = 2 * RELAY_FILL as u64;
/// Small bodies at the same time.
const SMALL: usize = 32;
/// Bodies with bundles at the same time.
const LARGE: usize = 2;
/// Time limit of a body with its wait for a place: that of the sender.
const READING: Duration = Duration::from_mins(1);

/// A body, with the place that its memory takes.
pub(super) type Body<'a> = (Bytes, SemaphorePermit<'a>);

/// Places for the bodies that are being read.
pub(super) struct BodyReader {
    small: Semaphore,
    large: Semaphore,
}

impl BodyReader {
    pub(super) fn new() -> Self {
        Self { small: Semaphore::new(SMALL), large: Semaphore::new(LARGE) }
    }

    /// Reads a body, which must say its length.
    pub(super) async fn read(&self, request: Request) -> Result<Body<'_>, StatusCode> {
        let length = request.body().size_hint().exact().ok_or(StatusCode::LENGTH_REQUIRED)?;
        if length > RELAY_BYTES as u64 {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let places = if length <= SMALL_BYTES { &self.small } else { &self.large };
        let reading = async {
            let place = places.acquire().await.map_err(|_| StatusCode::SERVICE_UNAVAILABLE)?;
            let body = to_bytes(request.into_body(), RELAY_BYTES).await;
            Ok((body.map_err(|_| StatusCode::BAD_REQUEST)?, place))
        };
        tokio::time::timeout(READING, reading).await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use hyper::body::{Frame, SizeHint};

    use super::*;

    /// A body of some length that never comes.
    struct Stalled(u64);

    impl hyper::body::Body for Stalled {
        type Data = Bytes;
        type Error = std::convert::Infallible;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
            Poll::Pending
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.0)
        }
    }

    fn request(body: impl Into<axum::body::Body>) -> Request {
        Request::new(body.into())
    }

    fn stalled(length: u64) -> Request {
        request(axum::body::Body::new(Stalled(length)))
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_that_do_not_come_end_and_leave_places_to_others() {
        let reader = BodyReader::new();
        let large = SMALL_BYTES + 1;
        let (one, two, small) = tokio::join!(
            reader.read(stalled(large)),
            reader.read(stalled(large)),
            reader.read(request("envelopes")),
        );
        assert_eq!(one.unwrap_err(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(two.unwrap_err(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(small.unwrap().0, "envelopes");
        let bundle = vec![0; SMALL_BYTES as usize + 1];
        assert_eq!(reader.read(request(bundle)).await.unwrap().0.len() as u64, large);
    }

    #[tokio::test]
    async fn a_body_says_its_length_and_is_not_too_long() {
        let reader = BodyReader::new();
        let unknown = axum::body::Body::from_stream(futures_util::stream::pending::<
            Result<Bytes, std::convert::Infallible>,
        >());
        let refused = reader.read(request(unknown)).await.unwrap_err();
        assert_eq!(refused, StatusCode::LENGTH_REQUIRED);
        let refused = reader.read(stalled(RELAY_BYTES as u64 + 1)).await.unwrap_err();
        assert_eq!(refused, StatusCode::PAYLOAD_TOO_LARGE);
    }
}
