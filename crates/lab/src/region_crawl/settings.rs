//! Settings of a simulated region.

use serde::Serialize;

/// What is simulated.
#[derive(Debug, Clone, Copy, Serialize, clap::Args)]
pub struct RegionSettings {
    /// How many agents
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    pub agents: u16,
    /// Next-nearest agents that know what was fetched: t of the paper
    #[arg(long = "t", default_value_t = 1)]
    #[serde(rename = "t")]
    pub recovery: u8,
    /// Crashes, spread over the crawl
    #[arg(long, default_value_t = 0)]
    pub crashes: u16,
    /// A crash loses everything that the agent knew
    #[arg(long)]
    pub lose_disk: bool,
    /// Time until a crashed agent returns
    #[arg(long, default_value_t = 120, value_name = "SECONDS")]
    pub down_s: u32,
    /// Hosts into which the graph is cut
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub hosts: u32,
    /// Hosts that an agent visits at the same time
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..))]
    pub threads: u16,
}
