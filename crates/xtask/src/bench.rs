//! `cargo xtask bench`: the measurements that have a promise.

use anyhow::{Context, bail};

use crate::cargo::cargo;

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only benchmarks whose name holds this.
    filter: Option<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let mut command = cargo(&["bench", "--locked", "--package", "hierarchy"]);
    command.arg("--").args(&args.filter);
    let status = command.status().context("cannot run cargo")?;
    if !status.success() {
        bail!("cargo bench ended with {status}");
    }
    Ok(())
}
