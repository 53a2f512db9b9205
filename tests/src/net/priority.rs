//! Raises the scheduling priority of the calling thread.
//!
//! A due packet waits for the router's thread. On a machine that is busy with the programs under
//! test that takes long: 10 to 40 ms on a path of 30 ms, measured with ten busy loops on two cores.
//! The router sleeps nearly all the time, so its priority costs others nothing.

use nix::errno::Errno;
use nix::libc;

/// How far ahead of others the thread is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Priority {
    /// Runs as soon as it has something to do.
    RealTime,
    Preferred,
    /// This user may not have more; times hold as long as the machine is not busy.
    Ordinary,
}

/// The lowest of the real-time priorities is above all ordinary threads.
const REAL_TIME_PRIORITY: libc::c_int = 1;
const NICENESS: libc::c_int = -15;

/// Takes as much as the kernel gives.
pub(super) fn take() -> Priority {
    let parameters = libc::sched_param { sched_priority: REAL_TIME_PRIORITY };
    #[expect(unsafe_code, reason = "the call reads one structure; 0 means the calling thread")]
    let real_time = unsafe { libc::sched_setscheduler(0, libc::SCHED_RR, &raw const parameters) };
    if Errno::result(real_time).is_ok() {
        return Priority::RealTime;
    }
    #[expect(
        unsafe_code,
        reason = "the call takes numbers only; on Linux 0 means the calling thread"
    )]
    let preferred = unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICENESS) };
    if Errno::result(preferred).is_ok() { Priority::Preferred } else { Priority::Ordinary }
}
