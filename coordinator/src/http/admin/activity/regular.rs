//! Series without gaps: a bucket in which nothing happened has no row.

use model::{ActivityStep, UnixMillis};
use store::activity::{Activity, Bucket};

/// All buckets from the first that is known up to `until`; those without a row are empty.
pub(super) fn without_gaps(known: &[Bucket], step: ActivityStep, until: UnixMillis) -> Vec<Bucket> {
    let mut buckets = Vec::new();
    let Some(first) = known.first() else { return buckets };
    let mut rows = known.iter().peekable();
    let mut start = step.start_of(first.start);
    while start < until {
        let activity = match rows.next_if(|row| row.start <= start) {
            Some(row) => row.activity,
            None => Activity::default(),
        };
        buckets.push(Bucket { start, activity });
        start = start.plus_ms(step.milliseconds());
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bucket(minute: i64, pages: u64) -> Bucket {
        let activity = Activity { pages, ..Activity::default() };
        Bucket { start: UnixMillis(minute * 60_000), activity }
    }

    #[test]
    fn missing_buckets_are_empty_and_nothing_is_claimed_before_the_first() {
        let known = [bucket(3, 7), bucket(6, 9)];
        let all = without_gaps(&known, ActivityStep::Minute, UnixMillis(8 * 60_000));
        let seen: Vec<_> =
            all.iter().map(|bucket| (bucket.start.0 / 60_000, bucket.activity.pages)).collect();
        assert_eq!(seen, [(3, 7), (4, 0), (5, 0), (6, 9), (7, 0)]);
        assert!(without_gaps(&[], ActivityStep::Day, UnixMillis(1)).is_empty());
    }
}
