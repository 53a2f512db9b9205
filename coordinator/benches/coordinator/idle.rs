//! A coordinator on a filled database whose tasks have nothing to do.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use coordinator::packages::cursor::LedgerCursor;
use coordinator::runtime::clock::SystemClock;
use coordinator::runtime::outcome::Outcome;
use coordinator::startup::cli::ServeArgs;
use coordinator::startup::{boot, configuration};
use coordinator::tasks::coordinator::Coordinator;
use coordinator::tasks::table::{BackgroundTask, TABLE};
use store::{Store, Term, packages};
use tokio_util::sync::CancellationToken;

/// Runs after which a task that still finds work is taken for one that never rests.
const RUNS: usize = 10_000;

/// A leader whose tasks have done all that there was to do.
pub(crate) async fn coordinator(store: &Store, dir: &Path) -> Arc<Coordinator> {
    let mut config = configuration::load(ServeArgs::default(), || Some(dir.to_owned())).unwrap();
    config.limits.min_free_mib = 0;
    config.registries.refresh_days = 0;
    let stop = CancellationToken::new();
    let made = boot::coordinator(config, Arc::new(SystemClock), store.clone(), stop).await;
    let coordinator = Arc::new(made.unwrap());
    coordinator.leader.begin(Term::latest(store).await.unwrap(), coordinator.now());
    complete_index(&coordinator).await;
    for task in TABLE {
        settle(&coordinator, task).await;
    }
    coordinator
}

/// Lets the index hold all packages of the ledger: their bodies exist nowhere, and a coordinator
/// that is idle has read them long ago.
async fn complete_index(coordinator: &Coordinator) {
    let ledger = packages::ledger(&coordinator.store).await.unwrap();
    let mut cursor = LedgerCursor::of_index("", &ledger);
    cursor.take(ledger.last);
    let progress = cursor.to_progress();
    let index = Arc::clone(&coordinator.packages.index);
    tokio::task::spawn_blocking(move || index.commit(&progress)).await.unwrap().unwrap();
}

/// Runs a task until it has nothing to do.
async fn settle(coordinator: &Coordinator, task: &BackgroundTask) {
    let begun = Instant::now();
    let mut runs = 0;
    while !matches!((task.run)(coordinator).await.unwrap(), Outcome::Idle) {
        runs += 1;
        assert!(runs < RUNS, "{} never rests", task.name);
    }
    if begun.elapsed() >= Duration::from_secs(1) {
        let seconds = begun.elapsed().as_secs_f64();
        eprintln!("{} is idle after {runs} runs in {seconds:.1} s", task.name);
    }
}
