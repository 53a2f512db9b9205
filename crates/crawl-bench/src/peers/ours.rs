//! The agent in its full form: its own program, shipped settings except the delay and the
//! addresses of the web, and a coordinator that receives its packages.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, bail};
use model::CrawlPolicy;
use tokio::time::{Instant, sleep};

use super::{Job, Outcome, Programs};
use crate::coordinator::{Coordinator, TOKEN};
use crate::dns::Dns;
use crate::process::Program;
use crate::referee::Referee;

/// Between two looks at the crawl.
const STEP: Duration = Duration::from_millis(100);

/// Time without a new page after which a crawl counts as stuck, beyond its delays.
const PATIENCE: Duration = Duration::from_secs(20);

/// Time without a new package after which nothing more is expected; the agent closes a package at
/// the latest when its oldest result is a minute old.
const QUIET: Duration = Duration::from_secs(75);

/// An agent promises to end within ten seconds.
const GRACE: Duration = Duration::from_secs(15);

/// Crawls with the agent, into which the library `preloaded` is loaded, if there is one.
pub(super) async fn crawl(
    programs: &Programs,
    job: &Job<'_>,
    referee: &mut Referee,
    preloaded: Option<&Path>,
) -> anyhow::Result<Outcome> {
    let coordinator = Coordinator::start(job.seeds, policy(job)).await?;
    let dns = if job.case.web.one_address {
        Some(Dns::start(job.case.web.address(0)).await?)
    } else {
        None
    };
    let config = write_config(job, &coordinator, dns.as_ref())?;
    let syncs = job.dir.join("fsyncs");
    let counter = job.counter.map(|counter| counter.command(&syncs));
    let under_counter = counter.is_some();
    let mut command = command(&agent(programs)?, &config, counter);
    command.envs(preloaded.map(|library| ("LD_PRELOAD", library)));
    let start = if under_counter { Program::start_under_counter } else { Program::start };
    let mut program = start(command, &job.dir.join("log"))?;
    let begun = Instant::now();
    let cut = !until_complete(job, referee, &mut program).await?;
    let all_shipped = !cut && until_shipped(job, &coordinator, &mut program).await?;
    let shipped_s = all_shipped.then(|| begun.elapsed().as_secs_f64());
    if let Some(library) = preloaded.filter(|library| !program.has_loaded(library)) {
        bail!("the agent has not loaded {}", library.display());
    }
    program.look();
    program.stop(GRACE).await?;
    let fsyncs = job.counter.map(|counter| counter.read(&syncs)).transpose()?;
    // The usage of a counter is not the agent's.
    let usage = (!under_counter).then(|| program.look());
    Ok(Outcome { cut, usage, shipped: Some(coordinator.shipped()?), shipped_s, fsyncs })
}

fn policy(job: &Job<'_>) -> CrawlPolicy {
    let shipped = CrawlPolicy::default();
    CrawlPolicy {
        host_delay_ms: u32::try_from(job.case.delay.as_millis()).unwrap_or(u32::MAX),
        // The page that robots.txt forbids and the missing sitemap count, too.
        pages_a_host: shipped.pages_a_host.max(job.case.web.pages + 2),
        ..shipped
    }
}

fn agent(programs: &Programs) -> anyhow::Result<PathBuf> {
    if let Some(path) = &programs.agent {
        return Ok(path.clone());
    }
    let own = std::env::current_exe().context("cannot find the own program")?;
    let path = own.with_file_name("nearcrawl-agent");
    if !path.is_file() {
        bail!("{} is missing; `cargo xtask bench crawl` builds it", path.display());
    }
    Ok(path)
}

fn write_config(
    job: &Job<'_>,
    coordinator: &Coordinator,
    dns: Option<&Dns>,
) -> anyhow::Result<PathBuf> {
    let resolver =
        dns.map_or_else(String::new, |dns| format!("resolver = [\"{}\"]", dns.address()));
    let text = format!(
        "coordinator = \"{}\"\ncontact = \"https://owner.example/bot\"\nname = \"bench\"\n\
         data_dir = \"data\"\n{resolver}\n\
         [guard]\nallow = [\"127.0.0.0/8\"]\nports = [{}]\n\
         [budget]\npages_per_day = 1_000_000_000\n\
         [limits]\nhost_delay_ms = {}\n",
        coordinator.url(),
        job.port,
        job.case.delay.as_millis(),
    );
    let path = job.dir.join("agent.toml");
    std::fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(path)
}

/// The command that runs the agent, perhaps as the child of a counter.
fn command(agent: &Path, config: &Path, counter: Option<Command>) -> Command {
    let mut command = match counter {
        None => Command::new(agent),
        Some(mut counter) => {
            counter.arg(agent);
            counter
        }
    };
    command.args(["run", "--config"]).arg(config);
    command.env("NEARCRAWL_JOIN_TOKEN", &*TOKEN).env_remove("NEARCRAWL_AGENT_DATA_DIR");
    command
}

/// Waits until every page is served or nothing moves any more; false when the time limit was over
/// before.
async fn until_complete(
    job: &Job<'_>,
    referee: &mut Referee,
    program: &mut Program,
) -> anyhow::Result<bool> {
    let begun = Instant::now();
    let all = job.case.web.all_pages();
    let patience = PATIENCE + job.case.delay * 2;
    let mut last = 0;
    let mut last_change = begun;
    loop {
        let progress = referee.progress().await?;
        if progress.unique >= all {
            return Ok(true);
        }
        if progress.requests != last {
            last = progress.requests;
            last_change = Instant::now();
        }
        if program.look().ended {
            bail!("the agent ended: {}", program.last_words());
        }
        if begun.elapsed() >= job.case.limit {
            return Ok(false);
        }
        if last_change.elapsed() >= patience {
            // It is over, with pages missing; the coverage tells.
            return Ok(true);
        }
        sleep(STEP).await;
    }
}

/// Waits until a result has arrived for each page, and two of each host: of the page that
/// robots.txt forbids, and of the missing sitemap. False when some are missing and no more arrive.
/// Waiting costs the agent nothing, so that the length of a step does not matter.
async fn until_shipped(
    job: &Job<'_>,
    coordinator: &Coordinator,
    program: &mut Program,
) -> anyhow::Result<bool> {
    let wanted = job.case.web.all_pages() + 2 * u64::from(job.case.web.hosts);
    let mut last = 0;
    let mut last_change = Instant::now();
    loop {
        let entries = coordinator.entries();
        if entries >= wanted {
            return Ok(true);
        }
        if entries != last {
            last = entries;
            last_change = Instant::now();
        }
        if last_change.elapsed() >= QUIET {
            return Ok(false);
        }
        if program.look().ended {
            bail!("the agent ended: {}", program.last_words());
        }
        sleep(STEP).await;
    }
}
