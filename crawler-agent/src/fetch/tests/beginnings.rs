//! Bodies over the limits whose beginning is of use.

use super::{encodings::gzip, *};
use crate::page::{self, PageSink};

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

    fn takes_beginning(&self) -> Option<bool> {
        Some(true)
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
    assert!((240_000..=250_000).contains(&kept.len()) && body.starts_with(&kept), "{}", kept.len());
}

#[tokio::test]
async fn of_a_bomb_nothing_is_kept() {
    let bomb = gzip(&vec![0; 30 << 20]);
    let error = beginning(limits(), answer("content-encoding: gzip\r\n", &bomb)).await.unwrap_err();
    assert!(matches!(error.problem, Problem::Bomb(_)), "{error:?}");
}

/// The links of a body of 300,000 bytes of which 100,000 may be read.
async fn links(headers: &'static str, beginning: &str, rest: &str) -> Result<usize, Problem> {
    let mut body = beginning.to_owned();
    while body.len() < 300_000 {
        body.push_str(rest);
    }
    let server = Server::start(move |_| {
        // Without a length the size is not known before the end.
        let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\n{headers}\r\n");
        [head.as_bytes(), body.as_bytes()].concat()
    });
    let server = server.await;
    let small = Limits { wire_bytes: 100_000, ..limits() };
    let open = |head: &Head| PageSink::open(&server.url(), head);
    let read = limited(small).get(&server.url(), LOOPBACK, open).await;
    let Answer { head, sink, .. } = read.map_err(|error| error.problem)?;
    Ok(page::content(&server.url(), head, sink, model::UnixMillis(0)).links.len())
}

#[tokio::test]
async fn the_beginning_of_the_text_decides_whether_it_is_of_use() {
    const LIST: (&str, &str) = ("<?xml version='1.0'?><urlset>", "<url><loc>/a</loc></url>");
    const PAGE: (&str, &str) = ("<!doctype html><title>T</title>", "<p><a href=/b>text</a></p>");
    for headers in [
        "content-type: text/html\r\n",
        "content-type: text/plain\r\n",
        "content-type: text/html\r\ncontent-length: 300000\r\n",
        "",
    ] {
        assert_eq!(links(headers, LIST.0, LIST.1).await.ok(), Some(1), "{headers}");
    }
    for headers in [
        "content-type: text/html\r\n",
        "content-type: text/html\r\ncontent-length: 300000\r\n",
        "",
        "content-length: 300000\r\n",
    ] {
        let problem = links(headers, PAGE.0, PAGE.1).await.unwrap_err();
        assert!(matches!(problem, Problem::TooLarge(100_000)), "{headers}: {problem:?}");
    }
}

#[tokio::test]
async fn a_body_that_is_too_large_by_its_length_may_end_at_once() {
    let server = Server::with(async |mut stream| {
        read_request(&mut stream).await.unwrap();
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n<p>";
        stream.write_all(answer).await.unwrap();
    })
    .await;
    let open = |head: &Head| PageSink::open(&server.url(), head);
    let Err(error) = limited(limits()).get(&server.url(), LOOPBACK, open).await else {
        panic!("a terabyte was read")
    };
    assert!(matches!(error.problem, Problem::TooLarge(_)), "{error:?}");
}

#[tokio::test]
async fn of_a_page_that_is_too_large_little_is_read() {
    let page = format!("<!doctype html>{}", "<p>text</p>".repeat(100_000)).into_bytes();
    let server = Server::start(move |_| answer("content-type: text/html\r\n", &page.clone())).await;
    let small = Limits { wire_bytes: 1_000_000, ..limits() };
    let open = |head: &Head| PageSink::open(&server.url(), head);
    let Err(error) = limited(small).get(&server.url(), LOOPBACK, open).await else {
        panic!("a page that is too large was read")
    };
    assert!(error.wire_bytes < 500_000, "{} bytes", error.wire_bytes);
}
