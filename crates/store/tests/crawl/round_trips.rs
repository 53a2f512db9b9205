//! Connect times of fetches as round trips of subnets.

use model::{AgentId, UnixMillis};
use store::host_tally::HostTally;
use store::packages::{InTurn, Ingestion, ingest, pending};
use store::round_trips::{self, Neighbours, RoundTrip, SubnetRoundTrip};
use store::testing::execute;

use crate::packages::{enter, header};
use crate::world::{NOW, World, ip, range};

const SUBNET: &str = "198.51.100.0/24";

/// Integrates a package of the agent in which a host answered from `address` after `rtt_us`.
async fn hear(
    world: &World,
    (agent, seq): (AgentId, u64),
    (address, rtt_us): (&str, u32),
    now: UnixMillis,
) -> Vec<SubnetRoundTrip> {
    let header = header(agent, seq);
    enter(world, &header, b"one").await;
    let host = HostTally {
        scheme: "http".into(),
        authority: "a.example".into(),
        fetches: 1,
        round_trip: Some((ip(address), rtt_us)),
        ..HostTally::default()
    };
    let position = pending(world.store(), &InTurn::default(), NOW, 1).await.unwrap()[0].position;
    let hosts = vec![host];
    let ingestion =
        Ingestion { position, name: header.name, received_at: NOW, hosts, discovered: vec![] };
    ingest(world.store(), &ingestion, now).await.unwrap().unwrap()
}

fn from(address: &str, agent: AgentId, rtt_us: u32) -> RoundTrip {
    RoundTrip { address: ip(address), agent, rtt_us }
}

#[tokio::test]
async fn the_shortest_round_trip_of_each_agent_is_kept_for_a_quarter_of_a_year() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    let told = |shortest| SubnetRoundTrip { subnet: range(SUBNET), shortest, confirmed: vec![] };
    let first = from("198.51.100.7", one, 12_000);
    assert_eq!(hear(&world, (one, 1), ("198.51.100.7", 12_000), NOW).await, [told(first)]);
    let later = from("198.51.100.7", one, 15_000);
    assert_eq!(hear(&world, (one, 2), ("198.51.100.7", 15_000), NOW).await, [told(later)]);
    let other = from("198.51.100.9", two, 90_000);
    assert_eq!(hear(&world, (two, 1), ("198.51.100.9", 90_000), NOW).await, [told(other)]);
    assert!(hear(&world, (one, 3), ("203.0.113.1", 1_000), NOW).await.is_empty(), "not its subnet");
}

#[tokio::test]
async fn a_round_trip_is_confirmed_by_other_handshakes_an_hour_later() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let agent = world.approved(1, None).await;
    let mut confirmed = Vec::new();
    for (seq, hours, rtt_us) in [
        (1, 0, 20_000),
        // The same handshake, and another one at once.
        (2, 0, 20_000),
        (3, 0, 20_100),
        (4, 1, 20_200),
        (5, 1, 20_000),
        // One slow handshake, repeated within the hour.
        (6, 1, 20_300),
        (7, 1, 20_300),
        (8, 2, 20_300),
        (9, 2, 20_400),
        // It was slow after all.
        (10, 2, 19_000),
    ] {
        let now = NOW.plus_ms(hours * 3_600_000);
        let told = hear(&world, (agent, seq), ("198.51.100.7", rtt_us), now).await;
        confirmed.push(told[0].confirmed == [ip("198.51.100.7")]);
    }
    let told: Vec<_> = confirmed.iter().enumerate().filter(|(_, told)| **told).collect();
    assert_eq!(told, [(7, &true), (9, &true)], "when confirmed, and when shorter");
    hear(&world, (agent, 11), ("198.51.100.8", 9_000), NOW).await;
    let confirmed = async |days: i64| {
        let now = NOW.plus_ms(days * 86_400_000);
        let subnet = range(SUBNET);
        let address = ip("198.51.100.7");
        round_trips::confirmed_around(world.store(), &subnet, address, now).await.unwrap()
    };
    let round_trips = vec![from("198.51.100.7", agent, 19_000)];
    assert_eq!(confirmed(180).await, Neighbours { round_trips, is_all: true });
    assert_eq!(confirmed(181).await.round_trips, [], "nothing was fetched there for long");
}

#[tokio::test]
async fn the_neighbours_of_an_address_are_read_wherever_it_is_in_its_subnet() {
    let world = World::new().await;
    world.approved(1, None).await;
    let many = "INSERT INTO round_trips
            (address, agent, rtt_us, packages, counted_us, counted_at, reported_at)
        SELECT '10.0.0.0'::inet + n, a.id, 9000, 3, 9000, r.at, r.at
        FROM generate_series(0, 1999) AS n CROSS JOIN agents a
        CROSS JOIN (VALUES (to_timestamp(1800000000))) AS r (at)";
    assert_eq!(execute(world.store(), many).await.unwrap(), 2_000);
    let around = async |address| {
        let subnet = range("10.0.0.0/16");
        let found = round_trips::confirmed_around(world.store(), &subnet, ip(address), NOW).await;
        let Neighbours { round_trips, is_all } = found.unwrap();
        let ends = [&round_trips[0], round_trips.last().unwrap()].map(|one| one.address);
        (ends, round_trips.len(), is_all)
    };
    let expected = ([ip("10.0.3.245"), ip("10.0.7.207")], 987, false);
    assert_eq!(around("10.0.5.232").await, expected, "address 1,512 has 487 beyond it");
    assert_eq!(around("10.0.0.0").await, ([ip("10.0.0.0"), ip("10.0.1.244")], 501, false));
}
