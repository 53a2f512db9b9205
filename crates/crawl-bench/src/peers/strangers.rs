//! Crawlers that get a list of seeds and end by themselves.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::{Job, Outcome, Peer};
use crate::process::{ExitState, Program};

/// Time for which a crawler may clean up.
const GRACE: Duration = Duration::from_secs(10);

/// A crawl that takes less than this did not happen.
const LEAST_CPU_S: f64 = 0.01;

/// Runs a command to its end or to the time limit.
pub(super) async fn crawl(
    peer: Peer,
    mut command: Command,
    job: &Job<'_>,
) -> anyhow::Result<Outcome> {
    command.current_dir(job.dir).env("HOME", job.dir);
    let mut program = Program::start(command, &job.dir.join("log"))?;
    let cut = program.wait(job.case.limit).await == ExitState::No;
    if cut {
        program.stop(GRACE).await?;
    }
    let usage = program.look();
    if !cut && usage.cpu_s < LEAST_CPU_S {
        bail!("{} ended at once: {}", peer.name(), program.last_words());
    }
    Ok(Outcome { cut, usage: Some(usage), ..Outcome::default() })
}

/// Writes the seeds into a file, one a line.
pub(super) fn seed_file(job: &Job<'_>) -> anyhow::Result<PathBuf> {
    let path = job.dir.join("seeds");
    let lines = job.seeds.join("\n") + "\n";
    std::fs::write(&path, lines).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}
