//! Time since the machine started, time in which it was suspended included. This clock is never
//! set, so that durations measured by it are correct.

use model::UnixMillis;
use nix::{
    sys::time::TimeSpec,
    time::{ClockId, clock_gettime},
};
use region::Millis;

use crate::clock;

/// Milliseconds since the machine started.
pub fn now() -> Millis {
    // Fails only where the kernel lacks the clock, which no supported one does.
    let time = clock_gettime(ClockId::CLOCK_BOOTTIME).unwrap_or(TimeSpec::new(0, 0));
    let seconds = time.tv_sec().unsigned_abs();
    Millis(seconds * 1_000 + time.tv_nsec().unsigned_abs() / 1_000_000)
}

/// The wall time of a moment, to be stored: this clock starts again with the machine.
pub fn to_wall(at: Millis) -> UnixMillis {
    clock::now().plus_ms(i64::try_from(at.since(now())).unwrap_or(i64::MAX))
}

/// The moment of a stored wall time.
pub fn from_wall(at: UnixMillis) -> Millis {
    now().plus(at.0.saturating_sub(clock::now().0).max(0).unsigned_abs())
}
