//! Activity of one connection, and until when it may stay as it is.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::runtime::config::Limits;

/// How long a connection may stay in one state.
#[derive(Clone, Copy, Debug)]
pub struct Timeouts {
    /// From the start of a connection, or the first byte of a request, to the end of its header.
    pub header: Duration,
    /// From the end of a response to the first byte of the next request.
    pub idle: Duration,
    /// Without progress of a response that the client does not read.
    pub write: Duration,
}

/// The longest time without progress of a response.
const WRITE: Duration = Duration::from_secs(60);

impl From<&Limits> for Timeouts {
    fn from(limits: &Limits) -> Self {
        Self {
            header: Duration::from_secs(limits.header_s.into()),
            idle: Duration::from_secs(limits.idle_connection_s.into()),
            write: WRITE,
        }
    }
}

/// The state of one connection, as its stream and its requests report it.
#[derive(Debug)]
pub(super) struct Activity {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    /// Requests whose response is not complete.
    requests: u32,
    /// Whether a request has to arrive soon: the connection is new, or the request has begun.
    is_expecting: bool,
    /// Start of the present state.
    since: Instant,
    /// Since when the client accepts no bytes; none while it does.
    blocked_since: Option<Instant>,
}

impl Activity {
    pub(super) fn new(now: Instant) -> Self {
        let state = State { requests: 0, is_expecting: true, since: now, blocked_since: None };
        Self { state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that bytes arrived.
    pub(super) fn received(&self, now: Instant) {
        let mut state = self.state();
        if state.requests == 0 && !state.is_expecting {
            state.is_expecting = true;
            state.since = now;
        }
    }

    /// The client accepts no bytes at the moment.
    pub(super) fn blocked(&self, now: Instant) {
        self.state().blocked_since.get_or_insert(now);
    }

    /// Bytes were sent.
    pub(super) fn sent(&self) {
        self.state().blocked_since = None;
    }

    /// The header of a request is complete.
    pub(super) fn request_began(&self) {
        let mut state = self.state();
        state.requests += 1;
        state.is_expecting = false;
    }

    /// The response is complete. Returns whether no other request is in progress.
    pub(super) fn request_ended(&self, now: Instant) -> bool {
        let mut state = self.state();
        state.requests = state.requests.saturating_sub(1);
        state.since = now;
        state.requests == 0
    }

    /// When the connection has to be closed if its state stays the same; none during a request.
    pub(super) fn deadline(&self, timeouts: &Timeouts) -> Option<Instant> {
        let state = self.state();
        if let Some(blocked) = state.blocked_since {
            return Some(blocked + timeouts.write);
        }
        let longest = if state.is_expecting { timeouts.header } else { timeouts.idle };
        (state.requests == 0).then(|| state.since + longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUTS: Timeouts = Timeouts {
        header: Duration::from_secs(10),
        idle: Duration::from_secs(75),
        write: Duration::from_secs(60),
    };

    #[test]
    fn a_header_has_less_time_than_an_idle_connection() {
        let start = Instant::now();
        let after = |seconds| start + Duration::from_secs(seconds);
        let activity = Activity::new(start);
        activity.received(after(9));
        assert_eq!(activity.deadline(&TIMEOUTS), Some(after(10)), "a byte gives no more time");
        activity.request_began();
        activity.received(after(20));
        assert_eq!(activity.deadline(&TIMEOUTS), None);
        assert!(activity.request_ended(after(30)));
        assert_eq!(activity.deadline(&TIMEOUTS), Some(after(105)));
        activity.received(after(100));
        activity.received(after(101));
        assert_eq!(activity.deadline(&TIMEOUTS), Some(after(110)));
    }

    #[test]
    fn a_client_that_does_not_read_is_closed_even_during_a_request() {
        let start = Instant::now();
        let activity = Activity::new(start);
        activity.request_began();
        activity.blocked(start);
        activity.blocked(start + Duration::from_secs(5));
        assert_eq!(activity.deadline(&TIMEOUTS), Some(start + Duration::from_secs(60)));
        activity.sent();
        assert_eq!(activity.deadline(&TIMEOUTS), None);
    }
}
