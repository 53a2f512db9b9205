use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use model::{PolicyPreset, Strategy};

use crate::world::Size;

/// How to show it.
#[derive(Debug, Clone, clap::Parser)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
#[command(name = "nearcrawl-demo", about = "Shows nearcrawl at work in a virtual internet")]
pub struct Options {
    /// End when everything is crawled, with 0 only if every promised number was reached.
    #[arg(long)]
    pub until_done: bool,
    /// Folder with registry files (`delegated-*`) to use instead of today's.
    #[arg(long, value_name = "DIR")]
    pub registry_data: Option<PathBuf>,
    /// Use a small registry file of our own making: no network is needed.
    #[arg(long, conflicts_with = "registry_data")]
    pub made_up_data: bool,
    /// Folder with measured round trips (`cities.csv`, `rtt_ms.csv`, `targets.csv.gz`). Default:
    /// `../shared/data/latency/oracle-2018` beside the repository; where that is missing, and with
    /// `--made-up-data`, they are made from distances.
    #[arg(long, value_name = "DIR")]
    pub oracle: Option<PathBuf>,
    /// Use 127.x addresses instead of network namespaces.
    #[arg(long)]
    pub loopback: bool,
    /// The agents form a region, with terms of seconds instead of minutes. In mid-crawl the
    /// coordinator is stopped for 30 s and an agent is killed.
    #[arg(long)]
    pub region: bool,
    /// Leave the data folder in place at the end.
    #[arg(long)]
    pub keep: bool,
    #[arg(long, default_value_t = 12)]
    pub agents: usize,
    #[arg(long, default_value_t = 300)]
    pub hosts: usize,
    /// HTML documents on them.
    #[arg(long, default_value_t = 6_000)]
    pub documents: usize,
    /// Only hosts in cities at most so many milliseconds from an agent's city.
    #[arg(long, value_name = "MS")]
    pub near_ms: Option<f64>,
    /// Settings of searches and balance.
    #[arg(long, default_value = PolicyPreset::Default.as_str(), value_parser = presets())]
    pub preset: PolicyPreset,
    /// How searches choose whom to ask, in place of the preset's strategy.
    #[arg(long, value_parser = strategies())]
    pub strategy: Option<Strategy>,
    /// The same seed makes the same world.
    #[arg(long, default_value_t = 2002)]
    pub seed: u64,
    /// Write the numbers to this file as JSON, too.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Program to run when the crawl is over, with NEARCRAWL_URL, NEARCRAWL_ADMIN_PASSWORD and
    /// NEARCRAWL_QUERY set; its failure is the demo's.
    #[arg(last = true, value_name = "PROGRAM")]
    pub then: Vec<String>,
}

impl Options {
    /// How many take part: hosts in as many countries as the demo promises, fewer when there are
    /// few hosts, or when they are to be near agents.
    pub fn size(&self) -> Size {
        let usual = Size::default();
        let countries =
            if self.near_ms.is_some() { 1 } else { usual.countries.min(self.hosts / 3) };
        Size { agents: self.agents, hosts: self.hosts, countries, near_ms: self.near_ms }
    }
}

fn strategies() -> impl TypedValueParser<Value = Strategy> {
    let helps = [
        (Strategy::Threshold, "The paper's order, up to the first below the threshold"),
        (Strategy::Predictive, "The likeliest first; the paper's order until agents are on a map"),
    ];
    let values = helps.map(|(strategy, help)| PossibleValue::new(strategy.as_str()).help(help));
    PossibleValuesParser::new(values).try_map(|word| word.parse::<Strategy>())
}

fn presets() -> impl TypedValueParser<Value = PolicyPreset> {
    let helps = [
        (PolicyPreset::Default, "The shipped settings"),
        (PolicyPreset::Paper, "Those of IPMicra: threshold strategy, variance rule"),
    ];
    let values = helps.map(|(preset, help)| PossibleValue::new(preset.as_str()).help(help));
    PossibleValuesParser::new(values).try_map(|word| word.parse::<PolicyPreset>())
}
