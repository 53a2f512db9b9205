//! GNU Wget2, with robots.txt, 64 threads, and without keeping what it fetches.

use std::path::Path;
use std::process::Command;

use super::{Job, strangers};

pub(super) fn command(program: &Path, job: &Job<'_>) -> anyhow::Result<Command> {
    let mut command = Command::new(program);
    command.args(["--no-config", "--no-hsts", "--no-hpkp", "--quiet", "--progress=none"]);
    command.args(["--recursive", "--level=0", "--max-threads=64", "--tries=1"]);
    command.args(["--output-document=/dev/null"]);
    if !job.case.delay.is_zero() {
        // Of each thread, not of each host; it has no other.
        command.arg(format!("--wait={}", job.case.delay.as_secs_f64()));
    }
    command.arg("--input-file").arg(strangers::seed_file(job)?);
    Ok(command)
}
