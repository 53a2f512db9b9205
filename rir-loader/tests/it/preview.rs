//! A dry run shows what a load would change, and changes nothing.

use std::path::Path;

use serde_json::{Value, json};
use store::testing::{TestDatabase, execute};
use store::{delegations, generations};

use crate::command::{json as answer, run, stderr, stdout};

/// A delegated file of these ranges and holders.
fn file(dir: &Path, records: &[(&str, u32, &str)]) -> String {
    let line = |(first, size, holder): &(&str, u32, &str)| {
        format!("ripencc|NL|ipv4|{first}|{size}|20100101|allocated|{holder}\n")
    };
    let lines: String = records.iter().map(line).collect();
    let path = dir.join("delegated-ripencc-extended");
    std::fs::write(&path, format!("2|ripencc|1|{}|||\n{lines}", records.len())).unwrap();
    path.display().to_string()
}

const BEFORE: [(&str, u32, &str); 6] = [
    ("193.0.0.0", 65536, "a"),
    ("193.1.0.0", 65536, "b"),
    ("193.2.0.0", 65536, "c"),
    ("193.4.0.0", 65536, "d"),
    ("193.5.0.0", 65536, "e"),
    ("193.6.0.0", 65536, "f"),
];

const AFTER: [(&str, u32, &str); 5] = [
    ("193.0.0.0", 65536, "a"),
    ("193.1.0.0", 65536, "z"),
    ("193.2.0.0", 32768, "c"),
    ("193.2.128.0", 32768, "c"),
    ("193.4.0.0", 131_072, "d"),
];

/// An agent that has all six ranges, and two open searches.
async fn delegate(database: &TestDatabase) {
    for statement in [
        "INSERT INTO agents (public_key, state, name, contact, version, \
         capacity_pages_per_day, zone, home)
         VALUES (decode(repeat('01', 32), 'hex'), 'approved', 'one', 'c', '0', 1, 'UTC',
                 '193.0.0.1')",
        "INSERT INTO delegations (first, last, agent, fencing_number, reason, rtt_us)
         SELECT ('193.' || n || '.0.0')::inet, ('193.' || n || '.255.255')::inet, 1, 1,
                'threshold', n
         FROM unnest(ARRAY [0, 1, 2, 4, 5, 6]) AS n",
        "INSERT INTO searches (first, last, target, target_host, target_port, strategy, \
         threshold_us)
         SELECT ('193.' || n || '.0.0')::inet, ('193.' || n || '.255.255')::inet,
                ('193.' || n || '.0.9')::inet, 'a', 80, 'threshold', 1
         FROM unnest(ARRAY [0, 5]) AS n",
        "INSERT INTO constraints (kind, scope, first, last, agent, reason, created_by, created_at)
         SELECT 'pin', 'range', ('193.' || n || '.0.0')::inet, ('193.' || n || '.255.255')::inet,
                1, 'r', 'admin', now()
         FROM unnest(ARRAY [2, 4, 5, 6]) AS n",
    ] {
        execute(database.store(), statement).await.unwrap();
    }
}

async fn state(database: &TestDatabase) -> impl PartialEq + std::fmt::Debug + use<> {
    let store = database.store();
    (
        generations::live(store).await.unwrap(),
        delegations::list_active(store).await.unwrap(),
        delegations::open_search_claims(store).await.unwrap(),
    )
}

#[tokio::test]
async fn a_dry_run_shows_every_change_and_changes_nothing() {
    let database = TestDatabase::new().await.unwrap();
    let old_dir = tempfile::tempdir().unwrap();
    let new_dir = tempfile::tempdir().unwrap();
    let old = file(old_dir.path(), &BEFORE);
    let new = file(new_dir.path(), &AFTER);
    run(&["load", "--database-url", &database.url(), &old]).await;
    delegate(&database).await;
    let before = state(&database).await;
    let preview = answer(
        &run(&["load", "--dry-run", "--json", "--database-url", &database.url(), &new]).await,
    );
    let changes = json!({ "same": 1, "transferred": 1, "split": 1, "merged": 2, "vanished": 1 });
    assert_eq!((&preview["generation"], &preview["refused"]), (&json!(1), &Value::Null));
    let delegations = &preview["delegations"];
    assert_eq!((&delegations["total"], &delegations["ended"]), (&json!(6), &json!(2)));
    assert_eq!(delegations["changes"], changes);
    let merged: Vec<&Value> = delegations["examples"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["change"] == "merged")
        .collect();
    assert_eq!(merged[0]["to"], json!(["193.4.0.0/15"]));
    assert_eq!((&merged[1]["to"], &merged[1]["agent"]), (&json!([]), &json!(1)));
    assert_eq!(merged[1]["ceded"], json!([{ "range": "193.4.0.0/15", "to": 4 }]));
    let searches = &preview["searches"];
    assert_eq!((&searches["total"], &searches["ended"]), (&json!(2), &json!(1)));
    let constraints = &preview["constraints"];
    assert_eq!((&constraints["total"], &constraints["ended"]), (&json!(4), &json!(1)));
    assert_eq!(
        constraints["changes"],
        json!({ "same": 1, "transferred": 0, "split": 1, "merged": 2, "vanished": 0 })
    );
    assert_eq!(state(&database).await, before);

    let plain = stdout(&run(&["load", "--dry-run", "--database-url", &database.url(), &new]).await);
    for line in [
        "A dry run: nothing was changed.\n",
        "\n          1            0            1  is cut into smaller ones (split)",
        "\n  delegation 2 of agent 1: 193.1.0.0/16 stays; held by b, then by z\n",
        "\n  delegation 3 of agent 1: 193.2.0.0/16 -> 193.2.0.0/17, 193.2.128.0/17\n",
        "\n  delegation 5 of agent 1: 193.5.0.0/16 ends; 193.4.0.0/15 is number 4's\n",
        "\n  delegation 6 of agent 1: 193.6.0.0/16 ends",
        "\n  search 2: 193.5.0.0/16 ends\n",
    ] {
        assert!(plain.contains(line), "{line}: {plain}");
    }
}

#[tokio::test]
async fn a_dry_run_shows_that_a_load_would_be_refused() {
    let database = TestDatabase::new().await.unwrap();
    let old_dir = tempfile::tempdir().unwrap();
    let new_dir = tempfile::tempdir().unwrap();
    let old = file(old_dir.path(), &BEFORE);
    let new = file(new_dir.path(), &AFTER[..1]);
    run(&["load", "--database-url", &database.url(), &old]).await;
    let output =
        run(&["load", "--dry-run", "--json", "--database-url", &database.url(), &new]).await;
    assert_eq!(output.status.code(), Some(0));
    assert!(answer(&output)["refused"].as_str().unwrap().contains("(ripencc: 1, 6 in use)"));
}

#[tokio::test]
async fn no_database_is_created_where_nothing_is_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let data = dir.path().join("nowhere");
    let path = data.display().to_string();
    let new = file(dir.path(), &AFTER);
    let output = run(&["load", "--dry-run", "--data-dir", &path, &new]).await;
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("Nothing is loaded yet"), "{}", stdout(&output));
    for arguments in
        [vec!["stats", "--data-dir", &path], vec!["diff", "--data-dir", &path, "loaded", &new]]
    {
        let output = run(&arguments).await;
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    }
    assert!(!data.exists());
}
