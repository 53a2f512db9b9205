//! Content codings: gzip, deflate, br and zstd, removed piece by piece.
//!
//! A decoder never holds more than one piece of its result and the window of its format, and says
//! how large the window is before it takes the memory.

mod brotli;
mod flate;
#[cfg(test)]
mod tests;
mod zstd;

use std::io;

use super::Problem;
use brotli::Brotli;
use flate::Flate;
use zstd::Zstd;

/// Value of the Accept-Encoding header.
pub(super) const ACCEPTED: &str = "gzip, deflate, br, zstd";

/// Names of the codings that are decoded.
const DECODED: [&str; 5] = ["gzip", "x-gzip", "deflate", "br", "zstd"];

/// Names of other codings: those that are registered, and those of common programs. They change the
/// content, so that it cannot be read.
const OTHER: [&str; 14] = [
    "compress",
    "x-compress",
    "exi",
    "pack200-gzip",
    "aes128gcm",
    "dcb",
    "dcz",
    "bzip2",
    "x-bzip2",
    "lzma",
    "x-lzma",
    "xz",
    "x-xz",
    "sdch",
];

/// Most codings of a body, one applied after the other.
const MAX_CODINGS: usize = 2;

/// Bytes of one piece of decoded content.
pub(super) const PIECE_BYTES: usize = 8 << 10;

/// What a decoder did in one step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// Bytes of the input that were taken, and bytes of the output that were written.
    Moved { consumed: usize, produced: usize },
    /// The decoder goes on once it is granted the memory that it holds from now on.
    Wants,
}

/// A decoder of one coding.
trait Decode: Send {
    /// Decodes as much as fits into `output`. Without output all of the input was taken.
    fn decode(&mut self, input: &[u8], output: &mut [u8]) -> io::Result<Step>;

    /// Allows what the last step wanted.
    fn grant(&mut self) {}

    /// Whether the content may end here.
    fn is_complete(&self) -> bool;

    /// Memory of the decoder, in bytes, with what it wants.
    fn held(&self) -> usize;
}

/// What the chain gives next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// So many bytes of decoded content.
    Piece(usize),
    /// Nothing before more arrives from the wire.
    Empty,
    /// Nothing is taken until the decoder is granted the memory that it needs.
    Wants,
}

/// The decoders of one body, the coding that was applied last first.
pub(super) struct Chain {
    stages: Vec<Stage>,
    /// Bytes that decoders before the last one may still produce.
    between: u64,
    /// The stage that waits for memory.
    waiting: usize,
}

/// A decoder with the input that it has not taken.
struct Stage {
    decoder: Box<dyn Decode>,
    input: Vec<u8>,
    taken: usize,
}

impl Stage {
    fn new(decoder: Box<dyn Decode>) -> Self {
        Self { decoder, input: Vec::new(), taken: 0 }
    }
}

impl Chain {
    /// Decoders for the codings of a Content-Encoding header, in the order of the header. What
    /// lies between two codings could have been sent as it is, so it is bounded by `wire_bytes`,
    /// too.
    pub(super) fn new(header: Option<&str>, wire_bytes: u64) -> Result<Self, Problem> {
        let header = header.unwrap_or_default();
        let names = header.split(',').map(str::trim).filter(|name| !is_identity(name));
        let count = names.clone().count();
        if count > MAX_CODINGS {
            return Err(Problem::TooManyEncodings(count));
        }
        let stages = names.rev().map(|name| Ok(Stage::new(decoder(name)?)));
        let stages = stages.collect::<Result<Vec<_>, Problem>>()?;
        Ok(Self { stages, between: wire_bytes, waiting: 0 })
    }

    /// Adds a decoder for content that is a gzip file, or looks like one. Servers also send such
    /// files with a Content-Encoding that has removed the compression already.
    pub(super) fn unpack_file(&mut self) {
        self.stages.push(Stage::new(Box::new(Flate::file())));
    }

    /// Whether the body is sent as it is.
    pub(super) fn is_identity(&self) -> bool {
        self.stages.is_empty()
    }

    /// Takes the next bytes from the wire, after the last ones were used up.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        if let Some(stage) = self.stages.first_mut() {
            stage.input.clear();
            stage.input.extend_from_slice(bytes);
            stage.taken = 0;
        }
    }

    /// Decodes the next piece.
    pub(super) fn next(&mut self, output: &mut [u8]) -> Result<Next, Problem> {
        match self.stages.len().checked_sub(1) {
            Some(last) => self.fill(last, output),
            None => Ok(Next::Empty),
        }
    }

    fn fill(&mut self, at: usize, output: &mut [u8]) -> Result<Next, Problem> {
        loop {
            let stage = &mut self.stages[at];
            let input = &stage.input[stage.taken..];
            let left = input.len();
            match stage.decoder.decode(input, output).map_err(Problem::Inflate)? {
                Step::Wants => {
                    self.waiting = at;
                    return Ok(Next::Wants);
                }
                Step::Moved { consumed, produced } => {
                    stage.taken += consumed;
                    if produced > 0 {
                        return Ok(Next::Piece(produced));
                    }
                    if consumed == 0 && left > 0 {
                        return Err(Problem::Inflate(broken("the decoder makes no progress")));
                    }
                }
            }
            let more = if at == 0 { Next::Empty } else { self.refill(at)? };
            if !matches!(more, Next::Piece(_)) && self.stages[at].is_used_up() {
                return Ok(more);
            }
        }
    }

    /// Gives the decoder at `at` what the one before it produces next.
    fn refill(&mut self, at: usize) -> Result<Next, Problem> {
        if !self.stages[at].is_used_up() {
            return Ok(Next::Empty);
        }
        let mut input = std::mem::take(&mut self.stages[at].input);
        input.resize(PIECE_BYTES, 0);
        let next = self.fill(at - 1, &mut input)?;
        let bytes = if let Next::Piece(bytes) = next { bytes } else { 0 };
        self.between = self.between.checked_sub(bytes as u64).ok_or(Problem::Bomb(self.between))?;
        input.truncate(bytes);
        let stage = &mut self.stages[at];
        stage.input = input;
        stage.taken = 0;
        Ok(next)
    }

    /// Allows what [`Next::Wants`] asked for.
    pub(super) fn grant(&mut self) {
        self.stages[self.waiting].decoder.grant();
    }

    /// Whether the content may end here.
    pub(super) fn is_complete(&self) -> bool {
        self.stages.iter().all(|stage| stage.decoder.is_complete())
    }

    /// Memory of the decoders, in bytes, with what they want.
    pub(super) fn held(&self) -> usize {
        let held = |stage: &Stage| stage.decoder.held() + stage.input.capacity();
        self.stages.iter().map(held).sum()
    }
}

impl Stage {
    fn is_used_up(&self) -> bool {
        self.taken == self.input.len()
    }
}

/// Whether the content is as it would be without this name. Servers also write charsets and other
/// words there, such as `utf-8`, `none` or `8bit`.
fn is_identity(name: &str) -> bool {
    !DECODED.contains(&name) && !OTHER.contains(&name)
}

fn decoder(name: &str) -> Result<Box<dyn Decode>, Problem> {
    match name {
        "gzip" | "x-gzip" => Ok(Box::new(Flate::gzip())),
        "deflate" => Ok(Box::new(Flate::deflate())),
        "br" => Ok(Box::new(Brotli::new())),
        "zstd" => Ok(Box::new(Zstd::new())),
        other => Err(Problem::Encoding(other.chars().take(50).collect())),
    }
}

fn broken(reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, reason)
}
