//! `run` and `join`.

use std::{process::ExitCode, sync::Arc};

use anyhow::Context as _;
use protocol::{enrol::EnrolRequest, key::AgentKey};
use tokio::{
    runtime::{Builder, Runtime},
    signal::unix::{SignalKind, signal},
};
use tokio_util::sync::CancellationToken;

use super::{Join, say};
use crate::{
    agent::Agent,
    clock,
    config::Config,
    home::{Home, Identity},
    link::{self, Backoff, Coordinator, LinkError, Wire},
    sentence,
};

/// Threads that do the work. An agent waits most of the time, and is a guest on its machine.
const THREADS: usize = 2;
/// Threads that may wait for the disk.
const BLOCKING_THREADS: usize = 8;

pub(super) fn run(join: &Join) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        let stop = on_signals()?;
        let (config, dir) = join.place.open()?;
        let home = Home::open(&dir)?;
        // First of all, so that two agents never share a directory.
        let frontier = home.frontier()?;
        let key = home.key()?;
        let wire = Wire::new(&config.coordinator, config.bind)?;
        let enrolling = enrolled(&home, &config, &wire, &key, join.join_token.as_deref());
        let Some(identity) = stop.run_until_cancelled(enrolling).await.transpose()? else {
            return Ok(ExitCode::SUCCESS);
        };
        let coordinator = Arc::new(Coordinator::new(wire, identity.agent, Arc::clone(&key)));
        let agent = Agent { config, dir, id: identity.agent, key, coordinator, frontier };
        agent.run(stop, say).await?;
        Ok(ExitCode::SUCCESS)
    })
}

pub(super) fn join(join: &Join) -> anyhow::Result<ExitCode> {
    runtime()?.block_on(async {
        let (config, dir) = join.place.open()?;
        let home = Home::open(&dir)?;
        let key = home.key()?;
        let wire = Wire::new(&config.coordinator, config.bind)?;
        enrolled(&home, &config, &wire, &key, join.join_token.as_deref()).await?;
        Ok(ExitCode::SUCCESS)
    })
}

fn runtime() -> anyhow::Result<Runtime> {
    // Fails only when it was done before.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = Builder::new_multi_thread();
    builder.worker_threads(THREADS).max_blocking_threads(BLOCKING_THREADS).enable_all();
    builder.build().context("no runtime")
}

/// Cancelled by the first SIGTERM or SIGINT; the second one ends the program at once.
fn on_signals() -> anyhow::Result<CancellationToken> {
    let (mut terminate, mut interrupt) =
        (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    let stop = CancellationToken::new();
    let told = stop.clone();
    tokio::spawn(async move {
        for _ in 0..2 {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            if told.is_cancelled() {
                std::process::exit(130);
            }
            told.cancel();
        }
    });
    Ok(stop)
}

/// Who the agent is: as it was before, or by enrolling now.
async fn enrolled(
    home: &Home,
    config: &Config,
    wire: &Wire,
    key: &AgentKey,
    join_token: Option<&str>,
) -> anyhow::Result<Identity> {
    if let Some(identity) = home.identity()? {
        say(&format!("enrolled as {}", identity.agent));
        return Ok(identity);
    }
    let Some(token) = join_token else {
        anyhow::bail!(
            "this agent has not enrolled yet: ask the coordinator's admin for a token and give it with --join-token"
        );
    };
    let mut backoff = Backoff::default();
    let answer = loop {
        let request =
            EnrolRequest::new(key, token.to_owned(), config.profile.clone(), clock::now());
        match link::enrol(wire, &request).await {
            Ok(answer) => break answer,
            Err(error) if error.may_pass() => wait(&error, &mut backoff).await,
            Err(error) => return Err(error.into()),
        }
    };
    let identity = Identity { agent: answer.agent };
    home.set_identity(identity)?;
    say(&format!("enrolled as {} ({})", answer.agent, answer.state.as_str()));
    Ok(identity)
}

async fn wait(error: &LinkError, backoff: &mut Backoff) {
    let pause = backoff.next(rand::random());
    tracing::warn!(error = sentence::of(error), ?pause, "enrolling again soon");
    tokio::time::sleep(pause).await;
}
