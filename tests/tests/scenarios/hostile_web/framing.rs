//! Messages whose framing lies, or never ends.

use bytes::Bytes;

use super::Behaviour;
use super::script::{Step, answer, every_page, every_page_does, send_text};

const NOT_HTTP: &str = "no complete HTTP answer";
const TOO_LARGE: &str = "the body has more than";

pub(super) fn behaviours() -> Vec<Behaviour> {
    [heads(), lengths(), chunks(), others()].into_iter().flatten().collect()
}

/// Answers every page with this text.
fn says(name: &'static str, outcome: &'static str, text: &'static str) -> Behaviour {
    Behaviour::page(name, outcome, every_page(text))
}

/// Answers every page with a start and then the same piece for ever.
fn repeats(
    name: &'static str,
    outcome: &'static str,
    start: &'static str,
    piece: &[u8],
) -> Behaviour {
    let steps = vec![send_text(start), Step::Repeat(Bytes::copy_from_slice(piece))];
    Behaviour::page(name, outcome, every_page_does(steps))
}

fn heads() -> Vec<Behaviour> {
    let header = b"x-more: 0123456789012345678901234567890123456789\r\n";
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x-one: 1\r\n".repeat(300));
    vec![
        repeats("endless headers", NOT_HTTP, "HTTP/1.1 200 OK\r\n", header),
        repeats("one endless header", NOT_HTTP, "HTTP/1.1 200 OK\r\nx-more: ", &[b'a'; 4_096]),
        repeats("endless status line", NOT_HTTP, "HTTP/1.1 200 ", &[b'O'; 4_096]),
        Behaviour::page("three hundred headers", NOT_HTTP, every_page(many)),
        says(
            "header with NUL",
            NOT_HTTP,
            "HTTP/1.1 200 OK\r\nx-nul: a\0b\r\ncontent-type: text/html\r\n\
             content-length: 3\r\n\r\n<p>",
        ),
        says("status that is no number", NOT_HTTP, "HTTP/1.1 abc OK\r\n\r\n"),
        says("HTTP/9.9", NOT_HTTP, "HTTP/9.9 200 OK\r\n\r\n"),
        says("HTTP/0.9", NOT_HTTP, "<html><p>A page without a head.</html>"),
        says("HTTP/2", NOT_HTTP, "\0\0\u{12}\u{4}\0\0\0\0\0\0\u{3}\0\0\0d\0\u{4}\0\0\u{ff}"),
        says("garbage", NOT_HTTP, "\u{1}\u{2}\u{3}\r\n\0\0\0\r\n\r\n\u{7}garbage"),
    ]
}

fn lengths() -> Vec<Behaviour> {
    let unbounded = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n";
    let smuggled = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 3\r\n\r\n<p>\
                    HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\n<p>No.";
    vec![
        says(
            "length longer than the body",
            NOT_HTTP,
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 999\r\n\r\n<p>Short.",
        ),
        says("length shorter than the body", "200", smuggled),
        says(
            "two lengths",
            NOT_HTTP,
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 3\r\n\
             content-length: 9\r\n\r\n<p>hello!",
        ),
        says("length that is no number", NOT_HTTP, "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n"),
        says("negative length", NOT_HTTP, "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n"),
        says(
            "length of a terabyte",
            TOO_LARGE,
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 1000000000000\r\n\r\n",
        ),
        repeats("endless body", TOO_LARGE, unbounded, &[b'x'; 1 << 16]),
        says("200 without a body", "200", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"),
        says("304 that nobody asked for", "304", "HTTP/1.1 304 Not Modified\r\n\r\n"),
    ]
}

fn chunks() -> Vec<Behaviour> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ntransfer-encoding: chunked\r\n\r\n";
    let chunked = |name, chunks: &str| {
        let text = format!("{head}{chunks}");
        Behaviour::page(name, NOT_HTTP, every_page(text))
    };
    let then_repeats = |name, outcome, start: &str, piece: &str| {
        let steps = vec![
            Step::Send(format!("{head}{start}").into()),
            Step::Repeat(Bytes::copy_from_slice(piece.as_bytes())),
        ];
        Behaviour::page(name, outcome, every_page_does(steps))
    };
    vec![
        chunked("chunk longer than its size", "5\r\nhello, world\r\n0\r\n\r\n"),
        chunked("chunk shorter than its size", "ff\r\nhello"),
        chunked("chunk size beyond 64 bits", "fffffffffffffffff\r\nx"),
        chunked("chunk size that is no number", "zz\r\nhello\r\n"),
        chunked("chunks without an end", "5\r\nhello\r\n"),
        then_repeats("endless chunk extension", NOT_HTTP, "5;", "extension"),
        then_repeats("endless trailers", NOT_HTTP, "5\r\nhello\r\n0\r\n", "x-more: 1\r\n"),
        Behaviour::page(
            "chunks of one byte",
            "200",
            every_page(format!("{head}{}0\r\n\r\n", "1\r\nx\r\n".repeat(20_000))),
        ),
    ]
}

fn others() -> Vec<Behaviour> {
    vec![
        repeats("endless interim answers", "no answer in time", "", INTERIM),
        says(
            "switch of protocols",
            "101",
            "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
        ),
        Behaviour::page(
            "429 for ten thousand years",
            "429",
            every_page(answer("429 Too Many Requests", &["retry-after: 315360000000"], b"")),
        )
        .with_requests(1, 1),
        Behaviour::page(
            "503 with a negative pause",
            "503",
            every_page(answer("503 Slow Down", &["retry-after: -99999999999999999999"], b"")),
        ),
    ]
}

const INTERIM: &[u8] = b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n";
