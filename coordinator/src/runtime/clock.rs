//! What time is it? The only place of the coordinator that asks the machine.

use std::time::{SystemTime, UNIX_EPOCH};

use model::UnixMillis;

/// A source of the present moment. Tests bring their own.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> UnixMillis;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> UnixMillis {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        UnixMillis(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
