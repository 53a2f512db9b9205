//! Whole subnets with slow paths and slow servers, by how often they are fetched from.

use lab::{Change, FetchTimeSettings, PathTrial, PathTrialSettings, TrialSettings, path_trial};
use model::Slowdown;
use serde::Serialize;

/// Fetches of a subnet in a day: many, ten, and one a week.
const FETCHES_A_DAY: [f64; 3] = [100.0, 10.0, 1.0 / 7.0];
/// Days before the change: two months, so that false incidents are rare and counted.
const STEADY_DAYS: f64 = 60.0;

/// Figures of one trial.
#[derive(Debug, Serialize)]
pub(crate) struct PathReport {
    fetches_a_day: f64,
    awake_hours: f64,
    #[serde(flatten)]
    change: Change,
    #[serde(flatten)]
    seen: PathTrial,
}

/// A trial of a slower path and one of a slower server at each rate of fetches.
pub(crate) fn reports(
    series: FetchTimeSettings,
    sensitivity: Slowdown,
    size: &TrialSettings,
    slowdown: f64,
    awake_hours: f64,
) -> Vec<PathReport> {
    let changes = [Change { path: slowdown, server: 1.0 }, Change { path: 1.0, server: slowdown }];
    let mut reports = Vec::new();
    for fetches_a_day in FETCHES_A_DAY {
        for change in changes {
            let settings = PathTrialSettings {
                subnets: size.subnets,
                pages: size.pages,
                fetches_a_day,
                steady_days: STEADY_DAYS,
                awake_hours,
                seed: size.seed,
            };
            let seen = path_trial(series, sensitivity, settings, change);
            reports.push(PathReport { fetches_a_day, awake_hours, change, seen });
        }
    }
    reports
}
