//! Repeats failed requests.

use std::time::Duration;

use super::error::FetchError;
use crate::progress::{Progress, Step};

/// When to repeat a failed request.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Requests for the same URL before giving up, from 1.
    pub attempts: u32,
    /// The same where no connection is possible: mostly there is no network, and waiting does not
    /// help.
    pub connections: u32,
    /// Wait before the second request; doubled before each further one.
    pub pause: Duration,
}

impl Default for RetryPolicy {
    /// Five attempts over half a minute, two without a connection.
    fn default() -> Self {
        Self { attempts: 5, connections: 2, pause: Duration::from_secs(2) }
    }
}

/// Longest wait that a server may request with `Retry-After`; a longer one ends the download.
const MAX_WAIT: Duration = Duration::from_secs(300);

/// The attempts at one URL.
pub(super) struct Retries<'p> {
    policy: RetryPolicy,
    attempts: u32,
    progress: Progress<'p>,
}

impl<'p> Retries<'p> {
    pub(super) fn new(policy: RetryPolicy, progress: Progress<'p>) -> Self {
        Self { policy, attempts: 0, progress }
    }

    /// Waits after a failed attempt. Returns the error where there must be no further attempt.
    pub(super) async fn wait(&mut self, error: FetchError) -> Result<(), FetchError> {
        self.attempts += 1;
        let limit = match &error {
            FetchError::Unreachable { source, .. } if source.is_connect() => {
                self.policy.connections.min(self.policy.attempts)
            }
            _ if error.is_temporary() => self.policy.attempts,
            _ => 0,
        };
        let wanted = error.retry_after();
        if self.attempts >= limit || wanted > MAX_WAIT {
            return Err(error.with_attempts(self.attempts));
        }
        // The bytes of the old edition have been removed: the next request can follow at once.
        if matches!(error, FetchError::Changing { .. }) {
            return Ok(());
        }
        (self.progress)(Step::Retry { reason: &error.short() });
        let doublings = self.attempts.saturating_sub(1);
        let pause = self.policy.pause.saturating_mul(2_u32.saturating_pow(doublings));
        tokio::time::sleep(pause.max(wanted)).await;
        Ok(())
    }
}
