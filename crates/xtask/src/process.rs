//! Programs that must succeed.

use std::process::Command;

use anyhow::{Context, ensure};

/// Runs a command to its end; `name` is what an error calls it.
pub(crate) fn succeed(mut command: Command, name: &str) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("cannot run {name}"))?;
    ensure!(status.success(), "{name} ended with {status}");
    Ok(())
}
