//! Counters of the router.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use serde::Serialize;

/// Packets by what became of them, since the internet was opened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Traffic {
    /// Handed to the namespace of their destination.
    pub delivered: u64,
    /// Bytes of these.
    pub delivered_bytes: u64,
    /// Lost by the draw.
    pub lost: u64,
    /// Dropped at a cut way.
    pub cut: u64,
    /// From or to an address that no node has: the ones that tried to leave.
    pub unknown: u64,
    /// Multicast, broadcast and the like, which no router forwards.
    pub link_local: u64,
    pub malformed: u64,
    /// Refused by the device of the destination.
    pub refused: u64,
    /// The longest that a packet was delivered after it was due, in microseconds: the machine's own
    /// slowness.
    pub worst_lateness_us: u64,
}

impl fmt::Display for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} packets delivered ({} bytes), {} lost, {} cut, {} to unknown addresses, at most \
             {:.2} ms late",
            self.delivered,
            self.delivered_bytes,
            self.lost,
            self.cut,
            self.unknown,
            self.worst_lateness_us as f64 / 1_000.0
        )
    }
}

/// The counters behind [`Traffic`], shared by the router and whoever asks.
#[derive(Debug, Default)]
pub(super) struct Counters {
    pub(super) delivered: AtomicU64,
    pub(super) delivered_bytes: AtomicU64,
    pub(super) lost: AtomicU64,
    pub(super) cut: AtomicU64,
    pub(super) unknown: AtomicU64,
    pub(super) link_local: AtomicU64,
    pub(super) malformed: AtomicU64,
    pub(super) refused: AtomicU64,
    worst_lateness_us: AtomicU64,
}

impl Counters {
    pub(super) fn delivered(&self, bytes: usize, lateness: Duration) {
        self.delivered.fetch_add(1, Relaxed);
        self.delivered_bytes.fetch_add(bytes as u64, Relaxed);
        let lateness = u64::try_from(lateness.as_micros()).unwrap_or(u64::MAX);
        self.worst_lateness_us.fetch_max(lateness, Relaxed);
    }

    pub(super) fn read(&self) -> Traffic {
        Traffic {
            delivered: self.delivered.load(Relaxed),
            delivered_bytes: self.delivered_bytes.load(Relaxed),
            lost: self.lost.load(Relaxed),
            cut: self.cut.load(Relaxed),
            unknown: self.unknown.load(Relaxed),
            link_local: self.link_local.load(Relaxed),
            malformed: self.malformed.load(Relaxed),
            refused: self.refused.load(Relaxed),
            worst_lateness_us: self.worst_lateness_us.load(Relaxed),
        }
    }
}
