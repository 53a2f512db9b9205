//! Trial of calibration on generated fetch times.

use delegation::calibration::{Baseline, Comparison};
use model::Slowdown;
use serde::Serialize;

use super::FetchTimeSettings;
use super::fetch_times::FetchTimes;
use crate::Noise;

/// Size of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, clap::Args)]
pub struct TrialSettings {
    /// How many subnets
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub subnets: u64,
    /// Pages in each
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pub pages: u64,
    /// Fetches of each page before the change, and as many at most after it
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    pub fetches: u64,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// Figures of a trial.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Calibration {
    /// Fetches of pages whose path did not change.
    pub steady_fetches: u64,
    /// Reports although nothing changed, over those fetches.
    pub false_alarm_share: f64,
    /// Pages whose path became slower and which had been seen often enough to compare.
    pub slowed_pages: u64,
    /// Share of them that was reported at all.
    pub found_share: f64,
    /// Share of them that was reported within the repeats and three fetches more.
    pub found_soon_share: f64,
    /// Fetches until the report, mean and 99th percentile, of those that were.
    pub fetches_to_find_mean: f64,
    pub fetches_to_find_p99: u64,
}

/// Runs steady pages, then makes every path `slowdown` times as long.
pub fn calibration(
    series: FetchTimeSettings,
    sensitivity: Slowdown,
    days: TrialSettings,
    slowdown: f64,
) -> Calibration {
    let mut count = Count::default();
    for number in 0..days.subnets * days.pages {
        let mut page = Page::new(series, days.seed, number);
        count.steady(&mut page, sensitivity, days.fetches);
        count.slowed(&mut page, sensitivity, days.fetches, slowdown);
    }
    count.result()
}

struct Page {
    series: FetchTimes,
    baseline: Baseline,
}

impl Page {
    fn new(settings: FetchTimeSettings, seed: u64, number: u64) -> Self {
        Self {
            series: FetchTimes::new(settings, Noise::new(seed), number),
            baseline: Baseline::default(),
        }
    }
}

#[derive(Default)]
struct Count {
    steady_fetches: u64,
    false_alarms: u64,
    slowed: u64,
    found: Vec<u64>,
    soon: u64,
}

impl Count {
    /// Nothing changes: every report is a false alarm. The baseline goes on, because the
    /// coordinator lets an agent forget it only after several reports.
    fn steady(&mut self, page: &mut Page, sensitivity: Slowdown, fetches: u64) {
        self.steady_fetches += fetches;
        for _ in 0..fetches {
            let seen = page.baseline.observe(sensitivity, page.series.next(1.0));
            self.false_alarms += u64::from(matches!(seen, Comparison::Slower { .. }));
        }
    }

    /// Observes a page whose path is slower from now on.
    fn slowed(&mut self, page: &mut Page, sensitivity: Slowdown, fetches: u64, slowdown: f64) {
        if page.baseline.is_learning() {
            return;
        }
        self.slowed += 1;
        let found = (1..=fetches).find(|_| {
            let seen = page.baseline.observe(sensitivity, page.series.next(slowdown));
            matches!(seen, Comparison::Slower { .. })
        });
        if let Some(found) = found {
            self.found.push(found);
            self.soon += u64::from(found <= u64::from(sensitivity.repeats) + 3);
        }
    }

    fn result(mut self) -> Calibration {
        self.found.sort_unstable();
        let found = self.found.len();
        let share = |part: u64| part as f64 / self.slowed.max(1) as f64;
        Calibration {
            steady_fetches: self.steady_fetches,
            false_alarm_share: self.false_alarms as f64 / self.steady_fetches.max(1) as f64,
            slowed_pages: self.slowed,
            found_share: share(found as u64),
            found_soon_share: share(self.soon),
            fetches_to_find_mean: self.found.iter().sum::<u64>() as f64 / found.max(1) as f64,
            fetches_to_find_p99: self
                .found
                .get((found * 99 / 100).min(found.max(1) - 1))
                .copied()
                .unwrap_or(0),
        }
    }
}
