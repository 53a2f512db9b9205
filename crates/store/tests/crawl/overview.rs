//! The kept counts are those of the rows, before and after they are added up.

use model::AgentId;
use store::agents::{self, Order};
use store::host_tally::HostTally;
use store::overview::{self, Counts};
use store::packages::{self, Ingestion};
use store::testing::execute;
use store::{hosts, routes};

use crate::packages::{enter, header};
use crate::world::{NOW, World, ip};

async fn counts(world: &World) -> Counts {
    overview::count(world.store(), NOW, NOW).await.unwrap()
}

async fn ingest(world: &World, agent: AgentId) {
    let header = header(agent, 1);
    enter(world, &header, b"one").await;
    let host = HostTally {
        scheme: "http".into(),
        authority: "a.example".into(),
        pages: 3,
        fetches: 4,
        wire_bytes: 500,
        ..HostTally::default()
    };
    let position =
        packages::pending(world.store(), &packages::InTurn::default(), NOW, 10).await.unwrap()[0]
            .position;
    let hosts = vec![host];
    let ingestion =
        Ingestion { position, name: header.name, received_at: NOW, hosts, discovered: vec![] };
    packages::ingest(world.store(), &ingestion, NOW).await.unwrap();
}

#[tokio::test]
async fn counts_follow_the_rows() {
    let world = World::new().await;
    let nothing = counts(&world).await;
    assert_eq!((nothing.hosts.known, nothing.searches.per_search_mean), (0, None));
    let agent = world.approved(1, Some("192.0.2.0/24")).await;
    let urls = ["http://a.example/", "http://a.example/1", "http://b.example/"];
    world.queue(&urls).await;
    let unresolved = hosts::list_unresolved(world.store(), 10, &[], NOW).await.unwrap();
    hosts::set_addresses(world.store(), &[(unresolved[1].id, ip("198.51.100.1"))]).await.unwrap();
    let waiting = counts(&world).await.hosts;
    assert_eq!((waiting.known, waiting.resolved, waiting.pending_urls), (2, 1, 3));
    world.settle_hosts("192.0.2.9", "192.0.2.0/24").await;
    assert_eq!(routes::route(world.store(), 10, 10).await.unwrap().len(), 2);
    ingest(&world, agent).await;

    let before = counts(&world).await;
    let hosts = &before.hosts;
    assert_eq!((hosts.resolved, hosts.delegated, hosts.failed), (2, 1, 0));
    assert_eq!((hosts.pending_urls, hosts.routed_urls), (1, 2));
    assert_eq!((before.delegations.total, before.delegations.home), (1, 1));
    let packages = &before.packages;
    assert_eq!((packages.received, packages.ingested, packages.bytes), (1, 1, 50));
    assert_eq!((packages.plain_bytes, packages.pages, packages.wire_bytes), (100, 3, 500));

    assert!(overview::add_up(world.store()).await.unwrap() > 0);
    assert_eq!(overview::add_up(world.store()).await.unwrap(), 0);
    assert_eq!(counts(&world).await, before, "added up or not, they are the same");
    // Its home becomes a subnet like any other when the agent moves.
    let moved = "UPDATE delegations SET reason = 'company' WHERE ended_at IS NULL";
    execute(world.store(), moved).await.unwrap();
    let delegations = counts(&world).await.delegations;
    assert_eq!((delegations.total, delegations.home, delegations.company), (1, 0, 1));
    agents::order(world.store(), agent, Order::Revoke, "admin", NOW).await.unwrap();
    let after = counts(&world).await;
    assert_eq!((after.delegations.total, after.hosts.delegated), (0, 0));
    assert_eq!(after.delegations.company, 0);
    let rows = execute(world.store(), "SELECT FROM pending_urls").await.unwrap();
    assert_eq!(after.hosts.pending_urls.unsigned_abs(), rows);
}

#[tokio::test]
async fn a_search_that_is_opened_again_counts_once() {
    let world = World::new().await;
    execute(
        world.store(),
        "INSERT INTO searches (first, last, target, target_host, target_port, strategy,
                               threshold_us, opened_at)
         VALUES ('192.0.2.0', '192.0.2.255', '192.0.2.9', 'a.example', 80, 'threshold', 1, now())",
    )
    .await
    .unwrap();
    let close = "UPDATE searches SET state = 'decided', decided_at = now()";
    let open = "UPDATE searches SET state = 'open', decided_at = NULL";
    for (change, decided) in [(close, 1), (open, 0), (close, 1)] {
        execute(world.store(), change).await.unwrap();
        assert_eq!(counts(&world).await.searches.decided, decided, "{change}");
    }
}

#[tokio::test]
async fn a_caller_that_is_dropped_leaves_no_transaction_behind() {
    let world = World::new().await;
    for polls in 0..400 {
        let mut counting = Box::pin(overview::count(world.store(), NOW, NOW));
        for _ in 0..polls {
            tokio::select! {
                biased;
                _ = &mut counting => break,
                () = tokio::task::yield_now() => {}
            }
        }
        drop(counting);
        // A statement in a transaction that is left over: the next one cannot begin as it must.
        for _ in 0..3 {
            overview::count_agents(world.store(), NOW, NOW).await.unwrap();
        }
        overview::count(world.store(), NOW, NOW).await.unwrap();
    }
}
