//! The program: output, exit codes and error messages.

use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use store::generations;
use store::testing::TestDatabase;

use crate::fixtures;
use crate::server::Server;

pub(crate) fn loader(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rir-loader"));
    command
        .args(arguments)
        .env_remove("DATABASE_URL")
        .env_remove("NEARCRAWL_DATA_DIR")
        .env_remove("NEARCRAWL_LOG")
        .env_remove("RUST_LOG");
    command
}

pub(crate) async fn run(arguments: &[&str]) -> Output {
    let mut command = loader(arguments);
    tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn json(output: &Output) -> Value {
    assert!(!output.stdout.is_empty(), "{}", stderr(output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn fixtures() -> String {
    fixtures::dir().display().to_string()
}

#[tokio::test]
async fn load_prints_a_report() {
    let database = TestDatabase::new().await.unwrap();
    let output = run(&["load", "--database-url", &database.url(), &fixtures()]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let said = stdout(&output);
    assert!(said.contains("is in use: 35 subnets, 17 companies, in "), "{said}");
    assert!(said.contains("ripencc   2018-10-13  delegated-ripencc-extended"), "{said}");
    let progress = stderr(&output);
    assert!(progress.contains("reading delegated-afrinic-extended (5"), "{progress}");
    assert!(progress.contains("copying 52 rows into Postgres\n"), "{progress}");
    assert!(!progress.contains('\u{1b}'), "no terminal, no escape codes: {progress}");

    let output = run(&["load", "--json", "--database-url", &database.url(), &fixtures()]).await;
    let report = json(&output);
    assert_eq!((&report["subnets"], &report["companies"]), (&35.into(), &17.into()));
    assert_eq!(report["sources"][1]["registry"], "apnic");
}

#[tokio::test]
async fn log_lines_in_a_file_have_no_escape_codes() {
    let database = TestDatabase::new().await.unwrap();
    let mut command = loader(&["load", "--database-url", &database.url(), &fixtures()]);
    command.env("NEARCRAWL_LOG", "sqlx=debug");
    let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
    let logged = stderr(&output);
    assert!(logged.contains("DEBUG"), "{logged}");
    assert!(!logged.contains('\u{1b}'), "{logged}");
}

#[tokio::test]
async fn a_bad_file_leaves_the_generation_in_use() {
    let database = TestDatabase::new().await.unwrap();
    run(&["load", "--database-url", &database.url(), &fixtures()]).await;
    let before = generations::live(database.store()).await.unwrap().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let bad = dir.path().join("delegated-apnic-extended");
    std::fs::write(&bad, fixtures::text("apnic").replace("1.0.2.0", "1.0.2.999")).unwrap();
    let output =
        run(&["load", "--database-url", &database.url(), &bad.display().to_string()]).await;
    assert_eq!(output.status.code(), Some(65));
    let expected = format!(
        "rir-loader: {}: 1 of its 8 objects are malformed, more than one in a hundred; first line \
         17: field start: found `1.0.2.999`, expected an IPv4 address: ",
        bad.display()
    );
    assert!(stderr(&output).contains(&expected), "{}", stderr(&output));
    assert_eq!(generations::live(database.store()).await.unwrap(), Some(before));
}

/// A file with so many records that copying them takes a while.
fn large_file(records: u32) -> String {
    let mut text = format!("2|lacnic|1|{records}|||\n");
    for place in 0..records {
        let first = std::net::Ipv4Addr::from_bits((187 << 24) + place * 256);
        writeln!(text, "lacnic|BR|ipv4|{first}|256|20100101|allocated|{place}").unwrap();
    }
    text
}

#[tokio::test]
async fn a_load_that_is_killed_leaves_the_generation_in_use() {
    let database = TestDatabase::new().await.unwrap();
    run(&["load", "--database-url", &database.url(), &fixtures()]).await;
    let before = generations::live(database.store()).await.unwrap().unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("delegated-lacnic-extended"), large_file(60_000)).unwrap();
    let large = dir.path().display().to_string();
    let mut command = loader(&["load", "--force", "--database-url", &database.url(), &large]);
    let killed = tokio::task::spawn_blocking(move || {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
        assert!(said.any(|line| line.unwrap().starts_with("copying")), "it never came to copying");
        child.kill().unwrap();
        child.wait().unwrap().code()
    });
    assert_eq!(killed.await.unwrap(), None, "ended by a signal");
    assert_eq!(generations::live(database.store()).await.unwrap(), Some(before));
    let output =
        run(&["load", "--json", "--force", "--database-url", &database.url(), &large]).await;
    assert_eq!(json(&output)["companies"], 60_000);
}

#[tokio::test]
async fn every_kind_of_error_has_its_exit_code() {
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().display().to_string();
    let nobody = "postgres://nobody@127.0.0.1:1/nothing";
    for (arguments, code, sentence) in [
        (vec!["load"], 2, "<PATH>"),
        (vec!["stats", "/nowhere/at/all"], 66, "cannot open /nowhere/at/all"),
        (vec!["stats", &empty], 66, "fetch today's delegated files with `rir-loader fetch --dir"),
        (
            vec!["inspect", "no-company", &fixtures()],
            3,
            "`no-company` is neither an address, a prefix (a/n), a range",
        ),
        (
            vec!["inspect", "193.0.6.139/21", &fixtures()],
            1,
            "193.0.6.139/21 has host bits set; the network is 193.0.0.0/21",
        ),
        (vec!["load", "--split-v4", "16/40", &fixtures()], 2, "prefix lengths up to 32"),
        (vec!["fetch", "--dir", &empty, "--registry", "iana"], 2, "the five are afrinic, apnic"),
        (
            vec!["load", "--database-url", nobody, &fixtures()],
            69,
            "cannot connect to the database at 127.0.0.1:1",
        ),
        (
            vec!["load", "--database-url", "nonsense", &fixtures()],
            1,
            "postgres://user:password@host/database",
        ),
    ] {
        let output = run(&arguments).await;
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(sentence), "{arguments:?}: {}", stderr(&output));
    }
}

#[tokio::test]
async fn stats_and_inspect_need_no_database() {
    let stats = json(&run(&["stats", "--json", &fixtures()]).await);
    for (key, value) in
        [("subnets", 35), ("companies", 17), ("non_cidr", 2), ("rejected", 0), ("max_depth", 4)]
    {
        assert_eq!(stats[key], value, "{key}");
    }
    let chain = json(&run(&["inspect", "--json", "2620:0:10::1", &fixtures()]).await);
    let chain = chain.as_array().unwrap();
    assert_eq!((chain.len(), &chain[0]["first"]), (5, &"::".into()));
    let leaf = &chain[4];
    assert_eq!((&leaf["registry"], &leaf["country"]), (&"arin".into(), &"US".into()));
    assert!(leaf["source"].as_str().unwrap().ends_with("delegated-arin-extended"));
    let plain = stdout(&run(&["inspect", "193.0.6.139", &fixtures()]).await);
    assert_eq!(plain.lines().count(), 3, "{plain}");
}

#[tokio::test]
async fn the_private_database_is_the_default() {
    let dir = tempfile::tempdir_in("/tmp").unwrap();
    let data = dir.path().join("data").display().to_string();
    // The server runs as another user where we are root.
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .unwrap();
    let output = run(&["load", "--json", "--data-dir", &data, &fixtures()]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(json(&output)["generation"], 1);
    assert!(stderr(&output).contains(&format!("using the private Postgres in {data}")));
    // It was stopped cleanly and holds what was loaded.
    assert!(!Path::new(&data).join("postgres/postmaster.pid").exists());
    let output = run(&["load", "--json", "--data-dir", &data, &fixtures()]).await;
    assert_eq!(json(&output)["generation"], 2);
}

#[tokio::test]
async fn fetch_reports_each_file_and_fails_at_the_end() {
    let server = Server::start().await;
    server.publish(fixtures::text("apnic").as_bytes(), "\"one\"");
    let dir = tempfile::tempdir().unwrap();
    let target = dir.path().join("new").display().to_string();
    let base = format!("apnic={}", server.base());
    let missing = format!("arin={}", server.base());
    let arguments = ["fetch", "--dir", &target, "--registry", "apnic", "--base-url", &base];
    let output = run(&arguments).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).ends_with("downloaded and checked\n"), "{}", stdout(&output));
    let again =
        [&arguments[..], &["--registry", "arin", "--base-url", &missing, "--json"]].concat();
    let output = run(&again).await;
    assert_eq!(output.status.code(), Some(69));
    let lines = json(&output);
    assert_eq!((&lines[0]["up_to_date"], &lines[0]["error"]), (&true.into(), &Value::Null));
    assert!(lines[1]["error"].as_str().unwrap().contains("404"), "{lines}");
    assert!(stderr(&output).ends_with("rir-loader: 1 of 2 files could not be fetched\n"));
    // What was fetched can be loaded.
    let output = run(&["stats", "--json", &target]).await;
    assert_eq!(json(&output)["sources"][0]["records"], 8);
}
