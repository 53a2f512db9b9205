//! Idle runs of the background tasks, in this process.

use std::path::Path;
use std::time::{Duration, Instant};

use coordinator::runtime::outcome::Outcome;
use coordinator::tasks::coordinator::Coordinator;
use coordinator::tasks::table::{BackgroundTask, TABLE};
use store::{Store, overview};

use crate::Figure;
use crate::idle::coordinator;
use crate::plans::Recorder;

/// Rows from which on a table counts as large.
const LARGE: u32 = 10_000;
/// Runs of each task that are timed.
const RUNS: usize = 3;

pub(crate) async fn measure(store: &Store, dir: &Path) -> Vec<Figure> {
    let timed = coordinator(store, dir).await;
    let mut figures = Vec::new();
    for task in TABLE {
        let slowest = slowest(&timed, task).await;
        figures.push(milliseconds(format!("idle run of {}", task.name), slowest, 50.0));
    }
    figures.push(overview_time(&timed).await);
    // The next one uses the same directory.
    drop(timed);
    figures.push(scans(store, dir).await);
    figures
}

async fn slowest(coordinator: &Coordinator, task: &BackgroundTask) -> Duration {
    let mut slowest = Duration::ZERO;
    for _ in 0..RUNS {
        let begun = Instant::now();
        let outcome = (task.run)(coordinator).await;
        slowest = slowest.max(begun.elapsed());
        if !matches!(outcome, Ok(Outcome::Idle)) {
            eprintln!("{} was not idle: {outcome:?}", task.name);
        }
    }
    slowest
}

async fn overview_time(coordinator: &Coordinator) -> Figure {
    let begun = Instant::now();
    let cutoff = coordinator.heartbeat_cutoff();
    overview::count(&coordinator.store, cutoff, coordinator.now()).await.unwrap();
    milliseconds("overview".to_owned(), begun.elapsed(), 200.0)
}

fn milliseconds(name: String, took: Duration, most: f64) -> Figure {
    Figure { name, value: took.as_secs_f64() * 1_000.0, most, unit: "ms" }
}

/// Runs every task again on connections that explain their statements.
async fn scans(store: &Store, dir: &Path) -> Figure {
    let recorder = Recorder::install(store, LARGE).await;
    let explained = store::open_with(store.address(), 12).await.unwrap();
    let coordinator = coordinator(&explained, dir).await;
    recorder.take();
    for task in TABLE {
        (task.run)(&coordinator).await.unwrap();
    }
    let (scans, statements) = recorder.take();
    assert!(statements > 0, "Postgres explains the statements");
    for scan in &scans {
        eprintln!("a sequential scan of {scan}");
    }
    explained.close().await;
    Figure {
        name: format!("sequential scans of {statements} statements"),
        value: scans.len() as f64,
        most: 0.0,
        unit: "statements",
    }
}
