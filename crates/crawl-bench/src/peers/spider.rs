//! A program around the crate `spider`, which is built outside this workspace.

use std::path::Path;
use std::process::Command;

use super::{Job, strangers};

pub(super) fn command(program: &Path, job: &Job<'_>) -> anyhow::Result<Command> {
    let mut command = Command::new(program);
    command.arg(strangers::seed_file(job)?);
    command.arg(job.case.delay.as_millis().to_string());
    Ok(command)
}
