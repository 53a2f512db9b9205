//! Packages become searchable pages and new URLs, each exactly once.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Context as _;
use protocol::key::PublicKey;
use protocol::page::Entry;
use sha2::{Digest as _, Sha256};
use store::packages::{self, Integration, Waiting};
use store::round_trips::Told;
use store::{StoreError, hosts};

use crate::packages::Packages;
use crate::packages::ingest::{self, HostName};
use crate::predictor::{Lesson, cut_apart};
use crate::runtime::events::Event;
use crate::runtime::failure::chain;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Packages between two commits of the index.
const BATCH: u32 = 16;

/// Indexes the packages that wait. First the pages go into the index, under their URLs, and are
/// made durable; then one transaction per package marks it, counts it and queues what it
/// discovered. A crash in between repeats the first half, which changes nothing.
pub async fn run(parts: &Packages) -> Result<Outcome, anyhow::Error> {
    let waiting = packages::waiting(&parts.store, BATCH).await?;
    if waiting.is_empty() {
        return Ok(Outcome::Idle);
    }
    let mut digested = Vec::with_capacity(waiting.len());
    for package in &waiting {
        match ingest_one(parts, package).await? {
            Ok(integration) => digested.push(integration),
            Err(reason) => set_aside(parts, package, &reason).await?,
        }
    }
    let index = Arc::clone(&parts.index);
    tokio::task::spawn_blocking(move || index.commit())
        .await
        .context("the index thread ended")??;
    let mut integrated = 0;
    for integration in &digested {
        let told = packages::integrate(&parts.store, integration, parts.clock.now()).await?;
        integrated += u32::from(told.is_some());
        learn(parts, &told.unwrap_or_default()).await?;
    }
    parts.events.emit(Event::PackageIngested);
    let outcome = format!("integrated {}", quantity(integrated, "package"));
    Ok(if waiting.len() == BATCH as usize {
        Outcome::More(outcome)
    } else {
        Outcome::Done(outcome)
    })
}

/// Fetches tell where subnets are of which no probe told, and which are not in one place.
async fn learn(parts: &Packages, told: &[Told]) -> Result<(), StoreError> {
    let Some(delegated) = parts.hierarchy.current() else { return Ok(()) };
    for told in told.iter().filter(|told| told.is_new) {
        parts.predictor.insight.learn(
            delegated.hierarchy(),
            &Lesson::of_fetches(delegated.hierarchy(), &told.shortest),
        );
    }
    let confirmed: Vec<_> =
        told.iter().filter(|told| told.is_confirmed).map(|told| told.subnet).collect();
    cut_apart(&parts.predictor, &confirmed).await
}

/// Keeps a package out of the way that can never be integrated; it stays in the ledger with the
/// reason.
async fn set_aside(parts: &Packages, package: &Waiting, reason: &str) -> Result<(), StoreError> {
    tracing::error!(package = package.object, reason, "set a package aside");
    packages::refuse(&parts.store, &package.name, reason).await
}

/// Writes one package's pages to the index, or says why it can never be read.
pub(crate) async fn ingest_one(
    parts: &Packages,
    package: &Waiting,
) -> Result<Result<Integration, String>, anyhow::Error> {
    let entries = match entries(parts, package).await? {
        Ok(entries) => entries,
        Err(reason) => return Ok(Err(reason)),
    };
    let own = own_hosts(parts, package, &entries).await?;
    let (index, recent) = (Arc::clone(&parts.index), Arc::clone(&parts.recent_urls));
    let name = package.name;
    let digesting = move || ingest::ingest(name, &entries, &own, &index, &recent);
    let integration =
        tokio::task::spawn_blocking(digesting).await.context("the index thread ended")??;
    Ok(Ok(integration))
}

/// The entries of a package, or why it can never be read: its body is gone or is not what was
/// acknowledged.
async fn entries(
    parts: &Packages,
    package: &Waiting,
) -> Result<Result<Vec<Entry>, String>, anyhow::Error> {
    let body = match parts.blobs.get(&package.object).await {
        Ok(body) => body,
        Err(error) if error.is_missing() => return Ok(Err("its body is missing".to_owned())),
        Err(error) => return Err(error.into()),
    };
    let (sha256, key) = (package.sha256.clone(), package.key.clone());
    let reading = move || {
        if Sha256::digest(&body).as_slice() != sha256 {
            return Err("its body was changed after it was received".to_owned());
        }
        let key = PublicKey::from_bytes(&key).map_err(|error| chain(&error))?;
        ingest::read(&body, &key).map(|(_, entries)| entries).map_err(|error| chain(&error))
    };
    tokio::task::spawn_blocking(reading).await.context("the reading thread ended")
}

async fn own_hosts(
    parts: &Packages,
    package: &Waiting,
    entries: &[Entry],
) -> Result<BTreeSet<HostName>, StoreError> {
    let named: Vec<HostName> = ingest::hosts(entries).into_iter().collect();
    let own =
        hosts::of_agent(&parts.store, package.name.agent, package.received_at, &named).await?;
    Ok(own.into_iter().collect())
}
