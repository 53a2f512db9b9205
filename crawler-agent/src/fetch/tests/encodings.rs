//! Encoded bodies: as they should be, broken, and bombs.

use std::io::Write as _;

use flate2::{Compression, write::GzEncoder};

use super::*;

pub(super) fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn gzip_is_inflated_in_one_or_more_members() {
    let server = Server::start(|n| match n {
        0 => answer("content-encoding: gzip\r\n", &gzip(b"plain text")),
        1 => answer("content-encoding: x-gzip\r\n", &[gzip(b"plain "), gzip(b"text")].concat()),
        _ => answer("content-encoding: gzip\r\n", b""),
    })
    .await;
    let fetcher = fetcher();
    for expected in ["plain text", "plain text", ""] {
        let answer = server.get(&fetcher).await.unwrap();
        assert_eq!(answer.sink.unwrap().0, expected.as_bytes());
    }
}

#[tokio::test]
async fn decompression_bombs_are_cut_off() {
    let bomb = gzip(&vec![0; 30 << 20]);
    assert!(bomb.len() < 64 << 10);
    let server = Server::start(move |_| answer("content-encoding: gzip\r\n", &bomb)).await;
    let error = server.get(&fetcher()).await.unwrap_err();
    assert!(matches!(error.problem, Problem::Bomb(_)), "{error:?}");
    assert!(!error.problem.is_temporary());
    // Random bytes do not compress: the limit is the plain size itself.
    let noise: Vec<u8> =
        (0..3u32 << 20).map(|n| (n.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let packed = gzip(&noise);
    let server = Server::start(move |_| answer("content-encoding: gzip\r\n", &packed)).await;
    let small = limited(Limits { plain_bytes: 2 << 20, ..limits() });
    let error = server.get(&small).await.unwrap_err();
    assert!(matches!(error.problem, Problem::Bomb(most) if most == 2 << 20), "{error:?}");
}

/// A sitemap of 9 MB whose entries differ in a number.
fn regular_sitemap() -> Vec<u8> {
    let entry = |n| {
        let url = format!("https://www.shop.example/catalogue/department/products/item-{n}.html");
        format!(
            "<url><loc>{url}</loc><lastmod>2024-05-01T00:00:00+00:00</lastmod>\
             <changefreq>weekly</changefreq><priority>0.5</priority></url>\n"
        )
    };
    (0..45_000).map(entry).collect::<Vec<_>>().concat().into_bytes()
}

#[tokio::test]
async fn regular_sitemaps_are_no_bombs() {
    let sitemap = regular_sitemap();
    let mut packed = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
    brotli::BrotliCompress(&mut sitemap.as_slice(), &mut packed, &parameters).unwrap();
    assert!(sitemap.len() / packed.len() > 100, "{} to {}", sitemap.len(), packed.len());
    let server = Server::start(move |_| answer("content-encoding: br\r\n", &packed)).await;
    assert!(server.get(&fetcher()).await.unwrap().sink.unwrap().0 == sitemap);
}

#[tokio::test]
async fn bombs_in_every_coding_are_cut_off() {
    let zeros = vec![0; 30 << 20];
    let mut brotli = Vec::new();
    let parameters = brotli::enc::BrotliEncoderParams { quality: 2, ..Default::default() };
    brotli::BrotliCompress(&mut zeros.as_slice(), &mut brotli, &parameters).unwrap();
    let zstd = ruzstd::encoding::compress_to_vec(
        zeros.as_slice(),
        ruzstd::encoding::CompressionLevel::Fastest,
    );
    let twice = gzip(&gzip(&zeros));
    for (encoding, bomb) in [("br", brotli), ("zstd", zstd), ("gzip, gzip", twice)] {
        assert!(bomb.len() < 64 << 10, "{encoding}");
        let header = format!("content-encoding: {encoding}\r\n");
        let server = Server::start(move |_| answer(&header, &bomb)).await;
        let problem = server.problem().await;
        assert!(matches!(problem, Problem::Bomb(_)), "{encoding}: {problem:?}");
    }
}

#[tokio::test]
async fn words_that_are_no_encodings_change_nothing() {
    let server = Server::start(|n| match n {
        0 => answer("content-encoding: utf-8\r\n", b"plain text"),
        1 => answer("content-encoding: none\r\n", b"plain text"),
        2 => answer("content-encoding: 8bit, identity, binary\r\n", b"plain text"),
        _ => answer("content-encoding: gzip, UTF-8\r\n", &gzip(b"plain text")),
    })
    .await;
    let fetcher = fetcher();
    for _ in 0..4 {
        let answer = server.get(&fetcher).await.unwrap();
        assert_eq!(answer.sink.unwrap().0, b"plain text");
    }
}

#[tokio::test]
async fn broken_and_unknown_encodings_are_errors() {
    let server = Server::start(|n| match n {
        0 => answer("content-encoding: gzip\r\n", b"this is no gzip at all"),
        1 => answer("content-encoding: br\r\n", b"nor this br"),
        2 => answer("content-encoding: zstd\r\n", b"and neither is this zstd"),
        3 => answer("content-encoding: gzip\r\n", &gzip(b"cut short")[..20]),
        4 => answer("content-encoding: gzip, gzip, gzip\r\n", b"x"),
        _ => answer("content-encoding: compress\r\n", b"x"),
    })
    .await;
    for n in 0..4 {
        let problem = server.problem().await;
        assert!(matches!(problem, Problem::Inflate(_)), "{problem:?}");
        assert_eq!(problem.is_temporary(), n == 3, "only the one that is cut short: {problem:?}");
    }
    assert!(matches!(server.problem().await, Problem::TooManyEncodings(3)));
    assert!(matches!(server.problem().await, Problem::Encoding(e) if e == "compress"));
}
