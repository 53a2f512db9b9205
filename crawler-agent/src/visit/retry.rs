//! When is something tried again, and when is it given up?

use std::time::Duration;

use model::UnixMillis;

use crate::{clock, fetch::Head};

/// Attempts that a URL gets.
pub(super) const ATTEMPTS: u8 = 3;

/// Failures in a row after which a host is given up: with the default pauses after about four
/// hours.
pub(super) const GIVE_UP: u32 = 10;

/// Longest pause after failures, and the longest that a host's wish for time is honoured.
const LONGEST: Duration = Duration::from_hours(6);

/// How long a host is left alone after so many failures in a row: the first pause is `first`, each
/// further one twice as long.
pub(super) fn pause(first: Duration, failures: u32) -> Duration {
    match failures.checked_sub(1) {
        None => Duration::ZERO,
        Some(doublings) => first.saturating_mul(2u32.saturating_pow(doublings)).min(LONGEST),
    }
}

/// How long the host wants to be left alone before this very URL is asked for again: 429 always
/// means that, 503 only with Retry-After.
pub(super) fn asks_for_time(head: &Head, now: UnixMillis) -> Option<Duration> {
    let asked = head.retry_after(clock::timestamp(now));
    match head.status {
        429 => Some(asked.unwrap_or(Duration::from_mins(1)).min(LONGEST)),
        503 => asked.map(|asked| asked.min(LONGEST)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_six_hours() {
        let first = Duration::from_secs(30);
        let seconds: Vec<u64> =
            [0, 1, 2, 3, 9, 10, 11, u32::MAX].map(|n| pause(first, n).as_secs()).into();
        assert_eq!(seconds, [0, 30, 60, 120, 7_680, 15_360, 21_600, 21_600]);
    }

    #[test]
    fn hosts_get_the_time_they_ask_for() {
        let head = |status, retry_after: Option<&str>| {
            let mut response = hyper::Response::builder().status(status);
            if let Some(value) = retry_after {
                response = response.header("retry-after", value);
            }
            asks_for_time(&Head::of(&response.body(()).unwrap()), UnixMillis(0))
        };
        assert_eq!(head(429, None), Some(Duration::from_secs(60)));
        assert_eq!(head(429, Some("5")), Some(Duration::from_secs(5)));
        assert_eq!(head(503, Some("999999999")), Some(LONGEST));
        assert_eq!(
            (head(503, None), head(500, Some("5")), head(200, Some("5"))),
            (None, None, None)
        );
    }
}
