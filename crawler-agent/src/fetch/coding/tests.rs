use std::io::Write as _;

use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

/// Most bytes between two codings in these tests.
const BETWEEN: u64 = 1 << 20;

fn encode(coding: &str, plain: &[u8]) -> Vec<u8> {
    let level = Compression::default();
    match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "deflate" => {
            let mut encoder = ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(plain).unwrap();
            encoder.finish().unwrap()
        }
        "br" => {
            let mut coded = Vec::new();
            let parameters =
                ::brotli::enc::BrotliEncoderParams { quality: 5, ..Default::default() };
            ::brotli::BrotliCompress(&mut &*plain, &mut coded, &parameters).unwrap();
            coded
        }
        "zstd" => compress_to_vec(plain, CompressionLevel::Fastest),
        other => panic!("no encoder for {other}"),
    }
}

/// Decodes a body that arrives in chunks of `size` bytes; returns it, and the largest window that
/// was wanted, with the other memory of its decoder.
fn decode(header: &str, coded: &[u8], size: usize) -> Result<(Vec<u8>, usize), Problem> {
    decode_with(Chain::new(Some(header), BETWEEN)?, coded, size)
}

fn decode_with(mut chain: Chain, coded: &[u8], size: usize) -> Result<(Vec<u8>, usize), Problem> {
    let mut plain = Vec::new();
    let mut wanted = 0;
    let mut piece = vec![0; PIECE_BYTES];
    for chunk in coded.chunks(size) {
        chain.push(chunk);
        loop {
            match chain.next(&mut piece)? {
                Next::Piece(bytes) => plain.extend_from_slice(&piece[..bytes]),
                Next::Wants => {
                    wanted = wanted.max(chain.held());
                    chain.grant();
                }
                Next::Empty => break,
            }
        }
    }
    if chain.is_complete() { Ok((plain, wanted)) } else { Err(Problem::Closed) }
}

fn page(bytes: usize) -> Vec<u8> {
    let words = (0_u64..).map(|n| format!("<p>word {} ", n.wrapping_mul(2_654_435_761) % 9_973));
    let mut page = Vec::new();
    for word in words {
        page.extend_from_slice(word.as_bytes());
        if page.len() >= bytes {
            break;
        }
    }
    page
}

const CODINGS: [&str; 4] = ["gzip", "deflate", "br", "zstd"];

#[test]
fn every_coding_is_decoded_in_any_chunks() {
    let plain = page(300_000);
    for coding in CODINGS {
        let coded = encode(coding, &plain);
        for size in [1, 7, 1_000, usize::MAX] {
            let decoded = decode(coding, &coded, size).unwrap().0;
            assert!(decoded == plain, "{coding} in chunks of {size}");
        }
    }
}

#[test]
fn two_codings_are_decoded_one_after_the_other() {
    let plain = page(100_000);
    for first in CODINGS {
        for second in CODINGS {
            let coded = encode(second, &encode(first, &plain));
            let decoded = decode(&format!("{first}, identity, {second}"), &coded, 777).unwrap().0;
            assert!(decoded == plain, "{first}, {second}");
        }
    }
}

#[test]
fn deflate_may_come_without_its_header() {
    let plain = page(50_000);
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&plain).unwrap();
    let coded = encoder.finish().unwrap();
    assert!(decode("deflate", &coded, 100).unwrap().0 == plain);
}

#[test]
fn streams_may_have_several_parts() {
    let two = |coding: &str| [encode(coding, b"one "), encode(coding, b"two")].concat();
    assert_eq!(decode("gzip", &two("gzip"), 3).unwrap().0, b"one two");
    assert_eq!(decode("zstd", &two("zstd"), 3).unwrap().0, b"one two");
    let metadata = b"\x53\x2a\x4d\x18\x04\x00\x00\x00skip".to_vec();
    let around = [metadata.clone(), two("zstd"), metadata].concat();
    assert_eq!(decode("zstd", &around, 5).unwrap().0, b"one two");
    let padded = [encode("gzip", b"page"), vec![0; 100]].concat();
    assert_eq!(decode("gzip", &padded, 9).unwrap().0, b"page");
}

#[test]
fn streams_that_are_cut_or_damaged_are_errors() {
    let plain = page(60_000);
    for coding in CODINGS {
        let coded = encode(coding, &plain);
        for end in [1, coded.len() / 2, coded.len() - 1] {
            assert!(decode(coding, &coded[..end], 500).is_err(), "{coding} cut at {end}");
        }
        let mut damaged = coded.clone();
        for byte in &mut damaged[coded.len() / 2..][..20] {
            *byte ^= 0x5a;
        }
        // br has no checksum: what is damaged may still decode, to something else.
        let decoded = decode(coding, &damaged, 500).map(|(decoded, _)| decoded);
        assert!(decoded.map_or(true, |decoded| decoded != plain), "{coding}");
        let noise = decode(coding, b"\xffthis is plain text, which no coding allows", 500);
        assert!(matches!(noise, Err(Problem::Inflate(_))), "{coding}: {noise:?}");
    }
}

#[test]
fn the_window_is_asked_for_before_it_is_taken() {
    let plain = page(100_000);
    let wanted = |coding: &str| decode(coding, &encode(coding, &plain), usize::MAX).unwrap().1;
    assert_eq!(wanted("gzip"), 0, "too small to ask for");
    assert!((4 << 20..6 << 20).contains(&wanted("br")), "{}", wanted("br"));
    assert!((100_000..9 << 20).contains(&wanted("zstd")), "{}", wanted("zstd"));
}

#[test]
fn windows_of_more_than_browsers_accept_are_refused() {
    // A frame with a window of 16 MiB, and one of a single segment of 1 GiB.
    for header in [&b"\x28\xb5\x2f\xfd\x00\x70"[..], b"\x28\xb5\x2f\xfd\xa0\0\0\0\x40"] {
        let refused = decode("zstd", header, 100);
        assert!(
            matches!(&refused, Err(Problem::Inflate(error)) if error.to_string().contains("window"))
        );
    }
    // The large windows of br.
    let refused = decode("br", b"\x11\x1e\0\0\0\0", 100);
    assert!(matches!(refused, Err(Problem::Inflate(_))), "{refused:?}");
}

#[test]
fn what_lies_between_two_codings_is_bounded() {
    let zeros = vec![0; 4 << 20];
    for coding in CODINGS {
        let bomb = encode(coding, &zeros);
        let header = format!("gzip, {coding}");
        let stopped = decode(&header, &bomb, 1_000);
        assert!(matches!(stopped, Err(Problem::Bomb(_) | Problem::Inflate(_))), "{coding}");
    }
    // Metadata decodes to nothing, however much of it there is.
    let nothing = encode("gzip", &b"\x50\x2a\x4d\x18\0\0\0\0".repeat(1 << 18));
    let stopped = decode("zstd, gzip", &nothing, 1_000);
    assert!(matches!(stopped, Err(Problem::Bomb(_))), "{stopped:?}");
}

#[test]
fn headers_name_at_most_two_codings_that_are_known() {
    let of = |header: &str| Chain::new(Some(header), BETWEEN).map(|chain| chain.stages.len());
    assert_eq!(of("").unwrap(), 0);
    assert_eq!(of("identity, ").unwrap(), 0);
    assert_eq!(of("gzip,br").unwrap(), 2);
    assert!(matches!(of("gzip, gzip, gzip"), Err(Problem::TooManyEncodings(3))));
    assert!(matches!(of("gzip, compress"), Err(Problem::Encoding(name)) if name == "compress"));
}

#[test]
fn gzip_files_are_unpacked_unless_they_are_already() {
    let plain = page(30_000);
    let packed = encode("gzip", &plain);
    for (header, sent) in [
        (None, packed.clone()),
        (None, plain.clone()),
        (Some("gzip"), packed.clone()),
        (Some("gzip"), encode("gzip", &packed)),
    ] {
        let mut chain = Chain::new(header, BETWEEN).unwrap();
        chain.unpack_file();
        assert!(decode_with(chain, &sent, 500).unwrap().0 == plain, "{header:?}");
    }
}

proptest! {
    /// Whatever arrives, decoders end, and hold no more than their formats say.
    #[test]
    fn any_bytes_are_decoded_or_refused(
        coding in prop::sample::select(CODINGS.to_vec()),
        mut bytes in prop::collection::vec(any::<u8>(), 0..400),
        valid in any::<bool>(),
        size in 1_usize..100,
    ) {
        if valid {
            bytes = [encode(coding, &page(2_000))[..10].to_vec(), bytes].concat();
        }
        if let Ok((_, wanted)) = decode(coding, &bytes, size) {
            prop_assert!(wanted <= 18 << 20, "{wanted}");
        }
    }

    #[test]
    fn what_was_encoded_is_decoded(
        coding in prop::sample::select(CODINGS.to_vec()),
        plain in prop::collection::vec(any::<u8>(), 0..5_000),
        size in 1_usize..600,
    ) {
        prop_assert_eq!(decode(coding, &encode(coding, &plain), size).unwrap().0, plain);
    }
}
