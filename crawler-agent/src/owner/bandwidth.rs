//! Bandwidth: the rate at which all fetches together may read from their sockets.
//!
//! A reader reserves the bytes of its next read once data has arrived, and waits until the bucket
//! has filled that far. Unread data stays in the socket's buffer, and TCP slows the server down.
//! Reservations are served in their order, so that no fetch starves.

use std::time::Duration;

use crate::token_bucket::TokenBucket;

/// Most bytes of one reservation. Smaller ones share the rate more evenly, larger ones cost less.
const MAX_READ: u64 = 16 << 10;
/// Time for which the bucket may fill while there are no reads.
const BURST: Duration = Duration::from_millis(100);

/// How a read may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadGrant {
    /// Bytes that may be read; zero if a budget is used up.
    pub bytes: u64,
    /// Time until then.
    pub wait: Duration,
}

/// A bucket of bytes.
pub(super) fn bucket(bytes_per_second: u64) -> TokenBucket {
    TokenBucket::new(bytes_per_second, BURST)
}

/// Reserves a read of at most `wanted` bytes.
pub(super) fn reserve(bucket: &mut TokenBucket, wanted: u64, now: Duration) -> ReadGrant {
    let bytes = wanted.min(MAX_READ);
    ReadGrant { bytes, wait: bucket.reserve(bytes, now) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn readers_are_served_in_their_order() {
        let mut bucket = bucket(MAX_READ);
        let now = Duration::from_secs(10);
        let waits: Vec<u64> =
            (0..4).map(|_| reserve(&mut bucket, 1 << 20, now).wait.as_millis() as u64).collect();
        assert_eq!(waits, [900, 1_900, 2_900, 3_900]);
        assert_eq!(bucket.backlog(now), Duration::from_millis(3_900));
        bucket.give_back(MAX_READ);
        assert_eq!(bucket.backlog(now + Duration::from_secs(1)), Duration::from_millis(1_900));
    }

    proptest! {
        /// However reads are spread over tasks and time, their sum never exceeds the rate by more
        /// than a burst.
        #[test]
        fn the_rate_is_kept(
            rate in 8_192_u64..10_000_000,
            reads in prop::collection::vec((1_u64..100_000, 0_u64..50, any::<bool>()), 1..300),
        ) {
            let mut bucket = bucket(rate);
            let mut now = Duration::ZERO;
            let mut last = Duration::ZERO;
            let mut read = 0;
            for (wanted, pause, half) in reads {
                now += Duration::from_millis(pause);
                let reserved = reserve(&mut bucket, wanted, now);
                let unread = if half { reserved.bytes / 2 } else { 0 };
                bucket.give_back(unread);
                read += reserved.bytes - unread;
                last = last.max(now + bucket.backlog(now));
                let most = (last + BURST).as_secs_f64() * rate as f64;
                prop_assert!(read as f64 <= most + 1.0, "{read} of {most}");
            }
        }
    }
}
