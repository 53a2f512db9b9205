//! The clock of leases and loans: time since the machine started, time asleep included. It is never
//! set, so that durations measured by it are true.

use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_gettime};
use region::Millis;

/// Milliseconds since the machine started.
pub fn now() -> Millis {
    // Fails only where the kernel lacks the clock, which no supported one does.
    let time = clock_gettime(ClockId::CLOCK_BOOTTIME).unwrap_or(TimeSpec::new(0, 0));
    let seconds = time.tv_sec().unsigned_abs();
    Millis(seconds * 1_000 + time.tv_nsec().unsigned_abs() / 1_000_000)
}
