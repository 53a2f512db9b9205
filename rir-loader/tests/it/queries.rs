//! The commands `stats`, `inspect` and `diff`.

use std::fs::File;
use std::io::Write;
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use store::testing::{TestDatabase, execute};

use crate::command::{json, loader, run, stderr, stdout};
use crate::fixtures;
use crate::whois::RPSL;

#[tokio::test]
async fn commands_without_files_show_the_current_generation() {
    let database = TestDatabase::new().await.unwrap();
    let url = database.url();
    let output = run(&["stats", "--database-url", &url]).await;
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("no registry data is loaded yet"), "{}", stderr(&output));

    let fixtures = fixtures::dir().display().to_string();
    run(&["load", "--database-url", &url, &fixtures]).await;
    let stats = json(&run(&["stats", "--json", "--database-url", &url]).await);
    assert_eq!(
        (&stats["subnets"], &stats["companies"], &stats["max_depth"]),
        (&35.into(), &17.into(), &4.into())
    );
    // The files are of October 2018: old, and said to be.
    let file = &stats["loaded"]["files"][1];
    assert_eq!((&file["registry"], &file["date"]), (&"apnic".into(), &"2018-10-12".into()));
    assert!(file["age_days"].as_u64().unwrap() > 2_900 && file["outdated"] == true, "{file}");
    let table = stdout(&run(&["stats", "--database-url", &url]).await);
    assert!(
        table.contains(
            " days  apnic     2018-10-12  delegated-apnic-extended  (8 records)  outdated\n"
        ),
        "{table}"
    );
    assert!(table.contains("Outdated files are older than 90 days; `rir-loader fetch`"), "{table}");
    let chain = json(&run(&["inspect", "--json", "--database-url", &url, "1.0.3.7"]).await);
    let leaf = chain.as_array().unwrap().last().unwrap().clone();
    assert_eq!(
        (&leaf["company"], &leaf["source"]),
        (&"A92E1062".into(), &"delegated-apnic-extended".into())
    );
    let diff = json(&run(&["diff", "--json", "--database-url", &url, &fixtures, "loaded"]).await);
    assert_eq!(
        (&diff["same"], &diff["new"]["count"], &diff["gone"]["count"]),
        (&20.into(), &0.into(), &0.into())
    );
}

/// What a command leaves behind of a database that it is not to change.
async fn has_tables(database: &TestDatabase) -> bool {
    let marker = "UPDATE settings SET value = value";
    execute(database.store(), marker).await.is_ok()
}

#[tokio::test]
async fn commands_that_look_create_nothing_in_an_empty_database() {
    let database = TestDatabase::new().await.unwrap();
    for statement in ["DROP SCHEMA public CASCADE", "CREATE SCHEMA public"] {
        execute(database.store(), statement).await.unwrap();
    }
    let url = database.url();
    let fixtures = fixtures::dir().display().to_string();
    for command in [&["stats"][..], &["split"], &["diff", &fixtures, "loaded"]] {
        let output = run(&[command, &["--database-url", &url]].concat()).await;
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(3), "{told}");
        assert!(told.contains("no registry data is loaded yet"), "{told}");
    }
    let output = run(&["load", "--dry-run", "--database-url", &url, &fixtures]).await;
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(!has_tables(&database).await);
    let output = run(&["load", "--database-url", &url, &fixtures]).await;
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(has_tables(&database).await);
}

#[tokio::test]
async fn no_command_migrates_a_database_of_an_older_version() {
    let database = TestDatabase::new().await.unwrap();
    let later = "DELETE FROM _sqlx_migrations
                 WHERE version = (SELECT max(version) FROM _sqlx_migrations)";
    execute(database.store(), later).await.unwrap();
    let url = database.url();
    let fixtures = fixtures::dir().display().to_string();
    for command in [&["stats"][..], &["load", &fixtures], &["load", "--dry-run", &fixtures]] {
        let output = run(&[command, &["--database-url", &url]].concat()).await;
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{told}");
        assert!(told.contains("start the coordinator of this version first"), "{told}");
    }
}

#[tokio::test]
async fn a_company_is_found_by_its_name_in_any_case() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("dump");
    std::fs::write(&file, RPSL).unwrap();
    let file = file.display().to_string();
    for name in ["example widgets", "ORG-EX1-RIPE"] {
        let links = json(&run(&["inspect", "--json", "--special-purpose", name, &file]).await);
        let ranges: Vec<_> =
            links.as_array().unwrap().iter().map(|link| link["range"].clone()).collect();
        assert_eq!(ranges, ["192.0.2.0 - 192.0.2.99"], "{name}");
    }
}

#[tokio::test]
async fn a_dump_is_as_old_as_its_file() {
    let database = TestDatabase::new().await.unwrap();
    let url = database.url();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("dump");
    std::fs::write(&file, RPSL).unwrap();
    // 13 October 2018.
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_539_432_000);
    File::options().write(true).open(&file).unwrap().set_modified(then).unwrap();
    let file = file.display().to_string();
    let loaded = run(&["load", "--special-purpose", "--database-url", &url, &file]).await;
    assert_eq!(loaded.status.code(), Some(0), "{}", stderr(&loaded));
    let stats = json(&run(&["stats", "--json", "--database-url", &url]).await);
    let source = &stats["loaded"]["files"][0];
    assert_eq!((&source["date"], &source["outdated"]), (&"2018-10-13".into(), &true.into()));
}

#[tokio::test]
async fn standard_input_is_read_like_a_file() {
    let output = tokio::task::spawn_blocking(|| {
        let mut command = loader(&["inspect", "--json", "--special-purpose", "192.0.2.7", "-"]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&fixtures::gzip(RPSL.as_bytes())).unwrap();
        child.wait_with_output().unwrap()
    });
    let chain = json(&output.await.unwrap());
    let leaf = chain.as_array().unwrap().last().unwrap().clone();
    for (key, value) in [
        ("first", "192.0.2.0"),
        ("last", "192.0.2.99"),
        ("company", "Example  Widgets"),
        ("country", "NL"),
        ("registry", "ripencc"),
        ("source", "standard input"),
    ] {
        assert_eq!(leaf[key], Value::from(value), "{key}");
    }
}

#[tokio::test]
async fn diff_shows_every_kind_of_change() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, rows: &[&str]| {
        let path = dir.path().join(name);
        let text = format!("2|apnic|1|{}|||\n{}\n", rows.len(), rows.join("\n"));
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    };
    let before = write(
        "a",
        &[
            "apnic|AU|ipv4|1.0.0.0|256||assigned|one",
            "apnic|AU|ipv4|1.0.1.0|256||assigned|one",
            "apnic|AU|ipv4|1.0.2.0|256||assigned|one",
            "apnic|AU|ipv4|1.0.3.0|256||assigned|one",
        ],
    );
    let after = write(
        "b",
        &[
            "apnic|AU|ipv4|1.0.0.0|256||assigned|one",
            "apnic|NZ|ipv4|1.0.1.0|256||assigned|two",
            "apnic|AU|ipv4|1.0.2.0|128||assigned|one",
            "apnic|AU|ipv4|1.0.4.0|256||assigned|one",
        ],
    );
    let diff = json(&run(&["diff", "--json", &before, &after]).await);
    for (kind, example) in [
        ("gone", "1.0.3.0/24 apnic one"),
        ("new", "1.0.4.0/24 apnic one"),
        ("resized", "1.0.2.0/24 apnic one -> 1.0.2.0/25"),
        ("company_changed", "1.0.1.0/24 one -> two"),
        ("country_changed", "1.0.1.0/24 AU -> NZ"),
    ] {
        assert_eq!(
            (&diff[kind]["count"], &diff[kind]["examples"][0]),
            (&1.into(), &example.into()),
            "{kind}"
        );
    }
    assert_eq!((&diff["same"], &diff["before"], &diff["after"]), (&1.into(), &4.into(), &4.into()));
    let table = stdout(&run(&["diff", &before, &after]).await);
    assert!(table.contains("          1  resized\n"), "{table}");
}

#[tokio::test]
async fn diff_tells_a_nested_range_from_another_size() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, ranges: &[&str]| {
        let path = dir.path().join(name);
        let object =
            |range| format!("inetnum: {range}\nnetname: ONE\ncountry: NL\nsource: RIPE\n\n");
        std::fs::write(&path, ranges.iter().map(object).collect::<String>()).unwrap();
        path.display().to_string()
    };
    let whole = write("whole", &["193.0.0.0 - 193.0.255.255"]);
    let nested = write("nested", &["193.0.0.0 - 193.0.255.255", "193.0.0.0 - 193.0.0.255"]);
    for (before, after, [new, gone]) in [(&whole, &nested, [1, 0]), (&nested, &whole, [0, 1])] {
        let diff = json(&run(&["diff", "--json", before, after]).await);
        let count = |kind: &str| diff[kind]["count"].as_u64().unwrap();
        assert_eq!([count("new"), count("gone"), count("resized")], [new, gone, 0], "{diff}");
    }
}

#[tokio::test]
async fn malformed_objects_are_in_the_report() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("dump");
    std::fs::write(
        &file,
        format!("{}inetnum: x\nsource: RIPE\n", "person: y\nsource: RIPE\n\n".repeat(99)),
    )
    .unwrap();
    let file = file.display().to_string();
    let stats = json(&run(&["stats", "--json", &file]).await);
    assert_eq!(
        (&stats["rejected"], &stats["sources"][0]["examples"][0]["line"]),
        (&1.into(), &298.into())
    );
    let table = stdout(&run(&["stats", &file]).await);
    assert!(table.contains("line 298: the range `x` is neither a prefix"), "{table}");
}

#[tokio::test]
async fn a_dump_is_loaded_with_its_terms_and_a_count_of_each_rule() {
    let database = TestDatabase::new().await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("dump");
    std::fs::write(&file, RPSL).unwrap();
    let file = file.display().to_string();
    let output =
        run(&["load", "--special-purpose", "--database-url", &database.url(), &file]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(
        stderr(&output).contains("terms of the WHOIS data of ripencc: "),
        "{}",
        stderr(&output)
    );
    let said = stdout(&output);
    assert!(
        said.contains("held by the name of the net") && said.contains("ranges of WHOIS objects"),
        "{said}"
    );
}

#[tokio::test]
async fn help_and_manual_name_every_subcommand() {
    let manual = stdout(&run(&["man"]).await);
    for subcommand in ["load", "split", "fetch", "stats", "inspect", "diff"] {
        assert!(manual.contains(&format!(".TH rir-loader-{subcommand} 1")), "{subcommand}");
        let help = stdout(&run(&[subcommand, "--help"]).await);
        assert!(help.contains("Usage: rir-loader"), "{help}");
    }
}
