//! Compression of a package's body, by Zstandard.

use std::io;

use zstd::Decoder;

const LEVEL: i32 = 3;
/// Largest window that a reader allocates, as a power of two.
const WINDOW: u32 = 23;

/// Compresses the body `plain`.
pub(super) fn compress(plain: &[u8]) -> io::Result<Vec<u8>> {
    zstd::bulk::compress(plain, LEVEL)
}

/// Reads what `compressed` inflates to.
pub(super) fn reader(compressed: &[u8]) -> io::Result<Decoder<'_, &[u8]>> {
    let mut decoder = Decoder::with_buffer(compressed)?;
    // The sender declares the size of the window, and the reader allocates it.
    decoder.window_log_max(WINDOW)?;
    Ok(decoder.single_frame())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_body_is_given_back_as_it_was_taken() {
        let plain = b"text ".repeat(10_000);
        let compressed = compress(&plain).unwrap();
        assert!(compressed.len() < 1_000, "{}", compressed.len());
        let mut read = Vec::new();
        reader(&compressed).unwrap().read_to_end(&mut read).unwrap();
        assert_eq!(read, plain);
        let cut = &compressed[..compressed.len() / 2];
        let read_cut = reader(cut).and_then(|mut reader| reader.read_to_end(&mut Vec::new()));
        assert!(read_cut.is_err(), "the missing end is noticed");
    }
}
