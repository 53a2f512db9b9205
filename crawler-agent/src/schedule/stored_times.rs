//! Stored times: wall-clock times, of which the schedule makes those of the monotonic clock.

use model::UnixMillis;

use crate::clock;

/// Longest wait for work that begins at a stored time, after which it is looked at again. A wall
/// clock that was set back must not keep hosts waiting for years.
pub(super) const LONGEST_WAIT_MS: i64 = 24 * 3_600 * 1_000;

/// Milliseconds until a stored due time; none where it is wrong.
pub(super) fn wait_until(due: UnixMillis, now: UnixMillis) -> u64 {
    if clock::is_wrong(due, now) { 0 } else { due.0.saturating_sub(now.0).max(0).unsigned_abs() }
}

/// Milliseconds until work begins at a stored time, which may be weeks ahead: after the longest
/// wait it is looked at again.
pub(super) fn wait_for_work(at: UnixMillis, now: UnixMillis) -> u64 {
    at.0.saturating_sub(now.0).clamp(0, LONGEST_WAIT_MS).unsigned_abs()
}
