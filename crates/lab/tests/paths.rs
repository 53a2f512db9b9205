//! Guards of calibration in days: the shipped constants keep what the issue of prediction and
//! `docs/benchmarks/lab.md` promise.

use lab::{Change, FetchTimeSettings, PathTrial, PathTrialSettings, path_trial};
use model::Slowdown;

const SLOW_PATH: Change = Change { path: 2.0, server: 1.0 };

fn trial(fetches_a_day: f64, awake_hours: f64, change: Change) -> PathTrial {
    let settings = PathTrialSettings {
        subnets: 400,
        pages: 10,
        fetches_a_day,
        steady_days: 60.0,
        awake_hours,
        seed: 7,
    };
    path_trial(FetchTimeSettings::default(), Slowdown::default(), settings, change)
}

#[test]
fn a_path_that_doubles_is_found_in_a_day_and_left_in_a_day_and_a_half() {
    for (fetches_a_day, awake_hours) in [(100.0, 24.0), (10.0, 24.0), (10.0, 12.0)] {
        let seen = trial(fetches_a_day, awake_hours, SLOW_PATH);
        assert!(seen.found_in_24_hours >= 0.95, "{fetches_a_day}: {seen:?}");
        assert!(seen.moved_in_36_hours >= 0.95, "{fetches_a_day}: {seen:?}");
        assert!(seen.false_incidents <= 1.0, "{fetches_a_day}: {seen:?}");
    }
}

#[test]
fn a_quiet_subnet_is_found_in_eight_days() {
    let seen = trial(1.0 / 7.0, 24.0, SLOW_PATH);
    assert!(seen.found_in_8_days >= 0.95, "{seen:?}");
    assert!(seen.false_incidents <= 1.0, "{seen:?}");
    assert!(seen.checks_a_day <= 0.5, "{seen:?}");
}

#[test]
fn a_slow_server_keeps_its_agent() {
    for server in [2.0, 4.0] {
        let seen = trial(100.0, 24.0, Change { path: 1.0, server });
        assert!(seen.moved.abs() < f64::EPSILON, "{server}: {seen:?}");
    }
}
