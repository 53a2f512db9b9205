//! Background tasks without work read no growing table as a whole. The plans are those of a small
//! database, in which the planner avoids sequential scans wherever an index fits.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "a test stops at the unexpected")]

#[path = "../../benches/world/cities.rs"]
mod cities;
#[path = "../../benches/coordinator/fill.rs"]
mod fill;
#[path = "../../benches/coordinator/homes.rs"]
mod homes;
#[path = "../../benches/coordinator/idle.rs"]
mod idle;
#[path = "../../benches/coordinator/plans.rs"]
mod plans;

use coordinator::tasks::table::TABLE;
use store::testing::{TestDatabase, execute};

use crate::fill::Scale;
use crate::plans::Recorder;

/// For connections that are opened later.
const AVOID_SCANS: &str = "DO $$ BEGIN
    EXECUTE format('ALTER DATABASE %I SET enable_seqscan = off', current_database());
END $$";

#[tokio::test]
async fn idle_tasks_scan_no_growing_table() {
    let database = TestDatabase::new().await.unwrap();
    fill::fill(database.store(), Scale(0.004)).await;
    let recorder = Recorder::install(database.store(), 0).await;
    execute(database.store(), AVOID_SCANS).await.unwrap();
    let explained = store::open_with(database.store().address(), 5).await.unwrap();
    let dir = tempfile::tempdir().unwrap();

    let coordinator = idle::coordinator(&explained, dir.path()).await;
    recorder.take();
    execute(&explained, "SELECT FROM hosts WHERE wire_bytes = 1").await.unwrap();
    assert_eq!(recorder.take().0.len(), 1, "a scan is noticed");
    for task in TABLE {
        (task.run)(&coordinator).await.unwrap();
    }
    let (scans, statements) = recorder.take();
    assert!(statements >= TABLE.len() / 2, "the statements are explained");
    assert!(scans.is_empty(), "{scans:#?}");
    explained.close().await;
}
