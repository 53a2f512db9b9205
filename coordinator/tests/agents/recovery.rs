//! Packages that came after a backup are entered again once it is restored.

use bytes::Bytes;
use coordinator::packages::blob_store::BlobStore;
use coordinator::packages::recover::{Recovery, recover};
use coordinator::placement::agent_administration::AgentAction;
use model::AgentId;
use protocol::package::PackageName;
use sha2::{Digest as _, Sha256};
use store::testing::execute;

use crate::agent::{EPOCH, FakeAgent, now, page};
use crate::world::{Ground, until};

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
        let bytes = agent.package(seq, &[page(&url, host, "recovered")]);
        assert_eq!(agent.ship_well(&running, seq, bytes).await, "stored");
    }
    running.stop().await;
    for statement in FORGET {
        execute(ground.store(), statement).await.unwrap();
    }
    ground.lose_the_index();

    let blobs = BlobStore::local(&ground.packages(), 0).unwrap();
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
    let found = async || index.search("recovered", 0, 1).unwrap().total;
    // The first one is in the ledger as it was received: it is about a host that nobody had.
    until("both pages are found", async || found().await == 2).await;
    running.stop().await;
}
