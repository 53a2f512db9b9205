//! Sequence of the demo, with the messages that a person sees.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

use super::setup::WorldRequest;
use super::{
    CrawlSettings, Deployment, Numbers, Options, Outage, PeerPaths, Promise, RegionPlan,
    RegistryData, Setup, Verdict, Watch, geography, promises,
};
use crate::harness::RunDirectory;
use crate::referee::Rules;
use crate::world::{Environment, Geography};

/// A crawl that takes longer has failed.
const LIMIT: Duration = Duration::from_mins(20);

/// Plays the whole demo. `namespaces` says whether this process may make network namespaces.
pub async fn show(options: &Options, namespaces: bool) -> anyhow::Result<Verdict> {
    let run_directory = RunDirectory::open("demo")?;
    let verdict = tokio::select! {
        played = play(options, namespaces, &run_directory) => played?,
        asked = asked_to_end() => { asked?; Verdict::Interrupted }
    };
    if options.keep {
        println!("kept: {}", run_directory.keep().display());
    }
    println!("{verdict}");
    Ok(verdict)
}

async fn play(
    options: &Options,
    namespaces: bool,
    run_directory: &RunDirectory,
) -> anyhow::Result<Verdict> {
    if options.region {
        Outage::check(options.agents)?;
    }
    let data = if options.made_up_data {
        RegistryData::made_up(run_directory)?
    } else {
        RegistryData::obtain(options.registry_data.as_deref(), run_directory).await?
    };
    let geography = geography(options)?;
    println!(
        "round trips  {}",
        if geography.is_measured() { "measured" } else { "made from distances" }
    );
    let request = WorldRequest {
        size: options.size(),
        documents: options.documents,
        seed: options.seed,
        namespaces,
    };
    let Setup { environment, data } = Setup::open(data, &geography, request, run_directory)?;
    introduce(&environment, &data)?;
    let begun = Instant::now();
    let Options { preset, strategy, region, .. } = *options;
    let region = region.then_some(RegionPlan::short(PeerPaths::Direct));
    let settings = CrawlSettings { preset, strategy, region, ..CrawlSettings::default() };
    let mut deployment = Deployment::assemble(&environment, &data, run_directory, settings).await?;
    println!(
        "up           coordinator and {} agents after {:.1} s",
        deployment.agents.len(),
        begun.elapsed().as_secs_f64()
    );
    println!(
        "dashboard    http://{}/ (sign in as admin, password: {})",
        deployment.dashboard, deployment.password
    );
    let mut verdict = crawl(options, &environment, &geography, &mut deployment).await?;
    if let [program, arguments @ ..] = options.then.as_slice() {
        verdict = verdict.and(guest(program, arguments, &environment, &deployment).await?);
    }
    if !options.until_done {
        println!("{verdict}\nstays up until Ctrl-C");
        asked_to_end().await?;
    }
    deployment.dismiss().await?;
    Ok(verdict)
}

fn introduce(environment: &Environment, data: &RegistryData) -> anyhow::Result<()> {
    println!("registries   {}", data.origin);
    match environment.prove_isolated()? {
        Some(proof) => println!("internet     {proof}"),
        None => println!("internet     on loopback: agents may reach 127.0.0.0/8 and nothing else"),
    }
    let counts = environment.world().counts();
    println!(
        "world        {} agents, {} hosts in {} countries, {} URLs to fetch",
        counts.agents,
        counts.hosts,
        counts.countries,
        environment.web().expected().wanted().len()
    );
    Ok(())
}

async fn crawl(
    options: &Options,
    environment: &Environment,
    geography: &Geography,
    deployment: &mut Deployment,
) -> anyhow::Result<Verdict> {
    let course = follow(options, environment, deployment).await?;
    let rules = Rules { least_gap: Duration::from_millis(CrawlSettings::default().host_delay_ms) };
    let numbers = Numbers::gather(environment, geography, deployment, rules, course).await?;
    println!("\n{numbers}");
    if let Some(file) = &options.json {
        let text = serde_json::to_string_pretty(&numbers)?;
        std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    let judged = promises(&numbers);
    for promise in &judged {
        println!(
            "{} {}: {}",
            if promise.kept { "kept  " } else { "MISSED" },
            promise.what,
            promise.seen
        );
    }
    for fault in numbers.referee.faults() {
        println!("referee      {fault}");
    }
    Ok(Verdict::of(judged))
}

/// Begins the crawl and follows it to its end, with the second act if there is one.
async fn follow(
    options: &Options,
    environment: &Environment,
    deployment: &mut Deployment,
) -> anyhow::Result<(Duration, Option<Outage>)> {
    if options.region {
        deployment.until_region(deployment.agents.len(), LIMIT).await?;
        println!("region       of {} agents, each with lease and loan", deployment.agents.len());
    }
    let seeds = deployment.seed(environment).await?;
    println!("crawl        begins with {seeds} seeds");
    let admin = deployment.admin.clone();
    let watch = Watch::new(environment.referee(), &admin).talking();
    if !options.region {
        return Ok((watch.until_over(LIMIT).await, None));
    }
    let watching = async { Ok(watch.until_over(LIMIT).await) };
    let (took, outage) = tokio::try_join!(watching, Outage::play(environment, deployment))?;
    Ok((took, Some(outage)))
}

/// Lets a program from outside look at the finished crawl.
async fn guest(
    program: &str,
    arguments: &[String],
    environment: &Environment,
    deployment: &Deployment,
) -> anyhow::Result<Promise> {
    let query = environment.web().queries().into_iter().next().map(|query| query.text);
    let status = tokio::process::Command::new(program)
        .args(arguments)
        .env("NEARCRAWL_URL", format!("http://{}", deployment.dashboard))
        .env("NEARCRAWL_ADMIN_PASSWORD", &deployment.password)
        .env("NEARCRAWL_QUERY", query.unwrap_or_default())
        .kill_on_drop(true)
        .status()
        .await
        .with_context(|| format!("cannot run {program}"))?;
    Ok(Promise {
        what: "the guest program is content",
        seen: status.to_string(),
        kept: status.success(),
    })
}

/// Ctrl-C, or a polite request to end.
async fn asked_to_end() -> anyhow::Result<()> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot hear Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot hear SIGTERM")?;
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    Ok(())
}
