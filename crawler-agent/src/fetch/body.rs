//! The body of an answer: counted, inflated and passed on as it arrives.

use std::{
    io::{self, Write},
    time::Duration,
};

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use http_body_util::BodyExt as _;
use hyper::body::{Body as _, Incoming};
use tokio::time::{Instant, timeout_at};

use super::{Head, Problem, Progress};
use crate::config::Limits;

/// Most bytes that are read of an unwanted body so that its connection can be kept.
const UNWANTED_BYTES: u64 = 64 << 10;
/// Largest ratio of inflated to compressed bytes, above [`RATIO_FLOOR`]; more is a bomb.
const RATIO: u64 = 100;
/// Inflated bytes below which the ratio is not checked.
const RATIO_FLOOR: u64 = 1 << 20;
/// Longest pause within a body.
const STALL: Duration = Duration::from_secs(15);
/// Time after which a body must have arrived at [`LEAST_RATE`] on average.
const RATE_AFTER: Duration = Duration::from_secs(10);
/// Least rate of a body, in bytes per second. A page of 100 KiB then takes at most 25 seconds.
const LEAST_RATE: u64 = 4 << 10;

/// Answer of a sink: whether it wants more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// The sink takes further bytes.
    More,
    /// The sink has enough; the rest is not read.
    Enough,
}

/// Consumer of a body, after content encodings were removed.
pub trait Sink {
    /// Takes the next bytes.
    fn write(&mut self, bytes: &[u8]) -> Flow;
}

/// Reads a body into `sink`; returns whether the connection can take another request.
pub(super) async fn read<S: Sink>(
    mut body: Incoming,
    head: &Head,
    limits: &Limits,
    progress: &mut Progress,
    sink: Option<&mut S>,
) -> Result<bool, Problem> {
    let Some(sink) = sink else { return discard(body, progress).await };
    if body.size_hint().exact().is_some_and(|size| size > limits.wire_bytes) {
        return Err(Problem::TooLarge(limits.wire_bytes));
    }
    let mut inflating = Inflating::new(head, limits, sink)?;
    let started = Instant::now();
    while let Some(bytes) = next(&mut body, started, progress).await? {
        if progress.wire_bytes > limits.wire_bytes {
            return Err(Problem::TooLarge(limits.wire_bytes));
        }
        if inflating.write(&bytes, progress.wire_bytes)? == Flow::Enough {
            return Ok(false);
        }
    }
    inflating.finish(progress.wire_bytes)?;
    Ok(true)
}

async fn discard(mut body: Incoming, progress: &mut Progress) -> Result<bool, Problem> {
    if body.size_hint().exact().is_some_and(|size| size > UNWANTED_BYTES) {
        return Ok(false);
    }
    let started = Instant::now();
    while progress.wire_bytes <= UNWANTED_BYTES {
        match next(&mut body, started, progress).await {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(true),
            // The answer is complete without its body; only the connection is lost.
            Err(_) => return Ok(false),
        }
    }
    Ok(false)
}

async fn next(
    body: &mut Incoming,
    started: Instant,
    progress: &mut Progress,
) -> Result<Option<Bytes>, Problem> {
    loop {
        let stalled = Instant::now() + STALL;
        let frame = match timeout_at(progress.deadline.min(stalled), body.frame()).await {
            Ok(None) => return Ok(None),
            Ok(Some(frame)) => frame.map_err(Problem::Http)?,
            Err(_) if stalled < progress.deadline => return Err(Problem::TooSlow),
            Err(_) => return Err(Problem::Timeout),
        };
        // Trailers carry no data.
        let Ok(bytes) = frame.into_data() else { continue };
        progress.wire_bytes += bytes.len() as u64;
        let elapsed = started.elapsed();
        if elapsed > RATE_AFTER && progress.wire_bytes < elapsed.as_secs() * LEAST_RATE {
            return Err(Problem::TooSlow);
        }
        return Ok(Some(bytes));
    }
}

/// Decoder of the content encoding.
enum Inflating<'s, S: Sink> {
    Identity(Plain<'s, S>),
    Gzip(Box<MultiGzDecoder<Plain<'s, S>>>),
}

/// Writer that passes inflated bytes to the sink and checks their bounds. The checks are inside the
/// decoder, because one input chunk of a bomb can inflate to gigabytes.
struct Plain<'s, S> {
    sink: &'s mut S,
    flow: Flow,
    /// Inflated bytes so far.
    count: u64,
    /// Compressed bytes so far.
    wire: u64,
    /// Most inflated bytes.
    most: u64,
    /// Whether a bound was exceeded.
    over: bool,
}

impl<'s, S: Sink> Inflating<'s, S> {
    fn new(head: &Head, limits: &Limits, sink: &'s mut S) -> Result<Self, Problem> {
        let plain = Plain {
            sink,
            flow: Flow::More,
            count: 0,
            wire: 0,
            most: limits.plain_bytes,
            over: false,
        };
        match head.encoding.as_deref() {
            None => Ok(Self::Identity(plain)),
            Some("gzip" | "x-gzip") => Ok(Self::Gzip(Box::new(MultiGzDecoder::new(plain)))),
            Some(other) => Err(Problem::Encoding(other.chars().take(50).collect())),
        }
    }

    /// Takes the next bytes from the wire; with them, `wire` have arrived.
    fn write(&mut self, bytes: &[u8], wire: u64) -> Result<Flow, Problem> {
        self.plain().wire = wire;
        let written = match self {
            Self::Identity(plain) => plain.write_all(bytes),
            Self::Gzip(gzip) => gzip.write_all(bytes),
        };
        self.check(written)
    }

    fn finish(mut self, wire: u64) -> Result<(), Problem> {
        self.plain().wire = wire;
        let ended = match &mut self {
            // An empty body is valid in every encoding.
            _ if wire == 0 => Ok(()),
            Self::Identity(_) => Ok(()),
            Self::Gzip(gzip) => gzip.try_finish(),
        };
        self.check(ended).map(drop)
    }

    fn check(&mut self, written: io::Result<()>) -> Result<Flow, Problem> {
        let plain = self.plain();
        if plain.over {
            return Err(Problem::Bomb(plain.most.min(plain.allowed())));
        }
        match written {
            Ok(()) => Ok(plain.flow),
            // The sink had enough in the middle of a compressed block.
            Err(_) if plain.flow == Flow::Enough => Ok(Flow::Enough),
            Err(error) => Err(Problem::Inflate(error)),
        }
    }

    fn plain(&mut self) -> &mut Plain<'s, S> {
        match self {
            Self::Identity(plain) => plain,
            Self::Gzip(gzip) => gzip.get_mut(),
        }
    }
}

impl<S> Plain<'_, S> {
    /// Most inflated bytes that are plausible for what came over the wire.
    fn allowed(&self) -> u64 {
        self.wire.saturating_mul(RATIO).max(RATIO_FLOOR)
    }
}

impl<S: Sink> Write for Plain<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.count += bytes.len() as u64;
        self.over = self.count > self.most || self.count > self.allowed();
        if self.over || self.flow == Flow::Enough {
            return Err(io::Error::other("no more is taken"));
        }
        self.flow = self.sink.write(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
