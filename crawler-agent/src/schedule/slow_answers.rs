//! Pauses after slow answers.

use std::time::Duration;

/// Length of the pause after an answer, in times of the answer.
const FACTOR: u32 = 2;
/// Longest pause because of a slow answer.
const LONGEST: Duration = Duration::from_mins(1);

/// Pause after an answer that took this long, where hosts are left alone for `delay` in any case: a
/// host that answers slowly is asked less often. Without a delay there is no pause either, because
/// then owner and operator want none.
pub fn after_answer(delay: Duration, answer: Duration) -> Duration {
    if delay.is_zero() {
        return Duration::ZERO;
    }
    answer.saturating_mul(FACTOR).min(LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_hosts_are_asked_less_often() {
        let delay = Duration::from_secs(1);
        let pauses = [10, 400, 3_000, 50_000].map(Duration::from_millis);
        let pauses = pauses.map(|answer| after_answer(delay, answer).as_millis());
        assert_eq!(pauses, [20, 800, 6_000, 60_000]);
        assert_eq!(after_answer(Duration::ZERO, delay), Duration::ZERO);
    }
}
