//! How the program ends, in one clear sentence each.

use std::time::Duration;

use index::Index;
use nix::sys::signal::Signal;
use reqwest::StatusCode;
use store::testing::TestDatabase;

use crate::program::{Program, client, command, run, taken_port};

#[test]
fn a_taken_port_is_said_before_anything_is_started() {
    let dir = tempfile::tempdir().unwrap();
    let (_taken, address) = taken_port();
    let ended = run(&["--data-dir", dir.path().to_str().unwrap(), "--listen", &address]);
    assert_eq!(ended.status.code(), Some(73));
    assert!(
        ended.stderr.contains("the port is taken") && ended.stderr.contains("--listen"),
        "{}",
        ended.stderr
    );
    assert!(std::fs::read_dir(dir.path()).unwrap().next().is_none(), "no cluster was made");
}

#[test]
fn a_wrong_configuration_is_said_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("coordinator.toml");
    std::fs::write(&file, "listen = '127.0.0.1:0'\nlissten = 1\n").unwrap();
    let ended = run(&["--config", file.to_str().unwrap()]);
    assert_eq!(ended.status.code(), Some(64));
    assert!(
        ended.stderr.contains("line 2") && ended.stderr.contains("lissten"),
        "{}",
        ended.stderr
    );
    assert_eq!(run(&["--nonsense"]).status.code(), Some(2));
}

#[test]
fn a_database_that_is_not_there_is_said_with_the_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("coordinator.toml");
    std::fs::write(&file, "[limits]\ndatabase_wait_s = 0\n").unwrap();
    let (free, address) = taken_port();
    drop(free);
    let url = format!("postgres://nobody:secret@{address}/none");
    let data_dir = dir.path().to_str().unwrap();
    let config = file.to_str().unwrap();
    let ended = run(&[
        "--config",
        config,
        "--data-dir",
        data_dir,
        "--listen",
        "127.0.0.1:0",
        "--database-url",
        &url,
    ]);
    assert_eq!(ended.status.code(), Some(69), "{}", ended.stderr);
    assert!(
        ended.stderr.contains(&address) && ended.stderr.contains("DATABASE_URL"),
        "{}",
        ended.stderr
    );
    assert!(!ended.stderr.contains("secret"), "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn it_starts_from_nothing_prints_its_three_lines_and_stops_when_told() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let arguments = ["--data-dir", data_dir.to_str().unwrap(), "--listen", "127.0.0.1:0"];
    let mut first = Program::start(command(&arguments));
    let mut before = Vec::new();
    assert!(first.line("listening on http://127.0.0.1:", &mut before).parse::<u16>().unwrap() > 0);
    assert!(
        before[0].starts_with("first admin: admin ") && before[1].starts_with("postgres: /"),
        "{before:?}"
    );
    first.signal(Signal::SIGTERM);
    let (status, took) = first.wait();
    assert_eq!(status.code(), Some(0));
    assert!(took < Duration::from_secs(10), "{took:?}");
    assert!(!data_dir.join("postgres/postmaster.pid").exists(), "its Postgres is down");

    // The first line of a file replaces a lost password.
    let file = dir.path().join("password");
    std::fs::write(&file, "a new long password\nanother line\n").unwrap();
    let with_file = ["--admin-password-file", file.to_str().unwrap()];
    let mut second = Program::start(command(&[&arguments[..], &with_file].concat()));
    let mut before = Vec::new();
    let base = second.line("listening on ", &mut before);
    assert_eq!(before.len(), 1, "the password is printed once: {before:?}");
    let signing_in = client()
        .post(format!("{base}/api/v1/session"))
        .header("sec-fetch-site", "same-origin")
        .header("content-type", "application/json")
        .body(r#"{"name": "admin", "password": "a new long password"}"#);
    assert_eq!(signing_in.send().await.unwrap().status(), StatusCode::OK);
    second.signal(Signal::SIGINT);
    assert_eq!(second.wait().0.code(), Some(0));
}

#[tokio::test]
async fn an_index_of_another_database_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let index_dir = dir.path().join("index");
    let cursor = r#"{"ledger":"another","last":"pkg_1","skipped":[],"removals":0}"#;
    Index::open(&index_dir, 0).unwrap().commit(cursor).unwrap();
    let database = TestDatabase::new().await.unwrap();
    let data_dir = dir.path().to_str().unwrap();
    let url = database.url();
    let ended = run(&["--data-dir", data_dir, "--listen", "127.0.0.1:0", "--database-url", &url]);
    assert_eq!(ended.status.code(), Some(64), "{}", ended.stderr);
    let said = ended.stderr.contains("the pages of another database");
    assert!(said && ended.stderr.contains(index_dir.to_str().unwrap()), "{}", ended.stderr);
    assert!(Index::open(&index_dir, 0).is_ok(), "nothing was removed");
}
