//! Bodies of requests from peers: few are read at the same time, because each may take the memory
//! of a bundle, and its sender is known only after it was read. An address has a share of the
//! places, and keeps one only while its body arrives, so that strangers do not keep peers out.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody as _},
    extract::Request,
    http::StatusCode,
};
use futures_util::StreamExt as _;
use region::relay::{RELAY_BYTES, RELAY_FILL};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit},
    time::{Instant, timeout, timeout_at},
};

use super::connections::ClientAddress;
use crate::lock::lock;

/// Longest body without a bundle: envelopes up to the filling, and a last one.
const SMALL_BYTES: u64 = 2 * RELAY_FILL as u64;
/// Small bodies at the same time: of all peers, and of one address.
const SMALL: usize = 32;
const SMALL_OF_ONE: usize = 4;
/// Bodies with bundles at the same time: of all peers, and of one address.
const LARGE: usize = 2;
const LARGE_OF_ONE: usize = 1;
/// Time limit of a body with its wait for a place: that of the sender.
const READING: Duration = Duration::from_mins(1);
/// Time for a body to begin, and by which it may be late.
const PAUSE: Duration = Duration::from_secs(10);
/// Least rate of a body, in bytes a second.
const LEAST_RATE: u64 = 8 << 10;

/// A body, with the place that its memory takes.
pub(super) type PlacedBody<'a> = (Bytes, Place<'a>);

/// A place for a body; free again when it is dropped.
#[derive(Debug)]
pub(super) struct Place<'a> {
    _of_all: SemaphorePermit<'a>,
    _of_address: OwnedSemaphorePermit,
}

/// Places for the bodies that are being read.
pub(super) struct BodyReader {
    small: Places,
    large: Places,
}

/// Places for bodies of one kind.
struct Places {
    all: Semaphore,
    of_one: usize,
    by_address: Mutex<HashMap<IpAddr, Weak<Semaphore>>>,
}

impl BodyReader {
    pub(super) fn new() -> Self {
        Self { small: Places::new(SMALL, SMALL_OF_ONE), large: Places::new(LARGE, LARGE_OF_ONE) }
    }

    /// Reads a body, which must say its length.
    pub(super) async fn read(
        &self,
        from: ClientAddress,
        request: Request,
    ) -> Result<PlacedBody<'_>, StatusCode> {
        let length = request.body().size_hint().exact().ok_or(StatusCode::LENGTH_REQUIRED)?;
        if length > RELAY_BYTES as u64 {
            return Err(StatusCode::PAYLOAD_TOO_LARGE);
        }
        let places = if length <= SMALL_BYTES { &self.small } else { &self.large };
        let reading = async {
            let place = places.take(from).await.ok_or(StatusCode::SERVICE_UNAVAILABLE)?;
            Ok((receive(request.into_body(), length).await?, place))
        };
        timeout(READING, reading).await.unwrap_or(Err(StatusCode::REQUEST_TIMEOUT))
    }
}

impl Places {
    fn new(all: usize, of_one: usize) -> Self {
        Self { all: Semaphore::new(all), of_one, by_address: Mutex::default() }
    }

    /// A place, as soon as one of the address and one of all is free.
    async fn take(&self, from: ClientAddress) -> Option<Place<'_>> {
        // First, so that what waits for the places of all are at most the shares of addresses.
        let of_address = self.of_address(from.0).acquire_owned().await.ok()?;
        let of_all = self.all.acquire().await.ok()?;
        Some(Place { _of_all: of_all, _of_address: of_address })
    }

    /// The places of one address, while any body of it waits or is read.
    fn of_address(&self, address: IpAddr) -> Arc<Semaphore> {
        let mut by_address = lock(&self.by_address);
        by_address.retain(|_, places| places.strong_count() > 0);
        if let Some(places) = by_address.get(&address).and_then(Weak::upgrade) {
            return places;
        }
        let places = Arc::new(Semaphore::new(self.of_one));
        by_address.insert(address, Arc::downgrade(&places));
        places
    }
}

/// Receives a body of this length, which must arrive at the rate that it needs to be in time.
async fn receive(body: Body, length: u64) -> Result<Bytes, StatusCode> {
    let rate = LEAST_RATE.max(length / READING.as_secs());
    let begin = Instant::now();
    let mut stream = body.into_data_stream();
    let mut received = Vec::new();
    loop {
        let deadline = begin + PAUSE + Duration::from_secs(received.len() as u64 / rate);
        let next = timeout_at(deadline, stream.next()).await;
        let Some(chunk) = next.map_err(|_| StatusCode::REQUEST_TIMEOUT)? else {
            return Ok(received.into());
        };
        let chunk = chunk.map_err(|_| StatusCode::BAD_REQUEST)?;
        if (received.len() + chunk.len()) as u64 > length {
            return Err(StatusCode::BAD_REQUEST);
        }
        received.extend_from_slice(&chunk);
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

    fn client(number: u8) -> ClientAddress {
        ClientAddress(IpAddr::from([192, 0, 2, number]))
    }

    fn request(body: impl Into<Body>) -> Request {
        Request::new(body.into())
    }

    fn stalled(length: u64) -> Request {
        request(Body::new(Stalled(length)))
    }

    /// A body that comes in pieces, with a pause before each.
    fn slow(pieces: u64, piece: usize, pause: Duration) -> Request {
        let stream = futures_util::stream::unfold(0, move |sent| async move {
            tokio::time::sleep(pause).await;
            (sent < pieces).then(|| (Ok::<_, std::convert::Infallible>(vec![0; piece]), sent + 1))
        });
        let length = pieces * piece as u64;
        request(Body::new(Announced(Body::from_stream(stream), length)))
    }

    /// A body that says its length.
    struct Announced(Body, u64);

    impl hyper::body::Body for Announced {
        type Data = Bytes;
        type Error = axum::Error;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
            Pin::new(&mut self.0).poll_frame(context)
        }

        fn size_hint(&self) -> SizeHint {
            SizeHint::with_exact(self.1)
        }
    }

    #[tokio::test(start_paused = true)]
    async fn bodies_that_do_not_come_end_and_leave_places_to_others() {
        let reader = BodyReader::new();
        let large = SMALL_BYTES + 1;
        let (one, two, small) = tokio::join!(
            reader.read(client(1), stalled(large)),
            reader.read(client(2), stalled(large)),
            reader.read(client(1), request("envelopes")),
        );
        assert_eq!(one.unwrap_err(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(two.unwrap_err(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(small.unwrap().0, "envelopes");
        let bundle = vec![0; SMALL_BYTES as usize + 1];
        let read = reader.read(client(3), request(bundle)).await.unwrap();
        assert_eq!(read.0.len() as u64, large);
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_does_not_hold_all_places() {
        let reader = BodyReader::new();
        for (length, held) in [(SMALL_BYTES + 1, LARGE), (SMALL_BYTES, SMALL)] {
            let stalling = (0..held).map(|_| reader.read(client(1), stalled(length)));
            let stalling = futures_util::future::join_all(stalling);
            let body = vec![0; length as usize];
            let begin = Instant::now();
            tokio::select! {
                biased;
                _ = stalling => panic!("the body of another address waited for them"),
                read = reader.read(client(2), request(body)) => drop(read.unwrap()),
            }
            assert_eq!(begin.elapsed(), Duration::ZERO);
        }
        let places = reader.small.by_address.lock().unwrap();
        assert!(places.values().all(|places| places.strong_count() == 0));
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_arrives_too_slowly_loses_its_place() {
        let reader = BodyReader::new();
        let begin = Instant::now();
        let read = reader.read(client(1), slow(60, 1, Duration::from_millis(900))).await;
        assert_eq!(read.unwrap_err(), StatusCode::REQUEST_TIMEOUT);
        assert_eq!(begin.elapsed(), PAUSE);
        let second = Duration::from_secs(1);
        let read = reader.read(client(1), slow(30, LEAST_RATE as usize, second)).await;
        assert_eq!(read.unwrap().0.len() as u64, 30 * LEAST_RATE);
        let read = reader.read(client(1), slow(30, 100 << 10, second)).await;
        assert_eq!(read.unwrap().0.len(), 3_000 << 10, "a bundle at the rate that it needs");
        let read = reader.read(client(1), slow(300, 10 << 10, second)).await;
        assert_eq!(read.unwrap_err(), StatusCode::REQUEST_TIMEOUT, "it would take five minutes");
    }

    #[tokio::test]
    async fn a_body_says_its_length_and_is_not_too_long() {
        let reader = BodyReader::new();
        let unknown = Body::from_stream(futures_util::stream::pending::<
            Result<Bytes, std::convert::Infallible>,
        >());
        let refused = reader.read(client(1), request(unknown)).await.unwrap_err();
        assert_eq!(refused, StatusCode::LENGTH_REQUIRED);
        let refused = reader.read(client(1), stalled(RELAY_BYTES as u64 + 1)).await.unwrap_err();
        assert_eq!(refused, StatusCode::PAYLOAD_TOO_LARGE);
    }
}
