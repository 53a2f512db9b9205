//! Scrapy with robots.txt, following every link on the same host.

use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use super::{Job, strangers};

const SPIDER: &str = include_str!("scrapy_spider.py");

pub(super) fn command(program: &Path, job: &Job<'_>) -> anyhow::Result<Command> {
    let script = job.dir.join("spider.py");
    std::fs::write(&script, SPIDER)
        .with_context(|| format!("cannot write {}", script.display()))?;
    let one_host = job.case.web.hosts == 1;
    let per_host = if one_host { 64 } else { 1 };
    let mut command = Command::new(program);
    command.arg("runspider").arg(script);
    command.arg("-a").arg(format!("seeds={}", strangers::seed_file(job)?.display()));
    command.args(["-s", "CONCURRENT_REQUESTS=64", "-s", "ROBOTSTXT_OBEY=True"]);
    command.args(["-s", &format!("CONCURRENT_REQUESTS_PER_DOMAIN={per_host}")]);
    command.args(["-s", &format!("DOWNLOAD_DELAY={}", job.case.delay.as_secs_f64())]);
    command.args(["-s", "RANDOMIZE_DOWNLOAD_DELAY=False", "-s", "LOG_LEVEL=ERROR"]);
    command.args(["-s", "TELNETCONSOLE_ENABLED=False", "-s", "RETRY_ENABLED=False"]);
    Ok(command)
}
