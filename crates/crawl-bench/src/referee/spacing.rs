//! Gaps between requests to one host or one address, and how many were answered at a time.

use std::time::Duration;

/// The requests to one host or one address.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Spacing {
    in_flight: u32,
    most_in_flight: u32,
    /// When the last answer was out, since the server started.
    last_end: Option<Duration>,
    smallest_gap: Option<Duration>,
}

impl Spacing {
    /// A request has arrived.
    pub fn begin(&mut self, now: Duration) {
        if self.in_flight > 0 {
            // A request that arrives while another is answered leaves no gap at all.
            self.smallest_gap = Some(Duration::ZERO);
        } else if let Some(end) = self.last_end {
            let gap = now.saturating_sub(end);
            self.smallest_gap = Some(self.smallest_gap.map_or(gap, |smallest| smallest.min(gap)));
        }
        self.in_flight += 1;
        self.most_in_flight = self.most_in_flight.max(self.in_flight);
    }

    /// An answer is out, or its client has gone.
    pub fn end(&mut self, now: Duration) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.last_end = Some(now);
    }

    /// Most requests that were answered at the same time.
    pub fn most_in_flight(&self) -> u32 {
        self.most_in_flight
    }

    /// Least time between the end of an answer and the start of the next request.
    pub fn smallest_gap(&self) -> Option<Duration> {
        self.smallest_gap
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_gap_lasts_from_the_end_of_an_answer_to_the_next_request() {
        let mut spacing = Spacing::default();
        spacing.begin(ms(100));
        assert_eq!(spacing.smallest_gap(), None, "there was nothing before");
        spacing.end(ms(150));
        spacing.begin(ms(250));
        spacing.end(ms(251));
        assert_eq!(spacing.smallest_gap(), Some(ms(100)));
        spacing.begin(ms(281));
        spacing.end(ms(282));
        spacing.begin(ms(900));
        assert_eq!(spacing.smallest_gap(), Some(ms(30)), "the smallest stays");
        assert_eq!(spacing.most_in_flight(), 1);
    }

    #[test]
    fn requests_at_the_same_time_leave_no_gap() {
        let mut spacing = Spacing::default();
        spacing.begin(ms(1));
        spacing.begin(ms(2));
        spacing.begin(ms(3));
        spacing.end(ms(4));
        assert_eq!(spacing.smallest_gap(), Some(Duration::ZERO));
        assert_eq!(spacing.most_in_flight(), 3);
        spacing.end(ms(5));
        spacing.end(ms(6));
        spacing.begin(ms(9));
        assert_eq!(spacing.most_in_flight(), 3);
    }
}
