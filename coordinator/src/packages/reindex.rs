//! `reindex`: build the search index again from the packages, after it was lost or its form
//! changed.

use std::sync::Arc;

use store::packages::{self, Waiting};
use tokio_util::sync::CancellationToken;

use crate::packages::ingest_packages::ingest_one;
use crate::runtime::config::Config;
use crate::runtime::failure::{Failure, chain};
use crate::runtime::quantity::quantity;
use crate::runtime::state::Coordinator;
use crate::startup::boot;
use crate::startup::cli::ReindexArgs;
use crate::startup::log;

/// Packages between two commits of the index.
const BATCH: u32 = 64;

/// Gives every integrated package to the index again, in the order in which they came. Pages that
/// are there already and newer stay. The coordinator must be stopped, since the index has one
/// writer.
pub async fn reindex(args: ReindexArgs) -> Result<(), Failure> {
    let config = Config::load(args.into(), cluster::default_data_dir)?;
    log::start(config.log_format);
    let database = boot::database(&config).await?;
    let (store, stop) = (database.store.clone(), CancellationToken::new());
    let coordinator = boot::coordinator(config, boot::system_clock(), store, stop).await?;
    let count = run(&coordinator).await;
    let pages = coordinator.index.len();
    drop(coordinator);
    boot::close(database).await;
    println!(
        "integrated {} again; {} can be found",
        quantity(count?, "package"),
        quantity(pages, "page")
    );
    Ok(())
}

/// All of it, on parts that are open. Says how many packages there were.
pub async fn run(coordinator: &Coordinator) -> Result<u64, Failure> {
    let mut count = 0;
    let mut after = None;
    loop {
        let batch = packages::integrated(&coordinator.store, after.as_ref(), BATCH)
            .await
            .map_err(|e| failed(&e))?;
        let Some((place, _)) = batch.last() else { return Ok(count) };
        after = Some(*place);
        for (_, package) in &batch {
            again(coordinator, package).await?;
            count += 1;
        }
        let index = Arc::clone(&coordinator.index);
        let committed = tokio::task::spawn_blocking(move || index.commit()).await;
        committed.map_err(|e| failed(&e))?.map_err(|e| failed(&e))?;
        tracing::info!(count, "integrated packages again");
    }
}

async fn again(coordinator: &Coordinator, package: &Waiting) -> Result<(), Failure> {
    let digested = ingest_one(coordinator, package).await.map_err(|error| failed(&*error))?;
    if let Err(reason) = digested {
        tracing::warn!(package = package.object, reason, "left a package out");
    }
    Ok(())
}

fn failed(error: &(dyn std::error::Error + 'static)) -> Failure {
    Failure::other(format!(
        "cannot build the index again: {}; run it again, it goes over all packages",
        chain(error)
    ))
}
