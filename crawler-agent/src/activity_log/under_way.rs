//! Requests that are under way, so that those which are cut off are in the log, too.

use std::{net::IpAddr, time::Instant};

use protocol::page::Timing;

use super::{Activity, ActivityLog, lasted};

/// A request or probe that may have been sent. Unless [`Self::end`] notes what came of it, or
/// nothing was sent, it was cut off, and the log says so.
#[must_use]
pub struct UnderWay<'a> {
    log: &'a ActivityLog,
    kind: Activity,
    target: &'a str,
    address: IpAddr,
    since: Instant,
    has_ended: bool,
}

impl ActivityLog {
    /// A request or probe that is about to be sent.
    pub fn begin<'a>(&'a self, kind: Activity, target: &'a str, address: IpAddr) -> UnderWay<'a> {
        UnderWay { log: self, kind, target, address, since: Instant::now(), has_ended: false }
    }
}

impl UnderWay<'_> {
    /// Ends it, and notes what came of it.
    pub fn end(mut self, outcome: &str, bytes: u64, timing: Timing) {
        self.has_ended = true;
        self.log.note(self.kind, self.target, Some(self.address), outcome, bytes, timing);
    }

    /// Ends it without an entry: nothing was sent.
    pub fn withheld(mut self) {
        self.has_ended = true;
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let timing = lasted(self.since.elapsed());
        self.log.note(self.kind, self.target, Some(self.address), "cut off", 0, timing);
    }
}
