//! The body of an answer: counted, decoded and passed on as it arrives.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::Instant;

use super::{
    Head, Problem, Progress, Share,
    coding::{Chain, Next, PIECE_BYTES},
    connection::ArrivingBody,
    within,
};
use crate::config::Limits;

/// Most bytes that are read of an unwanted body so that its connection can be kept.
const UNWANTED_BYTES: u64 = 64 << 10;
/// Largest ratio of decoded to coded bytes, above [`RATIO_FLOOR`]; more is a bomb. Large sitemaps
/// and tables have up to 160, and zeros in gzip 1,030.
const RATIO: u64 = 300;
/// Decoded bytes below which the ratio is not checked.
const RATIO_FLOOR: u64 = 1 << 20;
/// Largest inflated list, as a part of the limit for other bodies. By default it is 50 MiB, which
/// sitemaps may have by their protocol; of a list only its URLs are kept.
const LIST: (u64, u64) = (5, 2);
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

    /// Memory that it holds, in bytes, with what is made of it when the body has ended.
    fn held(&self) -> usize;

    /// Whether the body is a gzip file, which is unpacked, too. A body that says so and is none is
    /// passed on as it is.
    fn is_gzip_file(&self) -> bool {
        false
    }

    /// Whether the beginning of a body that is too large is of use, so that the rest is not read;
    /// none while that depends on what comes next.
    fn takes_beginning(&self) -> Option<bool> {
        Some(false)
    }
}

/// Reads a body into `sink`, within what `share` may hold; returns whether it was read to its end,
/// after which the connection can take another request.
pub(super) async fn read<S: Sink>(
    body: &mut ArrivingBody,
    head: &Head,
    limits: &Limits,
    progress: &mut Progress,
    (sink, share): (Option<&mut S>, &mut Share),
) -> Result<bool, Problem> {
    let Some(sink) = sink else { return discard(body, progress).await };
    let is_too_large = body.size().is_some_and(|size| size > limits.wire_bytes);
    let mut reading = BodyReader::new(head, limits, (sink, share), progress.deadline())?;
    let started = BodyStart::now(progress);
    loop {
        // Its length says so, and a page of HTML is known by its first bytes at the latest.
        if is_too_large && reading.sink.takes_beginning() == Some(false) {
            return Err(Problem::TooLarge(limits.wire_bytes));
        }
        let read = next(body, started, progress).await;
        let read = read.map_err(|problem| match (&problem, reading.sink.takes_beginning()) {
            // Too little came of it to see what it is.
            (Problem::Http(_), None) if is_too_large => Problem::TooLarge(limits.wire_bytes),
            _ => problem,
        });
        let Some(mut bytes) = read? else { break };
        let over = progress.wire_bytes.saturating_sub(limits.wire_bytes);
        bytes.truncate(bytes.len().saturating_sub(over as usize));
        if reading.take(&bytes).await? == Flow::Enough {
            return Ok(false);
        }
        if over > 0 && reading.sink.takes_beginning() == Some(true) {
            progress.wire_bytes = limits.wire_bytes;
            return Ok(false);
        }
        if over > 0 {
            return Err(Problem::TooLarge(limits.wire_bytes));
        }
    }
    reading.finish()?;
    Ok(true)
}

async fn discard(body: &mut ArrivingBody, progress: &mut Progress) -> Result<bool, Problem> {
    if body.size().is_some_and(|size| size > UNWANTED_BYTES) {
        return Ok(false);
    }
    let started = BodyStart::now(progress);
    while progress.wire_bytes <= UNWANTED_BYTES {
        match next(body, started, progress).await {
            Ok(Some(_)) => {}
            Ok(None) => return Ok(true),
            // The answer is complete without its body; only the connection is lost.
            Err(_) => return Ok(false),
        }
    }
    Ok(false)
}

/// When a body began to arrive.
#[derive(Clone, Copy)]
struct BodyStart {
    at: Instant,
    /// Pauses of the request before.
    paused: Duration,
}

impl BodyStart {
    fn now(progress: &Progress) -> Self {
        Self { at: Instant::now(), paused: progress.paused() }
    }

    /// Time since then, without the pauses that the owner's bandwidth made.
    fn elapsed(self, progress: &Progress) -> Duration {
        let paused = progress.paused().saturating_sub(self.paused);
        self.at.elapsed().saturating_sub(paused)
    }
}

async fn next(
    body: &mut ArrivingBody,
    started: BodyStart,
    progress: &mut Progress,
) -> Result<Option<Bytes>, Problem> {
    loop {
        let stalled = Instant::now() + STALL;
        let deadline = progress.deadline();
        let frame = match within(deadline.min(stalled), &progress.pauses, body.frame()).await {
            Ok(None) => return Ok(None),
            Ok(Some(frame)) => frame.map_err(Problem::from)?,
            Err(_) if stalled < deadline => return Err(Problem::TooSlow),
            Err(_) => return Err(Problem::Timeout),
        };
        // Trailers carry no data.
        let Ok(bytes) = frame.into_data() else { continue };
        progress.wire_bytes += bytes.len() as u64;
        let elapsed = started.elapsed(progress);
        if elapsed > RATE_AFTER && progress.wire_bytes < elapsed.as_secs() * LEAST_RATE {
            return Err(Problem::TooSlow);
        }
        return Ok(Some(bytes));
    }
}

/// A body on its way from the wire through its decoders to the sink.
struct BodyReader<'s, S> {
    chain: Chain,
    sink: &'s mut S,
    share: &'s mut Share,
    deadline: Instant,
    /// Room for one decoded piece.
    piece: Vec<u8>,
    /// Decoded bytes so far.
    decoded: u64,
    /// Bytes from the wire so far.
    wire: u64,
    /// Most decoded bytes, except of lists.
    most: u64,
}

impl<'s, S: Sink> BodyReader<'s, S> {
    fn new(
        head: &Head,
        limits: &Limits,
        (sink, share): (&'s mut S, &'s mut Share),
        deadline: Instant,
    ) -> Result<Self, Problem> {
        let mut chain = Chain::new(head.encoding.as_deref(), limits.wire_bytes)?;
        if sink.is_gzip_file() {
            chain.unpack_file();
        }
        let piece = vec![0; if chain.is_identity() { 0 } else { PIECE_BYTES }];
        let most = limits.plain_bytes;
        Ok(Self { chain, sink, share, deadline, piece, decoded: 0, wire: 0, most })
    }

    /// Takes the next bytes from the wire.
    async fn take(&mut self, bytes: &[u8]) -> Result<Flow, Problem> {
        self.wire += bytes.len() as u64;
        if self.chain.is_identity() {
            return self.take_plain(bytes).await;
        }
        self.chain.push(bytes);
        loop {
            match self.chain.next(&mut self.piece)? {
                Next::Empty => return Ok(Flow::More),
                Next::Wants => {
                    self.hold().await?;
                    self.chain.grant();
                }
                Next::Piece(bytes) => {
                    // Checked for each piece, because one read of a bomb can decode to gigabytes.
                    if self.count(bytes)? == Flow::Enough
                        || self.sink.write(&self.piece[..bytes]) == Flow::Enough
                    {
                        return Ok(Flow::Enough);
                    }
                    self.hold().await?;
                }
            }
        }
    }

    async fn take_plain(&mut self, bytes: &[u8]) -> Result<Flow, Problem> {
        for piece in bytes.chunks(PIECE_BYTES) {
            if self.count(piece.len())? == Flow::Enough || self.sink.write(piece) == Flow::Enough {
                return Ok(Flow::Enough);
            }
            self.hold().await?;
        }
        Ok(Flow::More)
    }

    /// Accounts for the memory of decoders and sink. What the last piece added is taken already,
    /// but the next one is not read before it is accounted for.
    async fn hold(&mut self) -> Result<(), Problem> {
        let held = self.chain.held() + self.piece.len() + self.sink.held();
        self.share.hold(held, self.deadline).await
    }

    /// Counts a piece; returns whether there is room for it.
    fn count(&mut self, bytes: usize) -> Result<Flow, Problem> {
        self.decoded += bytes as u64;
        let plausible = self.wire.saturating_mul(RATIO).max(RATIO_FLOOR);
        let is_list = self.sink.takes_beginning() == Some(true);
        let (times, of) = if is_list { LIST } else { (1, 1) };
        let most = (self.most / of * times).min(plausible);
        if self.decoded <= most {
            return Ok(Flow::More);
        }
        // The beginning of a decompression bomb is not used.
        let is_bomb = self.decoded > plausible;
        let is_cut = is_list && !is_bomb;
        if is_cut { Ok(Flow::Enough) } else { Err(Problem::Bomb(most)) }
    }

    fn finish(self) -> Result<(), Problem> {
        // An empty body is valid in every coding.
        if self.wire == 0 || self.chain.is_complete() {
            return Ok(());
        }
        let cut = std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "the stream is cut short");
        Err(Problem::Inflate(cut))
    }
}
