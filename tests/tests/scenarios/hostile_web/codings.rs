//! Bodies in content codings: bombs, and codings that are not what they say.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};

use super::Behaviour;
use super::script::{answer, every_page};

/// Size of a bomb after decoding.
const BOMB: usize = 64 << 20;
/// Zeros in one write to an encoder.
const PIECE: usize = 1 << 20;

const INFLATES: &str = "inflates to more than";
const NOT_DECODED: &str = "cannot be decoded";

pub(super) fn behaviours() -> Vec<Behaviour> {
    let bomb = gzip(&zeros());
    let sound = gzip(b"<p>A sound page.</p>");
    vec![
        coded("gzip bomb", INFLATES, "gzip", &bomb),
        coded("deflate bomb", INFLATES, "deflate", &zlib(&zeros())),
        coded("brotli bomb", INFLATES, "br", &brotli(&zeros())),
        coded("zstd bomb", INFLATES, "zstd", &zstd(&zeros())),
        coded("gzip bomb in gzip", INFLATES, "gzip, gzip", &gzip(&bomb)),
        coded("gzip bomb in brotli", INFLATES, "gzip, br", &brotli(&bomb)),
        coded("nine codings", "9 content encodings", &["gzip"; 9].join(", "), &sound),
        coded("a coding that was not offered", "was not asked for", "compress", &sound),
        coded("gzip that is not gzip", NOT_DECODED, "gzip", b"<p>This is plain text.</p>"),
        coded("brotli that is not brotli", NOT_DECODED, "br", &[0xff; 4_096]),
        coded("zstd that is not zstd", NOT_DECODED, "zstd", &[0x28; 4_096]),
        coded("gzip that ends early", NOT_DECODED, "gzip", &sound[..sound.len() / 2]),
        coded("zstd with a window of gigabytes", NOT_DECODED, "zstd", &LARGE_WINDOW),
    ]
}

/// Magic number, a header with the largest window that the format knows, and a raw block.
const LARGE_WINDOW: [u8; 10] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xff, 0x09, 0x00, 0x00, b'x'];

fn coded(name: &'static str, outcome: &'static str, coding: &str, body: &[u8]) -> Behaviour {
    let headers = ["content-type: text/html", &format!("content-encoding: {coding}")];
    Behaviour::page(name, outcome, every_page(answer("200 OK", &headers, body)))
}

fn zeros() -> Vec<u8> {
    vec![0; BOMB]
}

pub(super) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn brotli(plain: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut encoder = brotli::CompressorWriter::new(&mut coded, PIECE, 1, 22);
    encoder.write_all(plain).unwrap();
    drop(encoder);
    coded
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(plain, 1).unwrap()
}
