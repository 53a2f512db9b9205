//! The demo as a person sees it.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use tokio::signal::unix::{SignalKind, signal};

use super::ground::Wish;
use super::{
    Cast, Ground, Manners, Numbers, Options, Promise, RegistryData, Verdict, Watch, geography,
    promises,
};
use crate::harness::Room;
use crate::referee::Rules;
use crate::world::{Geography, Stage};

/// A crawl that takes longer has failed.
const LIMIT: Duration = Duration::from_mins(20);

/// Plays the whole demo. `namespaces` says whether this process may make network namespaces.
pub async fn show(options: &Options, namespaces: bool) -> anyhow::Result<Verdict> {
    let room = Room::open("demo")?;
    let verdict = tokio::select! {
        played = play(options, namespaces, &room) => played?,
        asked = asked_to_end() => { asked?; Verdict::Interrupted }
    };
    if options.keep {
        println!("kept: {}", room.keep().display());
    }
    println!("{verdict}");
    Ok(verdict)
}

async fn play(options: &Options, namespaces: bool, room: &Room) -> anyhow::Result<Verdict> {
    let data = if options.made_up_data {
        RegistryData::made_up(room)?
    } else {
        RegistryData::obtain(options.registry_data.as_deref(), room).await?
    };
    let geography = geography(options)?;
    println!(
        "round trips  {}",
        if geography.is_measured() { "measured" } else { "made from distances" }
    );
    let wish =
        Wish { size: options.size(), documents: options.documents, seed: options.seed, namespaces };
    let Ground { stage, data } = Ground::open(data, &geography, wish, room)?;
    introduce(&stage, &data)?;
    let begun = Instant::now();
    let manners = Manners { strategy: options.strategy, ..Manners::default() };
    let mut cast = Cast::assemble(&stage, &data, room, manners).await?;
    println!(
        "up           coordinator and {} agents after {:.1} s",
        cast.agents.len(),
        begun.elapsed().as_secs_f64()
    );
    println!(
        "dashboard    http://{}/ (sign in as admin, password: {})",
        cast.dashboard, cast.password
    );
    let mut verdict = crawl(options, &stage, &geography, &mut cast).await?;
    if let [program, arguments @ ..] = options.then.as_slice() {
        verdict = verdict.and(guest(program, arguments, &stage, &cast).await?);
    }
    if !options.until_done {
        println!("{verdict}\nstays up until Ctrl-C");
        asked_to_end().await?;
    }
    cast.dismiss().await?;
    Ok(verdict)
}

fn introduce(stage: &Stage, data: &RegistryData) -> anyhow::Result<()> {
    println!("registries   {}", data.origin);
    match stage.prove_isolated()? {
        Some(proof) => println!("internet     {proof}"),
        None => println!("internet     on loopback: agents may reach 127.0.0.0/8 and nothing else"),
    }
    let census = stage.world().census();
    println!(
        "world        {} agents, {} hosts in {} countries, {} URLs to fetch",
        census.agents,
        census.hosts,
        census.countries,
        stage.web().expected().wanted().len()
    );
    Ok(())
}

async fn crawl(
    options: &Options,
    stage: &Stage,
    geography: &Geography,
    cast: &mut Cast,
) -> anyhow::Result<Verdict> {
    let seeds = cast.seed(stage).await?;
    println!("crawl        begins with {seeds} seeds");
    let watch = Watch::new(stage.referee(), &cast.admin).talking();
    let took = watch.until_over(LIMIT).await;
    let rules = Rules { least_gap: Duration::from_millis(Manners::default().host_delay_ms) };
    let numbers = Numbers::gather(stage, geography, cast, rules, took).await?;
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

/// Lets a program from outside look at the finished crawl.
async fn guest(
    program: &str,
    arguments: &[String],
    stage: &Stage,
    cast: &Cast,
) -> anyhow::Result<Promise> {
    let query = stage.web().queries().into_iter().next().map(|query| query.text);
    let status = tokio::process::Command::new(program)
        .args(arguments)
        .env("NEARCRAWL_URL", format!("http://{}", cast.dashboard))
        .env("NEARCRAWL_ADMIN_PASSWORD", &cast.password)
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
