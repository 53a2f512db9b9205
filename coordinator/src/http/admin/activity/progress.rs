//! Progress of the crawl, and its expected end.
//!
//! The queue is all that is known of the remaining work, because pages bring links that were not
//! known before. So the end is expected from the trend of the queue and not from the speed of
//! fetches, and only where the queue gets shorter.

use model::UnixMillis;
use store::activity::Bucket;

use crate::http::admin::dto::activity::{Progress, ProgressState};

/// The time whose trend counts: long enough for packages, which agents ship every few minutes.
pub(super) const WINDOW_MS: i64 = 30 * 60_000;
/// An end further away than this is not shown, because the queue may as well not get shorter.
const FURTHEST_S: f64 = 365.0 * 86_400.0;

/// The progress by the minutes of the last half hour, the oldest first.
pub(super) fn progress(minutes: &[Bucket], fetched: u64, now: UnixMillis) -> Progress {
    let recent = minutes.iter().map(|minute| minute.activity.fetches).fold(0, u64::saturating_add);
    let begin = minutes.first().map_or(now, |minute| minute.start);
    let seconds = seconds_between(begin, now).max(60.0);
    let queued = minutes.iter().rev().find_map(|minute| minute.activity.queued);
    let growth = queue_growth(minutes);
    let left_s = queued.zip(growth).and_then(|(queued, growth)| time_left_s(queued, growth));
    let state = match queued {
        None => ProgressState::Unknown,
        Some(0) => ProgressState::Finished,
        Some(_) if recent == 0 => ProgressState::Waiting,
        Some(_) if left_s.is_some() => ProgressState::Shrinking,
        Some(_) => ProgressState::Growing,
    };
    let expected_end = (state == ProgressState::Shrinking).then_some(left_s).flatten();
    Progress {
        state,
        fetched,
        queued,
        fetches_per_s: recent as f64 / seconds,
        queue_growth_per_s: growth,
        expected_end: expected_end.map(|left| now.plus_ms((left * 1_000.0) as i64).into()),
    }
}

/// Slope of the line through the known lengths of the queue, in URLs a second (least squares). The
/// first and the last length alone would follow every package of discovered links.
fn queue_growth(minutes: &[Bucket]) -> Option<f64> {
    let first = minutes.first()?.start;
    let points: Vec<(f64, f64)> = minutes
        .iter()
        .filter_map(|minute| {
            Some((seconds_between(first, minute.start), minute.activity.queued? as f64))
        })
        .collect();
    let count = points.len() as f64;
    let mean_time = points.iter().map(|(time, _)| time).sum::<f64>() / count;
    let mean_queue = points.iter().map(|(_, queue)| queue).sum::<f64>() / count;
    let mut covariance = 0.0;
    let mut variance = 0.0;
    for (time, queue) in points {
        covariance += (time - mean_time) * (queue - mean_queue);
        variance += (time - mean_time) * (time - mean_time);
    }
    (variance > 0.0).then(|| covariance / variance)
}

/// Seconds until the queue is empty; none where it does not get shorter.
fn time_left_s(queued: u64, growth: f64) -> Option<f64> {
    let left = queued as f64 / -growth;
    (growth < 0.0 && left <= FURTHEST_S).then_some(left)
}

fn seconds_between(from: UnixMillis, until: UnixMillis) -> f64 {
    until.0.saturating_sub(from.0) as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use store::activity::Activity;

    use super::*;

    /// A minute each, with the same number of fetches, and lengths of the queue.
    fn minutes(fetches: u64, queues: &[Option<u64>]) -> Vec<Bucket> {
        let buckets = queues.iter().zip(0..).map(|(queued, minute)| Bucket {
            start: UnixMillis(minute * 60_000),
            activity: Activity { fetches, queued: *queued, ..Activity::default() },
        });
        buckets.collect()
    }

    fn after(minutes: &[Bucket]) -> Progress {
        let now = minutes.last().map_or(UnixMillis(0), |last| last.start.plus_ms(60_000));
        progress(minutes, 1_000, now)
    }

    #[test]
    fn a_queue_that_gets_shorter_has_an_end() {
        let shrinking = after(&minutes(60, &[Some(900), Some(800), None, Some(600)]));
        assert_eq!(shrinking.state, ProgressState::Shrinking);
        assert!((shrinking.fetches_per_s - 1.0).abs() < 1e-9);
        let growth = shrinking.queue_growth_per_s.unwrap();
        assert!((growth + 100.0 / 60.0).abs() < 1e-9, "{growth}");
        let end = shrinking.expected_end.unwrap().0;
        assert_eq!(end, UnixMillis(4 * 60_000 + 6 * 60_000), "six minutes from now");
    }

    #[test]
    fn a_queue_that_does_not_get_shorter_has_none() {
        for queues in [[Some(5), Some(5)], [Some(5), Some(6)], [Some(u64::MAX), Some(u64::MAX - 1)]]
        {
            let growing = after(&minutes(60, &queues));
            assert_eq!(growing.state, ProgressState::Growing, "{queues:?}");
            assert_eq!(growing.expected_end, None);
        }
    }

    #[test]
    fn finished_waiting_and_unknown_are_told_apart() {
        assert_eq!(after(&minutes(9, &[Some(4), Some(0)])).state, ProgressState::Finished);
        assert_eq!(after(&minutes(0, &[Some(4), Some(3)])).state, ProgressState::Waiting);
        assert_eq!(after(&minutes(9, &[None, None])).state, ProgressState::Unknown);
        assert_eq!(after(&[]).state, ProgressState::Unknown);
    }
}
