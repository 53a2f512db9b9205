//! `cargo xtask bench`: benchmarks of lookups in the hierarchy.

use anyhow::{Context, bail};

use crate::cargo::cargo;

/// Benchmarks to run.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run only benchmarks whose name contains this.
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
