//! HTTrack with robots.txt and without its limits on speed.

use std::path::Path;
use std::process::Command;

use super::{Job, strangers};

pub(super) fn command(program: &Path, job: &Job<'_>) -> anyhow::Result<Command> {
    let mut command = Command::new(program);
    command.args(["--quiet", "--disable-security-limits", "--robots=2", "--sockets=64"]);
    command.args(["--connection-per-second=0", "--max-rate=0", "--depth=1000", "--retries=0"]);
    command.args(["--cache=0", "--advanced-maxlinks=1000000", "--do-not-log"]);
    if !job.case.delay.is_zero() {
        // Of the whole program; it has no delay of a host.
        command.arg(format!("--connection-per-second={}", 1.0 / job.case.delay.as_secs_f64()));
    }
    command.arg("--list").arg(strangers::seed_file(job)?);
    command.arg("--path").arg(job.dir.join("mirror"));
    Ok(command)
}
