//! Packages that came after a backup are entered again once it is restored.

use std::fs::File;
use std::future::ready;
use std::path::Path;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use coordinator::packages::blob_store::{BlobStore, StoredPackage};
use coordinator::packages::cursor::LedgerCursor;
use coordinator::packages::recover::{Recovery, recover};
use coordinator::placement::agent_administration::AgentAction;
use futures_util::TryStreamExt as _;
use model::AgentId;
use protocol::package::PackageName;
use sha2::{Digest as _, Sha256};
use store::packages::{self, InTurn};
use store::testing::execute;

use crate::agent::{EPOCH, FakeAgent, link, now, page};
use crate::world::{self, Ground, until};

/// What a backup from before the packages with numbers from 2 on has.
const FORGET: [&str; 2] =
    ["DELETE FROM packages WHERE seq > 1", "UPDATE package_ledger SET last = 1"];

#[tokio::test]
async fn packages_since_a_backup_are_entered_again() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    running.order(agent.id, AgentAction::Approve).await;
    let hosts = ["before", "after", "last"];
    for (seq, host) in (1..).zip(hosts) {
        let url = format!("http://{host}.example/");
        let link = link(&format!("http://found.example/{seq}"));
        let bytes = agent.package(seq, &[page(&url, host, "recovered"), link]);
        assert_eq!(agent.ship_well(&running, seq, bytes).await, "stored");
    }
    running.stop().await;
    for statement in FORGET {
        execute(ground.store(), statement).await.unwrap();
    }
    ground.lose_the_index();

    let blobs = BlobStore::local(&ground.packages(), 0).unwrap();
    store_before(&ground.packages(), &blobs, 2).await;
    let strange = b"no package".as_slice();
    let sha256 = data_encoding::HEXLOWER.encode(&Sha256::digest(strange));
    let name = PackageName { agent: agent.id, epoch: EPOCH, seq: 9 };
    for name in [name, PackageName { agent: AgentId::new(99), ..name }] {
        blobs.put(&BlobStore::key(&name, &sha256), Bytes::from_static(strange)).await.unwrap();
    }
    let recovered = recover(ground.store(), &blobs, now()).await.unwrap();
    assert_eq!(recovered, Recovery { entered: 2, left_out: 2 });
    let again = recover(ground.store(), &blobs, now()).await.unwrap();
    assert_eq!(again, Recovery { entered: 0, left_out: 2 });

    let running = ground.start().await;
    let index = &running.coordinator.packages.index;
    let found = async || world::search(index, "recovered").total;
    // The first one is in the ledger as it was received: it is about a host that nobody had.
    until("both pages are found", async || found().await == 2).await;
    // Its links use the quota of its own day.
    for counted in OLD {
        until(counted, async || execute(ground.store(), counted).await.unwrap() == 1).await;
    }
    running.stop().await;
}

/// What was received three weeks before the restore, and found in it.
const OLD: [&str; 2] = [
    "UPDATE packages SET seq = seq WHERE received_at < now() - interval '20 days'",
    "UPDATE discovery_days SET urls = urls WHERE day < current_date - 20",
];

/// Lets the package with this number be three weeks old in the storage.
async fn store_before(dir: &Path, blobs: &BlobStore, seq: u64) {
    let is_meant = |package: &StoredPackage| ready(package.name.seq == seq);
    let package = blobs.packages().try_filter(is_meant).try_next().await.unwrap().unwrap();
    let file = File::options().write(true).open(dir.join(package.key)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_hours(21 * 24)).unwrap();
}

/// Position of the last package before an index is built anew, which takes half a minute.
const LAST_BEFORE: i64 = 20_000;
/// Fills the ledger up to there with copies of its first package, which were applied.
const INDEX_MANY: [&str; 2] = [
    "INSERT INTO packages (position, agent, epoch, seq, sha256, object, bytes, plain_bytes, entries,
                           ingested_at)
     SELECT number, agent, 0, number, sha256, object, bytes, plain_bytes, entries, ingested_at
     FROM packages, generate_series(2, 20000) number",
    "UPDATE package_ledger SET last = 20000",
];

#[tokio::test]
async fn new_packages_are_applied_while_an_index_is_built() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    running.order(agent.id, AgentAction::Approve).await;
    let old = agent.package(1, &[page("http://old.example/", "Old", "old")]);
    assert_eq!(agent.ship_well(&running, 1, old).await, "stored");
    let is_applied = async || {
        packages::pending(ground.store(), &InTurn::default(), now(), 1).await.unwrap().is_empty()
    };
    until("the first package is applied", is_applied).await;
    running.stop().await;
    for statement in INDEX_MANY {
        execute(ground.store(), statement).await.unwrap();
    }
    ground.lose_the_index();

    let running = ground.start().await;
    let new = agent.package(2, &[page("http://new.example/", "New", "new")]);
    assert_eq!(agent.ship_well(&running, 2, new).await, "stored");
    until("the new package is applied", is_applied).await;
    let ledger = packages::ledger(ground.store()).await.unwrap();
    let index = &running.coordinator.packages.index;
    let cursor = LedgerCursor::of_index(&index.progress(), &ledger);
    assert!(cursor.last().get() < LAST_BEFORE, "{cursor:?}");
    assert!(!cursor.holds(ledger.last), "its pages are indexed in their turn");
    running.stop().await;
}
