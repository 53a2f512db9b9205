//! The clock: the only module of the coordinator that reads the time of the machine.

use std::time::{SystemTime, UNIX_EPOCH};

use model::UnixMillis;

/// A source of the present time; tests may use another one.
pub trait Clock: Send + Sync {
    /// The present time, in milliseconds since 1970.
    fn now(&self) -> UnixMillis;
}

/// The clock of the machine.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixMillis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
