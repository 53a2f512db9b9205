//! `reindex`: builds the search index again from the stored packages.

use std::sync::Arc;

use model::LedgerPosition;
use store::packages;
use tokio_util::sync::CancellationToken;

use crate::packages::Packages;
use crate::packages::ingest_packages::{commit, ingest_one};
use crate::runtime::clock::SystemClock;
use crate::runtime::failure::{Failure, chain};
use crate::runtime::quantity::quantity;
use crate::startup::cli::ReindexArgs;
use crate::startup::{boot, configuration, database, log};

/// Packages between two commits of the index.
const BATCH: u32 = 64;

/// Runs the command. The coordinator must be stopped, because the index has one writer.
pub async fn run(args: ReindexArgs) -> Result<(), Failure> {
    let config = configuration::load(args.into(), cluster::default_data_dir)?;
    log::start(config.log_format);
    let database = database::open(&config).await?;
    let store = database.store.clone();
    let stop = CancellationToken::new();
    let coordinator = boot::coordinator(config, Arc::new(SystemClock), store, stop).await?;
    let count = reindex(&coordinator.packages).await;
    let pages = coordinator.packages.index.len();
    // The index is closed before the database.
    drop(coordinator);
    database::close(database).await;
    println!(
        "ingested {} again; {} can be found",
        quantity(count?, "package"),
        quantity(pages, "page")
    );
    Ok(())
}

/// Ingests all packages again, in the order in which they were received, and counts them. A page
/// that the index has in a newer version stays.
pub async fn reindex(parts: &Packages) -> Result<u64, Failure> {
    let mut count = 0;
    let mut after = LedgerPosition::new(0);
    loop {
        let batch =
            packages::ingested(&parts.store, after, BATCH).await.map_err(|error| failed(&error))?;
        let Some(last) = batch.last() else { return Ok(count) };
        after = last.position;
        for package in &batch {
            match ingest_one(parts, package).await {
                Ok(_) => {}
                Err(error) if error.concerns_package() => {
                    let reason = chain(&error);
                    tracing::warn!(package = package.object, reason, "left a package out");
                }
                Err(error) => return Err(failed(&error)),
            }
            count += 1;
        }
        commit(parts).await.map_err(|error| failed(&error))?;
        tracing::info!(count, "ingested packages again");
    }
}

fn failed(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::other(format!(
        "cannot build the index again: {}; the command starts over when it is run again",
        chain(error)
    ))
}
