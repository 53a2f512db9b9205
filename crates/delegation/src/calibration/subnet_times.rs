//! Path and pages of one subnet, judged together.

use model::policy::CalibrationPolicy;
use model::{Slowdown, UnixMillis};
use serde::{Deserialize, Serialize};

use super::{PathBaseline, PathComparison, TimingReports};

/// What the coordinator keeps of one subnet.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SubnetTimes {
    pub pages: TimingReports,
    pub path: PathTimes,
}

/// What agents reported of a subnet since the last time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct NewTimes {
    /// Pages that took their usual time.
    pub usual: u32,
    /// Reports of pages that were slower.
    pub slower: u32,
    /// Recent time over usual time of the page that was last reported slower.
    pub page_ratio: Option<f64>,
    /// A round trip, of a new connection or a check, in microseconds, and when it came.
    pub round_trip: Option<(u32, UnixMillis)>,
}

/// What follows from it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct SubnetVerdict {
    /// What became slower, so that an incident is opened.
    pub slowdown: Option<SubnetSlowdown>,
    /// When the path is to be checked if no round trip comes before; none leaves it as it was.
    pub check_at: Option<UnixMillis>,
}

/// What became slower.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SubnetSlowdown {
    /// The path from the agent to the subnet.
    Path {
        /// Recent round trip over the usual one.
        ratio: f64,
    },
    /// Most of the pages that were reported.
    Pages {
        /// Recent time over usual time of one of them.
        ratio: f64,
        /// Recent round trip over the usual one; none while that is learned.
        path_ratio: Option<f64>,
    },
}

/// What is known of the path to one subnet.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PathTimes {
    baseline: PathBaseline,
    /// Recent round trip over the usual one, after the last comparison; none while that is learned.
    ratio: Option<f64>,
    /// Reports of slower pages since usual times prevailed or the path was suspected.
    slower_pages: u32,
    /// Usual round trips since the first of these reports.
    usual_round_trips: u32,
}

/// Reports of slower pages after which the server is slow if the path is not, and after which they
/// are believed while the path is learned.
const SERVER_REPORTS: u32 = 5;
/// Usual round trips that show meanwhile that the path is not.
const SERVER_ROUND_TRIPS: u32 = 3;

impl SubnetTimes {
    /// Nothing is known yet of a subnet that was delegated at this time.
    pub fn delegated(at: UnixMillis) -> Self {
        let mut pages = TimingReports::default();
        pages.delegated(at);
        Self { pages, path: PathTimes::default() }
    }

    /// Adds what was reported, and judges it.
    pub fn observe(
        &mut self,
        policy: &CalibrationPolicy,
        new: &NewTimes,
        now: UnixMillis,
    ) -> SubnetVerdict {
        let compared =
            new.round_trip.map(|(rtt_us, at)| self.path.observe(policy.slowdown, rtt_us, at));
        let check_at = compared.map(|comparison| comparison.next_check(now));
        let are_pages_slower = self.count_pages(policy, new, now);
        if let Some(PathComparison::Slower { ratio }) = compared
            && self.pages.may_reopen(policy, now)
        {
            return SubnetVerdict { slowdown: Some(SubnetSlowdown::Path { ratio }), check_at };
        }
        if !are_pages_slower {
            return SubnetVerdict { slowdown: None, check_at };
        }
        // A slow path slows connections as well, so that slow pages say nothing against a path
        // whose round trips are as usual. A check shows whether they still are. While a path is
        // learned, few reports are more likely chance than a slowdown.
        let path_ratio = self.path.ratio;
        let are_believed = match path_ratio {
            Some(_) => self.path.is_server_slow(),
            None => self.path.baseline.is_empty() || self.path.slower_pages >= SERVER_REPORTS,
        };
        if !are_believed {
            return SubnetVerdict { slowdown: None, check_at: Some(now) };
        }
        self.path.clear_server();
        let ratio = new.page_ratio.unwrap_or(1.0);
        SubnetVerdict { slowdown: Some(SubnetSlowdown::Pages { ratio, path_ratio }), check_at }
    }

    /// Adds reports of pages. Returns whether most pages became slower.
    fn count_pages(&mut self, policy: &CalibrationPolicy, new: &NewTimes, now: UnixMillis) -> bool {
        // The order is not known. Usual times come first, so that the last slow page is compared
        // with all of them.
        for _ in 0..new.usual {
            self.pages.usual(policy, now);
        }
        let mut are_slower = false;
        for _ in 0..new.slower {
            are_slower = self.pages.slower(policy, now);
        }
        if new.usual > new.slower {
            self.path.clear_server();
        } else {
            self.path.slower_pages = self.path.slower_pages.saturating_add(new.slower);
        }
        are_slower
    }
}

impl PathTimes {
    fn observe(&mut self, slowdown: Slowdown, rtt_us: u32, at: UnixMillis) -> PathComparison {
        let comparison = self.baseline.observe(slowdown, rtt_us, at);
        match comparison {
            PathComparison::Learning => self.ratio = None,
            PathComparison::Usual => {
                self.ratio = Some(1.0);
                if self.slower_pages > 0 {
                    self.usual_round_trips = self.usual_round_trips.saturating_add(1);
                }
            }
            // Slow pages are no surprise over a slow path.
            PathComparison::Suspect => self.clear_server(),
            PathComparison::Slower { ratio } => {
                self.ratio = Some(ratio);
                self.clear_server();
            }
        }
        comparison
    }

    fn is_server_slow(&self) -> bool {
        self.slower_pages >= SERVER_REPORTS && self.usual_round_trips >= SERVER_ROUND_TRIPS
    }

    fn clear_server(&mut self) {
        self.slower_pages = 0;
        self.usual_round_trips = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn at(hours: i64) -> UnixMillis {
        UnixMillis(hours * HOUR)
    }

    /// A subnet that was delegated long ago, after round trips of 50 ms in this many hours.
    fn after(hours: i64) -> SubnetTimes {
        let mut times = SubnetTimes::delegated(at(-1_000));
        for hour in 0..hours {
            observe(&mut times, hour, Some(50_000), 0);
        }
        times
    }

    fn observe(
        times: &mut SubnetTimes,
        hour: i64,
        rtt_us: Option<u32>,
        slower: u32,
    ) -> SubnetVerdict {
        let round_trip = rtt_us.map(|us| (us, at(hour)));
        let new = NewTimes { slower, page_ratio: Some(3.0), round_trip, ..NewTimes::default() };
        times.observe(&CalibrationPolicy::default(), &new, at(hour))
    }

    #[test]
    fn a_path_that_stays_slow_is_found_within_hours() {
        let mut times = after(60);
        let found = (60..72).find_map(|hour| {
            let slowdown = observe(&mut times, hour, Some(100_000), 0).slowdown?;
            Some((hour, slowdown))
        });
        let Some((hour, SubnetSlowdown::Path { ratio })) = found else { panic!("{found:?}") };
        assert!(hour <= 65 && (ratio - 2.0).abs() < 0.01, "{hour} {ratio}");
    }

    #[test]
    fn a_subnet_that_was_just_delegated_stays() {
        let mut times = after(60);
        times.pages.delegated(at(59));
        assert!(
            (60..82).all(|hour| { observe(&mut times, hour, Some(100_000), 0).slowdown.is_none() })
        );
        let slowdown = observe(&mut times, 83, Some(100_000), 0).slowdown;
        assert!(matches!(slowdown, Some(SubnetSlowdown::Path { .. })), "{slowdown:?}");
    }

    #[test]
    fn slow_pages_over_an_unknown_path_need_an_incident() {
        let pages = Some(SubnetSlowdown::Pages { ratio: 3.0, path_ratio: None });
        assert_eq!(observe(&mut after(0), 4, None, 1).slowdown, pages);
        let mut learning = after(3);
        assert!((0..4).all(|_| observe(&mut learning, 4, None, 1).slowdown.is_none()));
        assert_eq!(observe(&mut learning, 4, None, 1).slowdown, pages);
    }

    #[test]
    fn slow_pages_over_a_usual_path_are_the_servers() {
        let mut times = after(60);
        for _ in 0..6 {
            let verdict = observe(&mut times, 60, None, 1);
            assert_eq!((verdict.slowdown, verdict.check_at), (None, Some(at(60))));
        }
        assert_eq!(observe(&mut times, 61, Some(50_000), 0).slowdown, None);
        assert_eq!(observe(&mut times, 62, Some(50_000), 1).slowdown, None);
        let slowdown = observe(&mut times, 63, Some(50_000), 1).slowdown;
        assert_eq!(slowdown, Some(SubnetSlowdown::Pages { ratio: 3.0, path_ratio: Some(1.0) }));
    }

    #[test]
    fn usual_pages_in_between_clear_the_server() {
        let mut times = after(60);
        for _ in 0..20 {
            assert_eq!(observe(&mut times, 60, None, 1).slowdown, None);
            let usual = NewTimes { usual: 2, ..NewTimes::default() };
            times.observe(&CalibrationPolicy::default(), &usual, at(60));
        }
    }
}
