//! Calibration on made-up series: what is slow is found soon, what is usual is left alone.

use delegation::{
    calibration::Baseline, calibration::Comparison, calibration::Failback, calibration::Timing,
    calibration::TimingReports, calibration::cause,
};
use model::policy::CalibrationPolicy;
use model::{AgentId, IncidentCause, Slowdown, UnixMillis};
use proptest::prelude::*;

const HOUR: i64 = 3_600_000;

fn at(hours: u64) -> UnixMillis {
    UnixMillis(0).plus_ms((1_000_000 + i64::try_from(hours).unwrap()) * HOUR)
}

fn steady(count: usize, ms: f64) -> Baseline {
    let mut baseline = Baseline::default();
    for _ in 0..count {
        baseline.observe(Slowdown::default(), Timing { ms, bytes: 10_000 });
    }
    baseline
}

/// Fetches at `ms` until it is reported; `None` after thirty.
fn fetches_until_reported(baseline: &mut Baseline, slowdown: Slowdown, ms: f64) -> Option<usize> {
    (1..=30).find(|_| {
        matches!(
            baseline.observe(slowdown, Timing { ms, bytes: 10_000 }),
            Comparison::Slower { .. }
        )
    })
}

#[test]
fn a_doubling_of_a_steady_page_takes_just_the_repeats() {
    for repeats in 1..6 {
        let slowdown = Slowdown { repeats, ..Slowdown::default() };
        let seen = fetches_until_reported(&mut steady(20, 80.0), slowdown, 160.0).unwrap();
        let repeats = repeats as usize;
        assert!((repeats..=repeats + 3).contains(&seen), "{repeats}: {seen}");
    }
}

#[test]
fn a_single_outlier_says_nothing() {
    let mut baseline = steady(20, 80.0);
    let timing = |ms| Timing { ms, bytes: 10_000 };
    for _ in 0..50 {
        assert_eq!(baseline.observe(Slowdown::default(), timing(8_000.0)), Comparison::Slow);
        for _ in 0..5 {
            assert_eq!(baseline.observe(Slowdown::default(), timing(80.0)), Comparison::Normal);
        }
    }
    // The usual time is still about 80 ms: slow begins at the square root of the factor, 1.41.
    assert_eq!(baseline.observe(Slowdown::default(), timing(108.0)), Comparison::Normal);
    assert_eq!(baseline.observe(Slowdown::default(), timing(120.0)), Comparison::Slow);
}

#[test]
fn a_page_that_grew_is_not_slow() {
    let mut baseline = Baseline::default();
    let timing = |kilobytes: u64| Timing { ms: 40.0 + kilobytes as f64, bytes: kilobytes * 1024 };
    for n in 0..30 {
        baseline.observe(Slowdown::default(), timing(20 + n % 10 * 4));
    }
    for _ in 0..20 {
        let seen = baseline.observe(Slowdown::default(), timing(200));
        assert!(
            !matches!(seen, Comparison::Slower { .. }),
            "ten times the bytes take longer: {seen:?}"
        );
    }
}

#[test]
fn after_settling_it_learns_anew() {
    let mut baseline = steady(20, 80.0);
    assert!(fetches_until_reported(&mut baseline, Slowdown::default(), 200.0).is_some());
    baseline.reset();
    assert_eq!(fetches_until_reported(&mut baseline, Slowdown::default(), 200.0), None);
}

#[test]
fn a_second_agent_tells_the_server_from_the_way() {
    assert_eq!(cause(2.0, 50.0, 52.0), IncidentCause::Path);
    assert_eq!(cause(2.0, 50.0, 98.0), IncidentCause::Server);
}

#[test]
fn a_subnet_is_not_moved_again_before_its_rest() {
    let rest = CalibrationPolicy::default();
    let mut timing_reports = TimingReports::default();
    timing_reports.delegated(at(0));
    assert!(!(1..24).any(|hour| timing_reports.slower(&rest, at(hour))));
    assert!(timing_reports.slower(&rest, at(24)));
}

#[test]
fn one_slow_page_among_many_usual_ones_moves_nothing() {
    let rest = CalibrationPolicy::default();
    let mut timing_reports = TimingReports::default();
    for _ in 0..3 {
        timing_reports.usual(&rest, at(0));
    }
    assert!(!timing_reports.slower(&rest, at(0)) && !timing_reports.slower(&rest, at(0)));
    assert!(timing_reports.slower(&rest, at(0)), "half of what was heard is slower");
    assert!(timing_reports.slower(&rest, at(9)), "what was heard long ago does not count");
}

#[test]
fn it_goes_back_when_the_way_is_as_before() {
    let rest = CalibrationPolicy::default();
    let mut failback = Failback::new(AgentId::new(1), 20_000, at(0));
    assert!(!failback.is_due(&rest, at(0)) && failback.is_due(&rest, at(1)));
    assert!(!failback.observe(&rest, 120_000, 60_000, at(30)), "still slow");
    assert!(!failback.is_due(&rest, at(30)));
    assert!(!failback.observe(&rest, 21_000, 60_000, at(31)), "once may be chance");
    assert!(!failback.observe(&rest, 120_000, 60_000, at(32)));
    assert!(!failback.observe(&rest, 21_000, 60_000, at(33)));
    assert!(failback.observe(&rest, 22_000, 60_000, at(34)));
    let mut early = Failback::new(AgentId::new(1), 20_000, at(0));
    assert!(!(1..24).any(|hour| early.observe(&rest, 20_000, 60_000, at(hour))), "it has its rest");
    let mut equal = Failback::new(AgentId::new(1), 20_000, at(0));
    assert!(
        !(1..90).any(|hour| equal.observe(&rest, 19_500, 20_000, at(hour))),
        "equals do not swap"
    );
}

#[test]
fn a_path_that_stays_slow_is_measured_once_a_day_at_last() {
    let rest = CalibrationPolicy::default();
    let mut failback = Failback::new(AgentId::new(1), 20_000, at(0));
    let measured: Vec<u64> = (0..200)
        .filter(|hour| {
            let is_due = failback.is_due(&rest, at(*hour));
            is_due && !failback.observe(&rest, 120_000, 60_000, at(*hour))
        })
        .collect();
    assert_eq!(measured, [1, 3, 7, 15, 31, 55, 79, 103, 127, 151, 175, 199]);
    // One good measurement: the next comes after a window again.
    assert!(!failback.observe(&rest, 21_000, 60_000, at(223)));
    assert!(failback.is_due(&rest, at(224)));
}

#[test]
fn a_subnet_stays_after_thirty_days_unless_its_former_agent_is_nearer_again() {
    let rest = CalibrationPolicy::default();
    let mut failback = Failback::new(AgentId::new(1), 20_000, at(0));
    assert!(!failback.observe(&rest, 120_000, 60_000, at(24)));
    assert!(!failback.is_over(&rest, at(719)) && failback.is_over(&rest, at(720)));
    assert!(failback.after_search(at(700)).is_over(&rest, at(720)), "it was away all the time");
    assert!(!failback.observe(&rest, 21_000, 60_000, at(719)), "once may be chance");
    assert!(!failback.is_over(&rest, at(720)) && failback.is_over(&rest, at(1_440)));
    let rare = CalibrationPolicy { window_s: 200 * 3_600, ..rest };
    let failback = Failback::new(AgentId::new(1), 20_000, at(0));
    assert!(!failback.is_over(&rare, at(1_599)) && failback.is_over(&rare, at(1_600)));
}

#[test]
fn a_report_that_did_not_come_is_no_slow_path() {
    let rest = CalibrationPolicy::default();
    let mut failback = Failback::new(AgentId::new(1), 20_000, at(0));
    for hour in [1, 3, 7, 15] {
        assert!(
            !failback.is_due(&rest, at(hour - 1)) && failback.is_due(&rest, at(hour)),
            "{hour}"
        );
        failback.not_reported(at(hour));
    }
    assert!(!failback.observe(&rest, 21_000, 60_000, at(30)));
    failback.not_reported(at(31));
    assert!(failback.observe(&rest, 21_000, 60_000, at(32)), "the second good one");
}

proptest! {
    /// Whatever is slow, the times of a page within half the factor of each other are never
    /// reported.
    #[test]
    fn small_changes_are_never_reported(
        times in prop::collection::vec(70.0..95.0, 0..200),
        percent in 200_u32..400,
    ) {
        let mut baseline = Baseline::default();
        for ms in times {
            let seen =
                baseline.observe(Slowdown { percent, repeats: 1 }, Timing { ms, bytes: 5_000 });
            prop_assert!(matches!(seen, Comparison::Learning | Comparison::Normal), "{seen:?}");
        }
    }

    /// Never reported before this many slow timings in a row.
    #[test]
    fn repeats_are_kept(
        times in prop::collection::vec(prop::sample::select(vec![50.0, 100.0, 400.0]), 0..100),
        repeats in 1_u32..6,
    ) {
        let mut baseline = Baseline::default();
        let mut in_a_row = 0;
        for ms in times {
            match baseline
                .observe(Slowdown { percent: 200, repeats }, Timing { ms, bytes: 5_000 })
            {
                Comparison::Learning | Comparison::Normal => in_a_row = 0,
                Comparison::Slow => in_a_row += 1,
                Comparison::Slower { ratio } => {
                    in_a_row += 1;
                    prop_assert!(in_a_row >= repeats && ratio > 1.0);
                }
            }
        }
    }

    /// A subnet whose pages report at any time is opened again at most once a day.
    #[test]
    fn at_most_once_a_day(reports in prop::collection::vec((0_u64..240, any::<bool>()), 0..300)) {
        let rest = CalibrationPolicy::default();
        let mut timing_reports = TimingReports::default();
        let mut opened = Vec::new();
        let mut reports = reports;
        reports.sort_unstable();
        for (hour, is_slow) in reports {
            if is_slow && timing_reports.slower(&rest, at(hour)) {
                timing_reports.delegated(at(hour));
                opened.push(hour);
            } else if !is_slow {
                timing_reports.usual(&rest, at(hour));
            }
        }
        prop_assert!(opened.windows(2).all(|pair| pair[1] - pair[0] >= 24), "{opened:?}");
    }
}
