use std::path::PathBuf;

/// How to show it.
#[derive(Debug, Clone, clap::Parser)]
#[command(name = "nearcrawl-demo", about = "Shows nearcrawl at work in a virtual internet")]
pub struct Options {
    /// End when everything is crawled, with 0 only if every promised number was reached.
    #[arg(long)]
    pub until_done: bool,
    /// Folder with registry files (`delegated-*`) to use instead of today's.
    #[arg(long, value_name = "DIR")]
    pub registry_data: Option<PathBuf>,
    /// Folder with measured round trips (`cities.csv`, `rtt_ms.csv`, `targets.csv.gz`); without it they are made from
    /// distances.
    #[arg(long, value_name = "DIR")]
    pub oracle: Option<PathBuf>,
    /// Use 127.x addresses instead of network namespaces.
    #[arg(long)]
    pub loopback: bool,
    /// Leave the data folder in place at the end.
    #[arg(long)]
    pub keep: bool,
    /// Web hosts.
    #[arg(long, default_value_t = 300)]
    pub hosts: usize,
    /// HTML documents on them.
    #[arg(long, default_value_t = 6_000)]
    pub documents: usize,
    /// The same seed makes the same world.
    #[arg(long, default_value_t = 2002)]
    pub seed: u64,
    /// Write the numbers to this file as JSON, too.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
}
