//! Bodies over the limits whose beginning is of use.

use super::{encodings::gzip, *};

/// Keeps the beginning of a body.
#[derive(Debug, Default)]
struct Beginning(Vec<u8>);

impl Sink for Beginning {
    fn write(&mut self, bytes: &[u8]) -> Flow {
        self.0.extend_from_slice(bytes);
        Flow::More
    }

    fn held(&self) -> usize {
        self.0.capacity()
    }

    fn takes_beginning(&self) -> bool {
        true
    }
}

async fn beginning(limits: Limits, answer: Vec<u8>) -> Result<Answer<Beginning>, FetchError> {
    let server = Server::start(move |_| answer.clone()).await;
    let open = |_: &Head| Some(Beginning::default());
    limited(limits).get(&server.url(), LOOPBACK, open).await
}

/// Bytes that do not compress.
fn noise(length: u32) -> Vec<u8> {
    (0..length).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect()
}

#[tokio::test]
async fn the_beginning_of_a_list_that_is_too_large_is_kept() {
    let body = noise(300_000);
    let small = Limits { wire_bytes: 100_000, ..limits() };
    let read = beginning(small, answer("", &body)).await.unwrap();
    assert_eq!((read.wire_bytes, read.sink.unwrap().0.as_slice()), (100_000, &body[..100_000]));
    let small = Limits { plain_bytes: 100_000, ..limits() };
    let packed = answer("content-encoding: gzip\r\n", &gzip(&body));
    let kept = beginning(small, packed).await.unwrap().sink.unwrap().0;
    assert!((90_000..=100_000).contains(&kept.len()) && body.starts_with(&kept), "{}", kept.len());
}

#[tokio::test]
async fn of_a_bomb_nothing_is_kept() {
    let bomb = gzip(&vec![0; 30 << 20]);
    let error = beginning(limits(), answer("content-encoding: gzip\r\n", &bomb)).await.unwrap_err();
    assert!(matches!(error.problem, Problem::Bomb(_)), "{error:?}");
}
