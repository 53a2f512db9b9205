//! gzip (RFC 1952) with any number of members, and deflate in both forms that servers send.

use std::io;

use flate2::{Decompress, FlushDecompress, Status};

use super::{Decode, Step, broken};

/// Window and state of the decoder, in bytes.
const HELD_BYTES: usize = 64 << 10;
/// First byte of a gzip member.
const GZIP: u8 = 0x1f;
/// Largest window, as a power of two.
const WINDOW_BITS: u8 = 15;

/// Decoder of gzip or deflate.
pub(super) struct Flate {
    format: Format,
    /// None before the first byte.
    inflate: Option<Decompress>,
    /// Whether a member has ended and no other has begun.
    ended: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Gzip,
    Deflate,
    /// gzip, or anything else as it is.
    File,
    /// Anything else than gzip, which is passed on.
    Plain,
}

impl Flate {
    pub(super) fn gzip() -> Self {
        Self { format: Format::Gzip, inflate: None, ended: false }
    }

    pub(super) fn deflate() -> Self {
        Self { format: Format::Deflate, inflate: None, ended: false }
    }

    pub(super) fn file() -> Self {
        Self { format: Format::File, inflate: None, ended: false }
    }
}

impl Format {
    /// A decoder for a stream that starts with this byte.
    fn start(self, first: u8) -> Decompress {
        match self {
            Self::Gzip | Self::File | Self::Plain => Decompress::new_gzip(WINDOW_BITS),
            // RFC 9110 says zlib, but some servers send the bare stream. A zlib stream starts with
            // its method, 8, and a window of at most 32 KiB.
            Self::Deflate => Decompress::new(first & 0x0f == 8 && first >> 4 <= 7),
        }
    }
}

impl Decode for Flate {
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<Step> {
        if self.format == Format::File && input.first().is_some_and(|first| *first != GZIP) {
            self.format = Format::Plain;
        } else if self.format == Format::File && !input.is_empty() {
            self.format = Format::Gzip;
        }
        if self.format == Format::Plain {
            let moved = input.len().min(output.len());
            output[..moved].copy_from_slice(&input[..moved]);
            return Ok(Step::Moved { consumed: moved, produced: moved });
        }
        if let (true, Some(first)) = (self.ended, input.first()) {
            // Browsers, too, ignore what follows the last member.
            if self.format != Format::Gzip || *first != GZIP {
                return Ok(Step::Moved { consumed: input.len(), produced: 0 });
            }
            self.inflate = None;
            self.ended = false;
        }
        let inflate = match (&mut self.inflate, input.first()) {
            (Some(inflate), _) => inflate,
            (none, Some(first)) => none.insert(self.format.start(*first)),
            (None, None) => return Ok(Step::Moved { consumed: 0, produced: 0 }),
        };
        let consumed = inflate.total_in();
        let produced = inflate.total_out();
        let status = inflate.decompress(input, output, FlushDecompress::None).map_err(broken)?;
        self.ended = status == Status::StreamEnd;
        Ok(Step::Moved {
            consumed: (inflate.total_in() - consumed) as usize,
            produced: (inflate.total_out() - produced) as usize,
        })
    }

    fn is_complete(&self) -> bool {
        self.ended || self.format == Format::Plain
    }

    fn held(&self) -> usize {
        HELD_BYTES
    }
}
