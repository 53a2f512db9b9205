//! The body of an answer: counted, inflated and handed on as it arrives.

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

/// Bytes that are read of a body that nobody wants, to keep its connection.
const UNWANTED_BYTES: u64 = 64 << 10;
/// Ratio of inflated to compressed bytes that is suspicious, once [`RATIO_FLOOR`] is passed.
const RATIO: u64 = 100;
/// Inflated bytes below which the ratio is not looked at.
const RATIO_FLOOR: u64 = 1 << 20;
/// Longest pause within a body.
const STALL: Duration = Duration::from_secs(15);
/// From this time on a body must come at [`LEAST_RATE`].
const RATE_AFTER: Duration = Duration::from_secs(20);
/// Bytes per second.
const LEAST_RATE: u64 = 1 << 10;

/// Whether a sink wants more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    More,
    /// That is enough; the rest is not read.
    Enough,
}

/// Takes a body as it arrives, after content encodings were undone.
pub trait Sink {
    /// The next bytes.
    fn write(&mut self, bytes: &[u8]) -> Flow;
}

/// Reads a body into `sink`; says whether the connection is good for another request.
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
            // Nobody wanted it anyway.
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
        // Trailers are no data.
        let Ok(bytes) = frame.into_data() else { continue };
        progress.wire_bytes += bytes.len() as u64;
        let elapsed = started.elapsed();
        if elapsed > RATE_AFTER && progress.wire_bytes < elapsed.as_secs() * LEAST_RATE {
            return Err(Problem::TooSlow);
        }
        return Ok(Some(bytes));
    }
}

/// Undoes the content encoding.
enum Inflating<'s, S: Sink> {
    Identity(Plain<'s, S>),
    Gzip(Box<MultiGzDecoder<Plain<'s, S>>>),
}

/// The plain bytes on their way to the sink.
struct Plain<'s, S> {
    sink: &'s mut S,
    flow: Flow,
    count: u64,
    wire: u64,
    most: u64,
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

    /// Takes the next bytes from the wire, of which there were `wire` so far.
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
            // Nothing is nothing in every encoding.
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
            // The sink had enough in the middle of a block.
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
    /// Plain bytes that are believable for what came over the wire.
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
