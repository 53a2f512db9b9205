//! A program of the crate spider, with robots.txt and 64 requests at a time.

use std::path::Path;
use std::process::Command;

use super::{Job, strangers};

pub(super) fn command(program: &Path, job: &Job<'_>) -> anyhow::Result<Command> {
    let mut command = Command::new(program);
    command.arg(strangers::seed_file(job)?);
    command.arg(job.case.delay.as_millis().to_string());
    Ok(command)
}
