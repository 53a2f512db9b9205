//! The ledger: received once, ingested once.

use model::{AgentId, LedgerPosition};
use protocol::package::{Header, PackageName};
use store::agents::{self, Order};
use store::host_tally::HostTally;
use store::loads;
use store::packages::{self, EnterOutcome, Ingestion, LedgerPackage, ReceivedPackage};

use crate::world::{NOW, World, range, url};

pub(crate) fn header(agent: AgentId, seq: u64) -> Header {
    let name = PackageName { agent, epoch: 7, seq };
    Header { name, created: NOW, entries: 2, plain_bytes: 100, body_sha256: String::new() }
}

pub(crate) async fn enter(world: &World, header: &Header, sha256: &[u8]) -> EnterOutcome {
    let received =
        ReceivedPackage { header, sha256, object: "there", bytes: 50, foreign_hosts: &[] };
    packages::enter(world.store(), &received, NOW).await.unwrap()
}

#[tokio::test]
async fn a_package_that_arrives_after_the_revocation_of_its_agent_is_not_entered() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    agents::order(world.store(), agent, Order::Revoke, "ada", NOW).await.unwrap();
    let header = header(agent, 1);
    assert_eq!(enter(&world, &header, b"one").await, EnterOutcome::Revoked);
    assert_eq!(packages::find(world.store(), &header.name).await.unwrap(), None);
}

#[tokio::test]
async fn a_name_stands_for_one_package() {
    let world = World::new().await;
    let header = header(world.approved(1, None).await, 1);
    assert_eq!(packages::find(world.store(), &header.name).await.unwrap(), None);
    assert_eq!(enter(&world, &header, b"one").await, EnterOutcome::New);
    assert_eq!(enter(&world, &header, b"one").await, EnterOutcome::Duplicate);
    assert_eq!(enter(&world, &header, b"other").await, EnterOutcome::Conflict);
    assert_eq!(packages::find(world.store(), &header.name).await.unwrap().unwrap(), b"one");
}

#[tokio::test]
async fn a_package_is_ingested_once_with_all_that_follows() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    world.queue(&["http://a.example/"]).await;
    let header = header(agent, 1);
    enter(&world, &header, b"one").await;
    let waiting =
        packages::pending(world.store(), &packages::InTurn::default(), NOW, 10).await.unwrap();
    assert_eq!(
        (waiting.len(), waiting[0].name, waiting[0].sha256.as_slice()),
        (1, header.name, &b"one"[..])
    );
    let tally = HostTally {
        scheme: "http".into(),
        authority: "a.example".into(),
        pages: 1,
        fetches: 2,
        wire_bytes: 300,
        fetch_ms: 40,
        ..HostTally::default()
    };
    let discovered = vec![url("http://b.example/"), url("http://b.example/x")];
    let position = waiting[0].position;
    let ingestion =
        Ingestion { position, name: header.name, received_at: NOW, hosts: vec![tally], discovered };
    assert!(packages::ingest(world.store(), &ingestion, NOW).await.unwrap().is_some());
    assert!(packages::ingest(world.store(), &ingestion, NOW).await.unwrap().is_none(), "only once");
    assert!(
        packages::pending(world.store(), &packages::InTurn::default(), NOW, 10)
            .await
            .unwrap()
            .is_empty()
    );
    assert_eq!(
        world.queue(&["http://b.example/", "http://b.example/x"]).await,
        0,
        "they wait already"
    );
    let unresolved = store::hosts::list_unresolved(world.store(), 10, &[], NOW).await.unwrap();
    assert_eq!(unresolved.len(), 2);
}

#[tokio::test]
async fn fetches_are_the_load_of_a_week() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
    let day_ms = 24 * 3_600_000;
    for (seq, day) in [(1, 0), (2, 0), (3, 3)] {
        let header = header(agent, seq);
        enter(&world, &header, b"one").await;
        let host = HostTally {
            scheme: "http".into(),
            authority: "a.example".into(),
            fetches: 5,
            ..HostTally::default()
        };
        let position = LedgerPosition::new(i64::try_from(seq).unwrap());
        let hosts = vec![host];
        let received_at = NOW.plus_ms(day * day_ms);
        let ingestion =
            Ingestion { position, name: header.name, received_at, hosts, discovered: vec![] };
        // The third one waited for two days.
        let now = received_at.plus_ms((day - 1) * day_ms);
        assert!(packages::ingest(world.store(), &ingestion, now).await.unwrap().is_some());
    }
    let load = |day: i64| {
        let world = &world;
        async move {
            let loads = loads::subnets(world.store(), NOW.plus_ms(day * day_ms)).await.unwrap();
            loads.get(&range("198.51.100.0/24")).copied()
        }
    };
    assert_eq!(
        (load(0).await, load(3).await),
        (Some(15), Some(4)),
        "15 in one day, 15 in four, rounded up"
    );
    assert_eq!((load(10).await, load(11).await), (Some(1), None), "a week later it is forgotten");
    let work = loads::agents(world.store(), NOW.plus_ms(3 * day_ms)).await.unwrap();
    assert_eq!((work[0].offered, work[0].fetched, work[0].since), (1_000, 4, Some(NOW)));
}

#[tokio::test]
async fn positions_have_no_gaps_and_a_failed_package_waits_for_its_next_attempt() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    for seq in [2, 2, 1, 10] {
        enter(&world, &header(agent, seq), b"same").await;
    }
    let nothing = packages::InTurn::default();
    let waiting = |now| packages::pending(world.store(), &nothing, now, 10);
    let positions = |waiting: Vec<LedgerPackage>| {
        waiting.iter().map(|w| (w.position.get(), w.name.seq)).collect::<Vec<_>>()
    };
    assert_eq!(positions(waiting(NOW).await.unwrap()), [(1, 2), (2, 1), (3, 10)]);
    let failed = LedgerPosition::new(2);
    let later = NOW.plus_ms(1_000);
    packages::fail(world.store(), failed, "it is\0unreadable", NOW, later).await.unwrap();
    assert_eq!(positions(waiting(NOW).await.unwrap()), [(1, 2), (3, 10)]);
    assert_eq!(positions(waiting(later).await.unwrap()), [(1, 2), (2, 1), (3, 10)]);
    let listed = packages::list_failed(world.store(), LedgerPosition::new(9), 10).await.unwrap();
    assert_eq!((listed.len(), listed[0].position, listed[0].seq), (1, failed, 1));
    assert_eq!((listed[0].failure.as_str(), listed[0].failures), ("it isunreadable", 1));
    assert_eq!(packages::count_failed(world.store()).await.unwrap(), 1);
    assert!(packages::retry(world.store(), failed, NOW).await.unwrap());
    assert!(!packages::retry(world.store(), LedgerPosition::new(1), NOW).await.unwrap());
    assert_eq!(waiting(NOW).await.unwrap().len(), 3);
}

#[tokio::test]
async fn the_ledger_is_followed_from_a_position() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    for seq in [1, 2, 3] {
        enter(&world, &header(agent, seq), b"same").await;
    }
    let after = async |last, also: &[i64], limit| {
        let last = LedgerPosition::new(last);
        let also: Vec<_> = also.iter().copied().map(LedgerPosition::new).collect();
        let next = packages::waiting(world.store(), last, &also, limit).await.unwrap();
        assert!(next.iter().all(|package| package.agent == agent));
        next.iter().map(|package| package.position.get()).collect::<Vec<_>>()
    };
    assert_eq!(after(0, &[], 2).await, [1, 2]);
    assert_eq!(after(2, &[], 2).await, [3]);
    assert_eq!(after(2, &[1], 2).await, [1, 3]);
    assert_eq!(after(3, &[], 2).await, [0; 0]);
    let ledger = packages::ledger(world.store()).await.unwrap();
    assert_eq!(ledger.last.get(), 3);
    let position = LedgerPosition::new;
    let passed_over = packages::InTurn { positions: vec![position(1), position(2)], range: None };
    let coming = packages::InTurn { positions: vec![], range: Some((position(1), position(2))) };
    for (in_turn, expected) in [(passed_over, vec![3]), (coming, vec![1, 3])] {
        let pending = packages::pending(world.store(), &in_turn, NOW, 9).await.unwrap();
        assert_eq!(pending.iter().map(|one| one.position.get()).collect::<Vec<_>>(), expected);
    }
    let at = packages::at(world.store(), &[LedgerPosition::new(2)]).await.unwrap();
    assert_eq!((at.len(), at[0].name.seq, at[0].is_ingested), (1, 2, false));
}

#[tokio::test]
async fn sums_that_no_column_holds_saturate() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    world.queue(&["http://a.example/"]).await;
    for seq in [1, 2] {
        let header = header(agent, seq);
        enter(&world, &header, b"one").await;
        let host = HostTally {
            scheme: "http".into(),
            authority: "a.example".into(),
            wire_bytes: 1 << 63,
            fetch_ms: 1 << 62,
            ..HostTally::default()
        };
        let hosts = vec![host.clone(), host];
        let position = LedgerPosition::new(i64::try_from(seq).unwrap());
        let ingestion =
            Ingestion { position, name: header.name, received_at: NOW, hosts, discovered: vec![] };
        assert!(packages::ingest(world.store(), &ingestion, NOW).await.unwrap().is_some());
    }
    let counts = store::overview::count(world.store(), NOW, NOW).await.unwrap();
    assert_eq!(counts.packages.wire_bytes, i64::MAX);
}

#[tokio::test]
async fn facts_are_kept() {
    let world = World::new().await;
    let first =
        store::settings::get_or_set(world.store(), "token_secret", &"one".into()).await.unwrap();
    let second =
        store::settings::get_or_set(world.store(), "token_secret", &"two".into()).await.unwrap();
    assert_eq!((first.as_str(), second.as_str()), (Some("one"), Some("one")));
}
