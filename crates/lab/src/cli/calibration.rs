use delegation::calibration::Sensitivity;
use lab::{FetchTimeSettings, TrialSettings, calibration};
use serde::Serialize;

use crate::cli::calibration_paths::{self, PathReport};
use crate::cli::output;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Slowdown that is reported
    #[arg(long, default_value_t = 2.0)]
    factor: f64,
    /// Slow fetches in a row before a report
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    repeats: u32,
    #[arg(long, default_value_t = 2.0)]
    slowdown: f64,
    /// How many subnets
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    subnets: u64,
    /// Pages in each
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    pages: u64,
    /// Fetches of each page before the change
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
    fetches: u64,
    /// Lognormal sigma of one fetch
    #[arg(long, default_value_t = FetchTimeSettings::default().noise, value_name = "SIGMA")]
    noise: f64,
    /// Share by which the busiest hour is slower than the mean
    #[arg(long, default_value_t = FetchTimeSettings::default().day_rhythm, value_name = "SHARE")]
    day_rhythm: f64,
    /// Lognormal sigma of the size from fetch to fetch
    #[arg(long, default_value_t = FetchTimeSettings::default().size_sigma, value_name = "SIGMA")]
    size_sigma: f64,
    /// Probability per fetch that the page halves or doubles for good
    #[arg(
        long,
        default_value_t = FetchTimeSettings::default().size_change,
        value_name = "PROBABILITY"
    )]
    size_change: f64,
    /// Probability per fetch of an outlier
    #[arg(
        long,
        default_value_t = FetchTimeSettings::default().outliers,
        value_name = "PROBABILITY"
    )]
    outliers: f64,
    /// Between two fetches of a page
    #[arg(
        long,
        default_value_t = FetchTimeSettings::default().interval_hours,
        value_name = "HOURS"
    )]
    interval_hours: f64,
    /// Hours a day in which agents are awake, for whole subnets
    #[arg(long, default_value_t = 24.0, value_name = "HOURS")]
    awake_hours: f64,
    /// Seed of all random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The printed object.
#[derive(Debug, Serialize)]
struct Report {
    factor: f64,
    repeats: u32,
    slowdown: f64,
    subnets: u64,
    pages: u64,
    noise: f64,
    day_rhythm: f64,
    size_sigma: f64,
    size_change: f64,
    outliers: f64,
    interval_hours: f64,
    seed: u64,
    steady_fetches: u64,
    false_alarm_share: f64,
    slowed_pages: u64,
    found_share: f64,
    found_soon_share: f64,
    fetches_to_find_mean: f64,
    fetches_to_find_p99: u64,
    /// Whole subnets, from the first round trip to the move.
    paths: Vec<PathReport>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let sensitivity = Sensitivity { factor: args.factor, repeats: args.repeats };
    let days = TrialSettings {
        subnets: args.subnets,
        pages: args.pages,
        fetches: args.fetches,
        seed: args.seed,
    };
    let seen = calibration(args.series(), sensitivity, days, args.slowdown);
    let report = Report {
        factor: args.factor,
        repeats: args.repeats,
        slowdown: args.slowdown,
        subnets: args.subnets,
        pages: args.pages,
        noise: args.noise,
        day_rhythm: args.day_rhythm,
        size_sigma: args.size_sigma,
        size_change: args.size_change,
        outliers: args.outliers,
        interval_hours: args.interval_hours,
        seed: args.seed,
        steady_fetches: seen.steady_fetches,
        false_alarm_share: seen.false_alarm_share,
        slowed_pages: seen.slowed_pages,
        found_share: seen.found_share,
        found_soon_share: seen.found_soon_share,
        fetches_to_find_mean: seen.fetches_to_find_mean,
        fetches_to_find_p99: seen.fetches_to_find_p99,
        paths: calibration_paths::reports(
            args.series(),
            sensitivity,
            &days,
            args.slowdown,
            args.awake_hours,
        ),
    };
    output::print(&report, args.json)
}

impl Args {
    fn series(&self) -> FetchTimeSettings {
        FetchTimeSettings {
            noise: self.noise,
            day_rhythm: self.day_rhythm,
            size_sigma: self.size_sigma,
            size_change: self.size_change,
            outliers: self.outliers,
            interval_hours: self.interval_hours,
        }
    }
}
