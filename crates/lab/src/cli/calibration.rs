use lab::{Calibration, FetchTimeSettings, TrialSettings, calibration};
use model::Slowdown;
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
    /// How many times as long everything takes after the change
    #[arg(long, default_value_t = 2.0)]
    slowdown: f64,
    #[command(flatten)]
    trial: TrialSettings,
    #[command(flatten)]
    fetch_times: FetchTimeSettings,
    /// Hours a day in which agents are awake, for whole subnets
    #[arg(long, default_value_t = 24.0, value_name = "HOURS")]
    awake_hours: f64,
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
    #[serde(flatten)]
    trial: TrialSettings,
    #[serde(flatten)]
    fetch_times: FetchTimeSettings,
    #[serde(flatten)]
    seen: Calibration,
    /// Whole subnets, from the first round trip to the move.
    paths: Vec<PathReport>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let Args { factor, repeats, slowdown, trial, fetch_times, awake_hours, json } = *args;
    let percent = (100.0 * factor).round() as u32;
    let sensitivity = Slowdown { percent, repeats };
    let seen = calibration(fetch_times, sensitivity, trial, slowdown);
    let paths = calibration_paths::reports(fetch_times, sensitivity, &trial, slowdown, awake_hours);
    let factor = sensitivity.factor();
    let report = Report { factor, repeats, slowdown, trial, fetch_times, seen, paths };
    output::print(&report, json)
}
