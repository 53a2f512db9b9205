//! Compression of a package's body.

use std::io::{self, Read, Write};

use flate2::{Compression, bufread::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize};

/// Level of gzip. On the text of real pages, level 9 makes packages 6 per cent smaller and takes
/// almost four times as long.
const GZIP_LEVEL: u32 = 3;
/// Level of zstd.
const ZSTD_LEVEL: i32 = 3;
/// Largest window of zstd that a reader allocates, as a power of two.
const ZSTD_WINDOW: u32 = 23;

/// How the body of a package is compressed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// Every coordinator reads it.
    #[default]
    Gzip,
    /// Smaller and faster; only for coordinators that say that they read it.
    Zstd,
    /// A coding of a later version.
    #[serde(other)]
    Unknown,
}

impl Coding {
    /// Codings that this build reads, the best first.
    pub const READ: [Self; 2] = [Self::Zstd, Self::Gzip];

    /// The best coding that this build writes and a reader of `read` reads.
    #[must_use]
    pub fn best(read: &[Self]) -> Self {
        Self::READ.into_iter().find(|coding| read.contains(coding)).unwrap_or_default()
    }

    /// Compresses the body `plain`.
    pub(super) fn compress(self, plain: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip => {
                let mut gzip = GzEncoder::new(Vec::new(), Compression::new(GZIP_LEVEL));
                gzip.write_all(plain)?;
                gzip.finish()
            }
            Self::Zstd => zstd::bulk::compress(plain, ZSTD_LEVEL),
            Self::Unknown => Err(unknown()),
        }
    }

    /// Reads what `compressed` inflates to.
    pub(super) fn reader(self, compressed: &[u8]) -> io::Result<Box<dyn Read + '_>> {
        Ok(match self {
            Self::Gzip => Box::new(GzDecoder::new(compressed)),
            Self::Zstd => {
                let mut decoder = zstd::Decoder::with_buffer(compressed)?;
                // The window is a promise of the sender, and memory of the reader.
                decoder.window_log_max(ZSTD_WINDOW)?;
                Box::new(decoder.single_frame())
            }
            Self::Unknown => return Err(unknown()),
        })
    }
}

fn unknown() -> io::Error {
    io::Error::new(io::ErrorKind::Unsupported, "the coding is of a later version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_coding_gives_back_what_it_took() {
        let plain = b"text ".repeat(10_000);
        for coding in Coding::READ {
            let compressed = coding.compress(&plain).unwrap();
            assert!(compressed.len() < 1_000, "{coding:?}: {}", compressed.len());
            let mut read = Vec::new();
            coding.reader(&compressed).unwrap().read_to_end(&mut read).unwrap();
            assert_eq!(read, plain);
            let cut = &compressed[..compressed.len() / 2];
            let read_cut = coding.reader(cut).and_then(|mut r| r.read_to_end(&mut Vec::new()));
            assert!(read_cut.is_err(), "{coding:?} notices the missing end");
        }
    }

    #[test]
    fn the_best_common_coding_is_chosen() {
        assert_eq!(Coding::best(&[]), Coding::Gzip);
        assert_eq!(Coding::best(&[Coding::Gzip, Coding::Zstd]), Coding::Zstd);
        let later: Vec<Coding> = serde_json::from_str(r#"["lzma","gzip"]"#).unwrap();
        assert_eq!(Coding::best(&later), Coding::Gzip);
    }
}
