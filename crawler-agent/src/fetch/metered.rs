//! Metered connections: what they read and write counts for the owner's budgets, and together they
//! read no faster than the owner allows.

use std::{
    error::Error,
    io,
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Instant, Sleep, error::Elapsed, sleep, timeout_at},
};

use crate::owner::gate::Gate;

/// Longest pause that is noted at once, so that time limits move on while a reader pauses.
const PAUSE: Duration = Duration::from_secs(1);

/// A connection was cut off because a budget of bytes is used up.
#[derive(Debug, thiserror::Error)]
#[error("the owner's budget of bytes is used up")]
pub(super) struct CutOff;

impl CutOff {
    /// Whether it is the cause of `error`.
    pub(super) fn caused(error: &(dyn Error + 'static)) -> bool {
        let mut cause = Some(error);
        while let Some(error) = cause {
            let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
            if let Some(inner) = inner
                && inner.is::<Self>()
            {
                return true;
            }
            cause = error.source();
        }
        false
    }
}

/// Time for which a connection was not read because of the owner's bandwidth. It is no time of the
/// server: limits and measured times leave it out. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pauses(Arc<PauseState>);

#[derive(Debug, Default)]
struct PauseState {
    total_us: AtomicU64,
    has_unread: AtomicBool,
}

impl Pauses {
    /// All pauses since the connection was opened.
    pub(super) fn total(&self) -> Duration {
        Duration::from_micros(self.0.total_us.load(Ordering::Relaxed))
    }

    /// Whether something has arrived, or the connection has ended, and a pause keeps that from
    /// being read.
    pub(super) fn has_unread(&self) -> bool {
        self.0.has_unread.load(Ordering::Relaxed)
    }

    fn add(&self, pause: Duration) {
        let micros = u64::try_from(pause.as_micros()).unwrap_or(u64::MAX);
        self.0.total_us.fetch_add(micros, Ordering::Relaxed);
    }

    fn set_unread(&self, has_unread: bool) {
        self.0.has_unread.store(has_unread, Ordering::Relaxed);
    }
}

/// A TCP connection whose reads and writes pass the gate.
pub(super) struct MeteredStream {
    stream: TcpStream,
    gate: Arc<Gate>,
    pauses: Pauses,
    /// Bytes that may be read, and count already.
    granted: usize,
    /// When they may be read.
    from: Instant,
    pause: Option<Pin<Box<Sleep>>>,
}

impl MeteredStream {
    pub(super) fn new(stream: TcpStream, gate: Arc<Gate>, pauses: Pauses) -> Self {
        Self { stream, gate, pauses, granted: 0, from: Instant::now(), pause: None }
    }

    /// Waits until the next bytes may be read, at most `wanted`.
    fn poll_granted(&mut self, cx: &mut Context<'_>, wanted: usize) -> Poll<io::Result<()>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            let rest = self.from.saturating_duration_since(Instant::now());
            if !rest.is_zero() {
                let pause = rest.min(PAUSE);
                self.pauses.add(pause);
                self.pause = Some(Box::pin(sleep(pause)));
                continue;
            }
            if self.granted > 0 {
                return Poll::Ready(Ok(()));
            }
            // Bytes are reserved once they have arrived, so that idle connections reserve none.
            ready!(self.stream.poll_read_ready(cx))?;
            self.pauses.set_unread(true);
            let grant = self.gate.read(wanted as u64);
            if grant.bytes == 0 {
                return Poll::Ready(Err(io::Error::other(CutOff)));
            }
            self.granted = usize::try_from(grant.bytes).unwrap_or(usize::MAX);
            self.from = Instant::now() + grant.wait;
        }
    }

    /// Reads what was granted, and gives back what was not there.
    fn poll_part(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let room = self.granted.min(buffer.remaining());
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        let polled = Pin::new(&mut self.stream).poll_read(cx, &mut part);
        let read = part.filled().len();
        self.pauses.set_unread(false);
        buffer.advance(read);
        self.gate.unread((self.granted - read) as u64);
        self.granted = 0;
        polled
    }

    fn counted(&self, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if let Poll::Ready(Ok(bytes)) = written {
            self.gate.count(bytes as u64);
        }
        written
    }
}

impl AsyncRead for MeteredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.gate.limits_reads() && buffer.remaining() > 0 {
            ready!(self.poll_granted(cx, buffer.remaining()))?;
            return self.poll_part(cx, buffer);
        }
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        self.gate.count((buffer.filled().len() - before) as u64);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for MeteredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.counted(written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.counted(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

impl Drop for MeteredStream {
    fn drop(&mut self) {
        if self.granted > 0 {
            self.gate.unread(self.granted as u64);
        }
    }
}

/// Waits for `work` until `deadline`, which moves by the pauses that the owner's bandwidth makes
/// meanwhile: they are not the server's.
pub(super) async fn within<T>(
    deadline: Instant,
    pauses: &Pauses,
    work: impl Future<Output = T>,
) -> Result<T, Elapsed> {
    let before = pauses.total();
    let mut work = pin!(work);
    let mut moved = Duration::ZERO;
    loop {
        match timeout_at(deadline + moved, &mut work).await {
            Ok(done) => return Ok(done),
            Err(elapsed) => {
                let total = pauses.total().saturating_sub(before);
                if total == moved {
                    return Err(elapsed);
                }
                moved = total;
            }
        }
    }
}
