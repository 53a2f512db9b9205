//! `admin` from the command line: accounts and the audit log.

use std::io::Write as _;
use std::process::Stdio;

use coordinator::packages::cursor::LedgerCursor;
use coordinator::runtime::clock::{Clock as _, SystemClock};
use coordinator::runtime::coordinator_key;
use model::{AgentId, RegionId, UnixMillis};
use protocol::key::{AgentKey, CoordinatorKey};
use region::Settings;
use region::delegations::{Delegate, Range};
use region::ownership::{SignedView, View};
use region::roster::{Mode, Roster, RosterAgent, SignedRoster};
use serde_json::Value;
use store::packages;
use store::regions::{self, StoredRegion};
use store::restored;
use store::testing::TestDatabase;
use store::{Store, Term};

use crate::program::bare;

/// Exit code, stdout and stderr of a command that reads `input`.
fn admin(database: &TestDatabase, words: &[&str], input: &str) -> (i32, String, String) {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().to_str().unwrap();
    let mut command = bare();
    command.args(["admin", "--data-dir", place, "--database-url", &database.url()]).args(words);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A command that does not read its input may end before.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn accounts_are_created_changed_and_removed() {
    let database = TestDatabase::new().await.unwrap();
    let run = |words: &[&str], input: &str| admin(&database, words, input);
    let (code, printed, told) = run(&["create", "ada", "--role", "admin"], "");
    assert_eq!(code, 0, "{told}");
    let password = printed.strip_prefix("password of ada: ").unwrap().trim();
    assert!(password.len() >= 12, "{printed}");
    let (code, printed, _) = run(&["create", "vera", "--password-stdin"], "a long password\n");
    assert_eq!((code, printed.as_str()), (0, ""), "a password that was given is not printed");

    let (code, _, told) = run(&["password", "vera", "--password-stdin"], "short\n");
    assert!(code == 1 && told.contains("at least 12"), "{code} {told}");
    assert_eq!(run(&["create", "vera"], "").0, 1, "the name is taken");
    assert_eq!(run(&["role", "nobody", "admin"], "").0, 1);
    assert_eq!(run(&["role", "ada", "owner"], "").0, 2);
    let (code, _, told) = run(&["remove", "ada"], "");
    assert!(code == 1 && told.contains("last account"), "{code} {told}");
    assert_eq!(run(&["role", "vera", "admin"], "").0, 0);
    assert_eq!(run(&["remove", "ada"], "").0, 0);

    let (_, list, _) = run(&["list", "--json"], "");
    let list: Value = serde_json::from_str(&list).unwrap();
    assert_eq!((&list[0]["name"], &list[0]["role"]), (&"vera".into(), &"admin".into()));
    assert_eq!(list.as_array().unwrap().len(), 1);
    let (_, log, _) = run(&["log", "--action", "account.role", "--json"], "");
    let entry: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(
        (&entry["actor"], &entry["detail"]["name"]),
        (&"command line".into(), &"vera".into())
    );
    let (_, log, _) = run(&["log", "--limit", "1"], "");
    assert!(log.contains("command line: account.remove acc_1"), "{log}");
}

/// Stores a region without members.
async fn create_region(store: &Store, id: RegionId, name: &str, view: Vec<u8>) {
    let stored = StoredRegion {
        id,
        name: name.into(),
        settings: serde_json::to_value(Settings::default()).unwrap(),
        view,
        promises: None,
        lent_until: UnixMillis(0),
    };
    regions::create(store, Term::default(), &stored, &[], UnixMillis(0)).await.unwrap();
}

/// A region of two agents with one range.
async fn form_region(store: &Store, key: &CoordinatorKey) -> Roster {
    let id = regions::next_id(store).await.unwrap();
    let entry = |number: u8| {
        let key = AgentKey::from_seed([number; 32]).public();
        RosterAgent::new(AgentId::new(number.into()), key)
    };
    let range = Range { first: [10, 0, 0, 0].into(), last: [10, 0, 0, 9].into() };
    let roster = Roster {
        region: id,
        epoch: 3,
        voters_since: 1,
        mode: Mode::Safe,
        replicas: 10,
        recovery: 1,
        agents: [1, 2].map(entry).into(),
        delegations: vec![(range, Delegate::Spread)],
    };
    let view = SignedView { roster: SignedRoster::new(key, &roster).unwrap(), deltas: vec![] };
    create_region(store, id, "ripencc", postcard::to_allocvec(&view).unwrap()).await;
    roster
}

#[tokio::test]
async fn a_restored_database_is_prepared_for_its_agents() {
    let database = TestDatabase::new().await.unwrap();
    let key = coordinator_key::load(database.store()).await.unwrap();
    let id = regions::next_id(database.store()).await.unwrap();
    create_region(database.store(), id, "afrinic", vec![0xff]).await;
    let former = form_region(database.store(), &key).await;
    let ledger = packages::ledger(database.store()).await.unwrap();
    let of_before = LedgerCursor::of_index("", &ledger).to_progress();
    let (code, printed, told) = admin(&database, &["after-restore"], "");
    assert_eq!(code, 0, "{told}");
    assert!(printed.contains("cannot be read: afrinic: "), "{printed}");
    let [_, stored] = &regions::list(database.store()).await.unwrap()[..] else { panic!() };
    let signed: SignedView = postcard::from_bytes(&stored.view).unwrap();
    let view = View::restore(&key.public(), signed).unwrap();
    assert!(view.version().epoch > former.epoch + 1_000, "{:?}", view.version());
    let agents = former.agents.clone();
    assert_eq!((&view.roster().agents, view.roster().delegations.len()), (&agents, 1));
    assert!(stored.lent_until > SystemClock.now().plus_ms(3_600_000), "members may have loans");
    assert!(printed.contains("0 packages since the backup entered, 0 left out"), "{printed}");
    assert!(printed.contains("remove the directory `index`"), "{printed}");
    let lost_before = restored::contents_lost_before(database.store()).await.unwrap();
    assert!(lost_before > Some(SystemClock.now()), "agents may not hear of it before");
    let ledger = packages::ledger(database.store()).await.unwrap();
    let is_refused = LedgerCursor::is_of_other_ledger(&of_before, &ledger);
    assert!(is_refused, "an index of before would take new packages for those that it has");
    let (_, entries, _) = admin(&database, &["log"], "");
    assert!(entries.contains("database.restored"), "{entries}");
}

#[test]
fn a_remote_coordinator_needs_a_token_and_says_how_to_give_one() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = bare();
    command.args(["admin", "--url", "http://127.0.0.1:9", "--data-dir"]).arg(dir.path());
    command.args(["agents", "list"]).env_remove("NEARCRAWL_API_TOKEN").stdin(Stdio::null());
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(64), "{told}");
    assert!(told.contains("--token-file") && told.contains("NEARCRAWL_API_TOKEN"), "{told}");
}

#[test]
fn tokens_live_for_as_many_days_as_the_api_permits() {
    for (kind, days, range) in [
        ("api-tokens", "0", "1..=3650"),
        ("api-tokens", "3651", "1..=3650"),
        ("tokens", "31", "1..=30"),
    ] {
        let output = bare().args(["admin", kind, "create", "x", "--days", days]).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{told}");
        assert!(told.contains(range), "{told}");
    }
}
