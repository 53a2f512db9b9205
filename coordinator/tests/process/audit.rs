//! `audit` from the command line: what it prints, and what its exit code tells.

use std::process::Stdio;

use hierarchy::{Builder, CompanyIndex, Generation, Record, Registry, SubnetKind};
use serde_json::Value;
use store::generations::Load;
use store::testing::{TestDatabase, execute};

use crate::program::{Ended, bare};

fn audit(database: &TestDatabase, more: &[&str]) -> (Ended, String) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = bare();
    command.args([
        "audit",
        "--data-dir",
        dir.path().to_str().unwrap(),
        "--database-url",
        &database.url(),
    ]);
    let output = command.args(more).stdin(Stdio::null()).output().unwrap();
    let ended = Ended { status: output.status, stderr: String::from_utf8(output.stderr).unwrap() };
    (ended, String::from_utf8(output.stdout).unwrap())
}

async fn load(database: &TestDatabase) {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    builder.add(Record {
        range: "198.51.100.0/24".parse().unwrap(),
        kind: SubnetKind::Delegated,
        registry: Some(Registry::RipeNcc),
        company: Some(companies.number(Registry::RipeNcc, "north")),
        country: "CY".parse().ok(),
    });
    let (hierarchy, _) = builder.build(Generation::new(0), companies.into_companies());
    let mut load = Load::wait(database.store()).await.unwrap();
    load.copy(&hierarchy, &|_| {}).await.unwrap();
    load.swap(std::time::Instant::now(), &[]).await.unwrap();
}

#[tokio::test]
async fn the_exit_code_tells_whether_there_is_anything_to_repair() {
    let database = TestDatabase::new().await.unwrap();
    let (ended, _) = audit(&database, &[]);
    assert_eq!(ended.status.code(), Some(69), "{}", ended.stderr);
    assert!(ended.stderr.contains("rir-loader load"), "{}", ended.stderr);
    load(&database).await;
    let (ended, told) = audit(&database, &[]);
    assert_eq!(
        (ended.status.code(), told.as_str()),
        (Some(0), "nothing to repair\n"),
        "{}",
        ended.stderr
    );
    let agent = "INSERT INTO agents (public_key, state, name, contact, version, \
        capacity_pages_per_day, zone, home)
                 VALUES (sha256('x'), 'approved', 'cape', 'c', 'v', 100, 'UTC', '198.51.100.7')";
    let lost = "INSERT INTO delegations (first, last, agent, fencing_number, reason)
                VALUES ('203.0.113.0', '203.0.113.255', 1, 1, 'lowest')";
    execute(database.store(), agent).await.unwrap();
    execute(database.store(), lost).await.unwrap();
    let (ended, told) = audit(&database, &[]);
    assert_eq!(ended.status.code(), Some(3), "{}", ended.stderr);
    assert!(
        told.starts_with("orphan            203.0.113.0/24 of agent agt_1 is no subnet"),
        "{told}"
    );
    let stale = "INSERT INTO delegations (first, last, agent, fencing_number, reason, generation)
                 VALUES ('198.51.100.0', '198.51.100.255', 1, 1, 'lowest', 0)";
    execute(database.store(), stale).await.unwrap();
    let (ended, told) = audit(&database, &["--json"]);
    assert_eq!(ended.status.code(), Some(3));
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["findings"][0]["kind"], "orphan");
    assert_eq!(told["findings"][1]["kind"], "stale_generation");
    assert_eq!(told["findings"].as_array().unwrap().len(), 2);
}

#[test]
fn a_mistyped_data_directory_is_refused_and_stays_empty() {
    let dir = tempfile::tempdir().unwrap();
    for command in [&["audit"][..], &["admin", "list"]] {
        let mut program = bare();
        let flags = ["--data-dir", dir.path().to_str().unwrap()];
        let (first, rest) = command.split_first().unwrap();
        let output = program.arg(first).args(flags).args(rest).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(64), "{told}");
        assert!(told.contains("--data-dir"), "{told}");
    }
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn commands_beside_a_coordinator_neither_create_nor_migrate_tables() {
    let database = TestDatabase::new().await.unwrap();
    let later = "DELETE FROM _sqlx_migrations
                 WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
    execute(database.store(), later).await.unwrap();
    refused(&database, "start the coordinator of this version first");
    for statement in ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"] {
        execute(database.store(), statement).await.unwrap();
    }
    refused(&database, "no tables of nearcrawl");
    // Nor does the command that migrates a restored backup.
    refused_command(&database, &["admin", "after-restore"], "no tables of nearcrawl");
    let settings = execute(database.store(), "UPDATE settings SET value = value").await;
    assert!(settings.is_err(), "the tables were created");
}

fn refused(database: &TestDatabase, why: &str) {
    for words in [&["audit"][..], &["admin", "list"], &["admin", "create", "ada"]] {
        refused_command(database, words, why);
    }
}

fn refused_command(database: &TestDatabase, words: &[&str], why: &str) {
    let dir = tempfile::tempdir().unwrap();
    let place = ["--data-dir", dir.path().to_str().unwrap(), "--database-url", &database.url()];
    let (first, rest) = words.split_first().unwrap();
    let output = bare().arg(first).args(place).args(rest).output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{words:?}: {told}");
    assert!(told.contains(why), "{words:?}: {told}");
}
