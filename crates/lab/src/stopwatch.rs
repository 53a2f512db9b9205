//! Computing time, on the wall and on the processor.

use std::time::{Duration, Instant};

use nix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// Time since a start. Processor time says more than wall time on a busy machine.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct ElapsedTime {
    /// Milliseconds on the wall.
    pub wall_ms: f64,
    /// Milliseconds of this process on the processor.
    pub cpu_ms: f64,
}

/// The start of a computation.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

impl Stopwatch {
    pub(crate) fn start() -> Self {
        Self { wall: Instant::now(), cpu: cpu() }
    }

    pub(crate) fn elapsed(self) -> ElapsedTime {
        let milliseconds = |duration: Duration| duration.as_secs_f64() * 1000.0;
        ElapsedTime {
            wall_ms: milliseconds(self.wall.elapsed()),
            cpu_ms: milliseconds(cpu().saturating_sub(self.cpu)),
        }
    }
}

/// Zero where the system has no such clock.
fn cpu() -> Duration {
    clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).map_or(Duration::ZERO, Duration::from)
}
