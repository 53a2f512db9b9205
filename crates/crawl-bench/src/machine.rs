//! The machine of a run.

use anyhow::Context as _;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde::Serialize;

/// What figures of a run depend on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Machine {
    pub processor: String,
    pub cores: usize,
    /// Load of the last minute, before the first crawl.
    pub load: f64,
}

impl Machine {
    /// The machine as `/proc` describes it.
    pub fn read() -> Self {
        let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name"));
        let model = model.map_or("unknown", |rest| rest.trim_start_matches([' ', '\t', ':']));
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self { processor: model.to_owned(), cores, load: load() }
    }
}

/// Number of processes that ran or waited for a core, on average of the last minute.
pub fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or(0.0)
}

/// Allows this process and its children as many open files as the system does.
pub fn raise_file_limit() -> anyhow::Result<()> {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).context("cannot read the file limit")?;
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).context("cannot raise the file limit")
}
