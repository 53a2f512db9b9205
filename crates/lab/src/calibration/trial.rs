//! Trial of calibration on generated fetch times.

use delegation::calibration::{Baseline, Comparison, ReopenLimits, Sensitivity, TimingReports};
use model::UnixMillis;

use super::FetchTimeSettings;
use super::fetch_times::FetchTimes;
use crate::Noise;

/// Size of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrialSettings {
    pub subnets: u64,
    /// Pages in each.
    pub pages: u64,
    /// Fetches of each page before the change, and as many at most after it.
    pub fetches: u64,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// Figures of a trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Calibration {
    /// Fetches of pages whose path did not change.
    pub steady_fetches: u64,
    /// Pages that were reported although nothing changed, over those fetches.
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
    /// How often a steady subnet was opened again, per subnet and day.
    pub steady_moves_per_day: f64,
    /// The most often that one steady subnet was opened again within a day.
    pub most_moves_a_day: usize,
}

/// Runs steady pages, then makes every path `slowdown` times as long.
pub fn calibration(
    series: FetchTimeSettings,
    sensitivity: Sensitivity,
    days: TrialSettings,
    slowdown: f64,
) -> Calibration {
    let mut count = Count::default();
    for subnet in 0..days.subnets {
        let mut pages: Vec<Page> = (0..days.pages)
            .map(|page| Page::new(series, days.seed, subnet * days.pages + page))
            .collect();
        count.steady(&mut pages, sensitivity, days.fetches);
        for page in &mut pages {
            count.slowed(page, sensitivity, days.fetches, slowdown);
        }
    }
    count.result(series, days)
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
    moves: u64,
    most_moves_a_day: usize,
}

const DAY_MS: f64 = 86_400_000.0;

impl Count {
    /// Nothing changes: every report is a false alarm. A report opens an incident, so the baseline
    /// begins anew.
    fn steady(&mut self, pages: &mut [Page], sensitivity: Sensitivity, fetches: u64) {
        let rest = ReopenLimits::default();
        let mut timing_reports = TimingReports::default();
        let mut moved = Vec::new();
        for _ in 0..fetches {
            for page in pages.iter_mut() {
                let at = UnixMillis((page.series.day() * DAY_MS) as i64);
                self.steady_fetches += 1;
                match page.baseline.observe(&sensitivity, page.series.next(1.0)) {
                    Comparison::Slower { .. } => {
                        self.false_alarms += 1;
                        page.baseline.reset();
                        if timing_reports.slower(&rest, at) {
                            timing_reports.delegated(at);
                            moved.push(page.series.day());
                        }
                    }
                    Comparison::Normal => timing_reports.usual(&rest, at),
                    Comparison::Learning | Comparison::Slow => {}
                }
            }
        }
        let within =
            |day: &f64| moved.iter().filter(|other| (*day..*day + 1.0).contains(*other)).count();
        self.moves += moved.len() as u64;
        self.most_moves_a_day =
            self.most_moves_a_day.max(moved.iter().map(within).max().unwrap_or(0));
    }

    /// Observes a page whose path is slower from now on.
    fn slowed(&mut self, page: &mut Page, sensitivity: Sensitivity, fetches: u64, slowdown: f64) {
        if page.baseline.is_learning() {
            return;
        }
        self.slowed += 1;
        let found = (1..=fetches).find(|_| {
            let seen = page.baseline.observe(&sensitivity, page.series.next(slowdown));
            matches!(seen, Comparison::Slower { .. })
        });
        if let Some(found) = found {
            self.found.push(found);
            self.soon += u64::from(found <= u64::from(sensitivity.repeats) + 3);
        }
    }

    fn result(mut self, series: FetchTimeSettings, days: TrialSettings) -> Calibration {
        self.found.sort_unstable();
        let found = self.found.len();
        let share = |part: u64| part as f64 / self.slowed.max(1) as f64;
        let subnet_days = days.subnets as f64 * days.fetches as f64 * series.interval_hours / 24.0;
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
            steady_moves_per_day: self.moves as f64 / subnet_days.max(f64::MIN_POSITIVE),
            most_moves_a_day: self.most_moves_a_day,
        }
    }
}
