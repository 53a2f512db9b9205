//! Hosts that their agents find outside of their subnets.

use model::{AgentId, UnixMillis};
use store::host_tally::HostTally;
use store::packages::{InTurn, Ingestion, ingest, pending};
use store::stray_hosts;
use store::testing::execute;

use crate::packages::{enter, header};
use crate::world::{NOW, World, ip};

const HOUR_MS: i64 = 3_600_000;
const INSIDE: &str = "198.51.100.8";
const OUTSIDE: &str = "203.0.113.1";

/// Ingests a package in which the host had this address.
async fn hear(world: &World, (agent, seq): (AgentId, u64), address: &str, now: UnixMillis) {
    let header = header(agent, seq);
    enter(world, &header, b"one").await;
    let host = HostTally {
        scheme: "http".into(),
        authority: "a.example".into(),
        connect: Some((ip(address), 1_000)),
        ..HostTally::default()
    };
    let position = pending(world.store(), &InTurn::default(), now, 1).await.unwrap()[0].position;
    let ingestion = Ingestion {
        position,
        name: header.name,
        received_at: NOW,
        hosts: vec![host],
        discovered: vec![],
    };
    ingest(world.store(), &ingestion, now).await.unwrap().unwrap();
}

async fn due(world: &World) -> usize {
    stray_hosts::due(world.store(), 9).await.unwrap().len()
}

#[tokio::test]
async fn a_host_is_looked_up_again_after_three_packages_in_a_row() {
    let world = World::new().await;
    let agent = world.approved(1, Some("198.51.100.0/24")).await;
    let stranger = world.approved(2, None).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
    let mut seq = 0;
    let mut told = async |address, hours| {
        seq += 1;
        hear(&world, (agent, seq), address, NOW.plus_ms(hours * HOUR_MS)).await;
        due(&world).await
    };
    let waits = [(OUTSIDE, 0), (OUTSIDE, 1), (INSIDE, 2), (OUTSIDE, 3), (OUTSIDE, 3), (OUTSIDE, 4)];
    for (address, hours) in waits {
        assert_eq!(told(address, hours).await, 0, "{address} after {hours} hours");
    }
    assert_eq!(told(OUTSIDE, 5).await, 1);
    assert_eq!(told(OUTSIDE, 6).await, 1, "not counted any more");
    let host = stray_hosts::due(world.store(), 9).await.unwrap().remove(0);
    stray_hosts::pause(world.store(), &[host.id], NOW.plus_ms(100 * HOUR_MS)).await.unwrap();
    let paused = [(OUTSIDE, 7), (INSIDE, 8), (OUTSIDE, 9), (OUTSIDE, 10), (OUTSIDE, 11)];
    for (address, hours) in paused.into_iter().chain([(OUTSIDE, 101), (OUTSIDE, 102)]) {
        assert_eq!(told(address, hours).await, 0, "it was looked up, after {hours} hours");
    }
    assert_eq!(told(OUTSIDE, 103).await, 1);
    assert_eq!(told(INSIDE, 104).await, 0);
    hear(&world, (stranger, 1), OUTSIDE, NOW.plus_ms(105 * HOUR_MS)).await;
    assert_eq!(execute(world.store(), "DELETE FROM stray_hosts").await.unwrap(), 0);
}
