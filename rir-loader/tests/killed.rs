//! Twenty loads are killed at twenty moments; every generation stays complete.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use hierarchy::Hierarchy;
use store::Store;
use store::generations::{self, Facts};
use store::testing::TestDatabase;

const KILLS: u32 = 20;
const RECORDS: u32 = 60_000;

/// A file with so many records that copying them takes a while. `edition` changes the sizes, so
/// that generations differ.
fn write_file(dir: &Path, edition: u32) {
    let mut text = format!("2|lacnic|{edition}|{RECORDS}|||\n");
    for place in 0..RECORDS {
        let first = std::net::Ipv4Addr::from_bits((187 << 24) + place * 256);
        let size = 128 << (place.wrapping_add(edition) % 2);
        writeln!(text, "lacnic|BR|ipv4|{first}|{size}|20100101|allocated|{place}").unwrap();
    }
    std::fs::write(dir.join("delegated-lacnic-extended"), text).unwrap();
}

fn loader(database: &TestDatabase, dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rir-loader"));
    command.args(["load", "--database-url", &database.url()]).arg(dir);
    command
        .env_remove("NEARCRAWL_DATA_DIR")
        .env_remove("NEARCRAWL_LOG")
        .env_remove("RUST_LOG")
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Runs a loader to its end, or kills it after a time. Returns whether it ended successfully.
async fn run(command: Command, killed_after: Option<Duration>) -> bool {
    let mut child = tokio::process::Command::from(command).spawn().unwrap();
    let Some(moment) = killed_after else { return child.wait().await.unwrap().success() };
    if let Ok(ended) = tokio::time::timeout(moment, child.wait()).await {
        return ended.unwrap().success();
    }
    child.kill().await.unwrap();
    false
}

async fn in_use(store: &Store) -> (Facts, Hierarchy) {
    let facts = generations::live(store).await.unwrap().unwrap();
    let hierarchy = generations::read(store, facts.id).await.unwrap().unwrap();
    (facts, hierarchy)
}

fn describe(hierarchy: &Hierarchy) -> Vec<String> {
    hierarchy.iter().map(|subnet| format!("{subnet:?}")).collect()
}

/// Whether a generation consists of one edition: sizes alternate in an order that depends on it.
fn is_complete(facts: &Facts, hierarchy: &Hierarchy) -> bool {
    let edition: u32 = facts.sources[0].serial.parse().unwrap();
    let held: Vec<_> = hierarchy.iter().filter(|subnet| subnet.company().is_some()).collect();
    let right = |(place, subnet): (u32, hierarchy::Subnet<'_>)| {
        subnet.range().addresses() == 128 << (place.wrapping_add(edition) % 2)
    };
    facts.companies == u64::from(RECORDS)
        && held.len() == RECORDS as usize
        && (0..).zip(held).all(right)
}

#[tokio::test]
async fn a_killed_load_changes_all_or_nothing() {
    let database = TestDatabase::new().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    write_file(dir.path(), 1);
    let begun = Instant::now();
    assert!(run(loader(&database, dir.path()), None).await);
    let mut whole = begun.elapsed();
    let (mut facts, mut hierarchy) = in_use(database.store()).await;
    assert!(is_complete(&facts, &hierarchy));
    let mut cut_short = 0;
    for kill in 0..KILLS {
        write_file(dir.path(), kill + 2);
        let moment = whole * (2 * kill + 1) / (2 * KILLS);
        let begun = Instant::now();
        let ended = run(loader(&database, dir.path()), Some(moment)).await;
        if ended {
            // The first load took longer, because the machine was busier.
            whole = whole.min(begun.elapsed());
        }
        let (now, read) = in_use(database.store()).await;
        assert!(!ended || now.id > facts.id, "a successful load made no generation");
        if now == facts {
            assert_eq!(describe(&read), describe(&hierarchy), "the generation in use changed");
            cut_short += 1;
        } else {
            assert!(is_complete(&now, &read), "a generation is broken after kill {kill}");
        }
        (facts, hierarchy) = (now, read);
    }
    assert!(cut_short >= KILLS / 2, "only {cut_short} of {KILLS} loads were killed at work");
    // The next load finds neither a lock nor remains.
    write_file(dir.path(), 99);
    assert!(run(loader(&database, dir.path()), None).await);
    let (last, read) = in_use(database.store()).await;
    assert!(last.id > facts.id && is_complete(&last, &read));
}
