//! Loads: sums that follow hosts and delegations, and the partitions that hold them.

use hierarchy::Range;
use model::{AgentId, HostId};
use store::delegations::{self, Assignment, Cause, DelegationOutcome};
use store::host_tally::HostTally;
use store::packages::{self, Ingestion};
use store::partitions::Kept;
use store::testing::{begin, execute};
use store::{hosts, loads, partitions};

use crate::packages::{enter, header};
use crate::world::{NOW, World, range};

const DAY_MS: i64 = 24 * 3_600_000;

/// Ingests a package with five fetches from a.example, so many days later.
async fn fetch(world: &World, agent: AgentId, seq: u64, day: i64) {
    let header = header(agent, seq);
    enter(world, &header, b"one").await;
    let host = HostTally {
        scheme: "http".into(),
        authority: "a.example".into(),
        fetches: 5,
        ..HostTally::default()
    };
    let position =
        packages::pending(world.store(), &packages::InTurn::default(), NOW, 1).await.unwrap()[0]
            .position;
    let hosts = vec![host];
    let now = NOW.plus_ms(day * DAY_MS);
    let ingestion =
        Ingestion { position, name: header.name, received_at: now, hosts, discovered: vec![] };
    assert!(packages::ingest(world.store(), &ingestion, now).await.unwrap().is_some());
}

/// Puts the host into a subnet.
async fn settle(world: &World) -> Range {
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
    range("198.51.100.0/24")
}

async fn assign(world: &World, subnet: Range, agent: AgentId, fencing_number: i64) {
    let cause = Cause::Override;
    let assignment = Assignment { subnet, agent, fencing_number, cause, by: "admin", note: "why" };
    let assigned = delegations::assign(world.store(), &assignment, None, NOW).await.unwrap();
    assert!(matches!(assigned, DelegationOutcome::Applied(_)));
}

async fn release(world: &World, subnet: &Range, number: i64) {
    let released = delegations::release(world.store(), subnet, number, "ada", "why", NOW).await;
    assert!(released.unwrap());
}

async fn state(world: &World, subnet: Range) -> delegations::SubnetState {
    delegations::subnet_states(world.store(), &[subnet]).await.unwrap().remove(0)
}

/// Fetches a day from what each agent holds, by number.
async fn held(world: &World) -> Vec<u64> {
    let works = loads::agents(world.store(), NOW).await.unwrap();
    works.iter().map(|work| work.held).collect()
}

#[tokio::test]
async fn the_load_of_a_subnet_follows_its_delegation() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    let subnet = settle(&world).await;
    // Fetches from before the delegation, after it, and after the move.
    fetch(&world, one, 1, 0).await;
    assert_eq!(held(&world).await, [0, 0]);
    assign(&world, subnet, one, 0).await;
    assert_eq!(held(&world).await, [5, 0]);
    fetch(&world, one, 2, 0).await;
    assert_eq!(held(&world).await, [10, 0]);
    assign(&world, subnet, two, 1).await;
    assert_eq!(held(&world).await, [0, 10]);
    fetch(&world, two, 1, 0).await;
    assert_eq!(held(&world).await, [0, 15]);
    release(&world, &subnet, 2).await;
    assert_eq!(held(&world).await, [0, 0]);
}

#[tokio::test]
async fn a_host_does_not_stay_with_the_agent_of_a_subnet_that_is_released() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let subnet = settle(&world).await;
    assign(&world, subnet, agent, 0).await;
    assert!(state(&world, subnet).await.has_target);
    release(&world, &subnet, 1).await;
    let orders = store::handovers::open(world.store(), agent, &[], 10).await.unwrap();
    assert_eq!(orders.len(), 1, "{orders:?}");
    execute(world.store(), "UPDATE hosts SET state = 'failed', agent = NULL").await.unwrap();
    let state = state(&world, subnet).await;
    assert!(!state.has_target, "{state:?}");
    let counts = delegations::host_counts(world.store(), &[range("192.0.2.0/24"), subnet]).await;
    assert_eq!(counts.unwrap(), [0, 1]);
}

#[tokio::test]
async fn an_order_that_expired_does_not_hide_an_earlier_measurement() {
    let world = World::new().await;
    world.approved(1, None).await;
    let searches = "INSERT INTO searches
            (first, last, target, target_host, target_port, strategy, threshold_us, state)
        SELECT '192.0.2.0'::inet, '192.0.2.255'::inet, '192.0.2.7'::inet, 'a.example', 443,
               'threshold', 1, 'decided' FROM generate_series(1, 2)";
    let probes = "INSERT INTO probes
            (search, step, agent, phase, level_first, level_last, state, rtt_us, method,
             answered_at)
        SELECT s.id, 1, a.id, 'rest', s.first, s.last, n.state, n.rtt_us, n.method,
               to_timestamp(1800000000 + s.id)
        FROM (VALUES (1, 'measured', 5000, 'tcp'), (2, 'expired', NULL, NULL))
            AS n (search, state, rtt_us, method)
        JOIN searches s ON s.id = n.search CROSS JOIN agents a";
    for statement in [searches, probes] {
        assert_eq!(execute(world.store(), statement).await.unwrap(), 2);
    }
    let answers = loads::answers(world.store(), &[range("192.0.2.0/24")], NOW).await.unwrap();
    assert_eq!(answers.len(), 1);
    assert_eq!(answers[0].rtt_us, Some(5_000));
}

/// The subnet of a search that is decided.
async fn decided_search(world: &World) -> Range {
    let search = "INSERT INTO searches
            (first, last, target, target_host, target_port, strategy, threshold_us, state)
        VALUES ('192.0.2.0', '192.0.2.255', '192.0.2.7', 'a.example', 443, 'threshold', 1,
                'decided')";
    execute(world.store(), search).await.unwrap();
    range("192.0.2.0/24")
}

/// Whether an agent gets an order before a move, so long after the search.
async fn is_asked(world: &World, subnet: &Range, agent: AgentId, after_ms: i64) -> bool {
    loads::confirm(world.store(), subnet, agent, NOW.plus_ms(after_ms)).await.unwrap()
}

#[tokio::test]
async fn an_agent_is_asked_again_a_day_after_its_order_expired() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    let subnet = decided_search(&world).await;
    let asked = async |agent, after_ms| is_asked(&world, &subnet, agent, after_ms).await;
    let known = async |after_ms| {
        let now = NOW.plus_ms(after_ms);
        loads::answers(world.store(), &[subnet], now).await.unwrap().len()
    };
    assert!(asked(one, 0).await && asked(two, 0).await);
    assert!(!asked(one, DAY_MS).await, "the order is open");
    let expired = "UPDATE probes SET state = 'expired', answered_at = to_timestamp(1800000000)";
    assert_eq!(execute(world.store(), expired).await.unwrap(), 2);
    assert_eq!((asked(one, DAY_MS - 1).await, known(DAY_MS - 1).await), (false, 2));
    assert_eq!(known(DAY_MS).await, 0, "they count as not asked");
    assert!(asked(one, DAY_MS).await);
    assert_eq!(known(DAY_MS).await, 1);
    let elsewhere = range("192.0.2.0/25");
    let nobody = loads::confirm(world.store(), &elsewhere, one, NOW).await.unwrap();
    assert!(!nobody, "nobody searched for it");
}

#[tokio::test]
async fn an_agent_that_moved_is_asked_again() {
    const HOUR_MS: i64 = 3_600_000;
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let other = world.approved(2, None).await;
    let subnet = decided_search(&world).await;
    let asked = async |agent, hours| is_asked(&world, &subnet, agent, hours * HOUR_MS).await;
    let answers = async || {
        let found = loads::answers(world.store(), &[subnet], NOW.plus_ms(3 * HOUR_MS)).await;
        found.unwrap().iter().map(|answer| (answer.agent, answer.rtt_us)).collect::<Vec<_>>()
    };
    assert!(asked(agent, 0).await && asked(other, 0).await);
    let answered = "UPDATE probes SET state = 'measured', rtt_us = 5000, method = 'tcp',
        answered_at = asked_at + interval '1 hour'";
    assert_eq!(execute(world.store(), answered).await.unwrap(), 2);
    assert!(!asked(agent, 3).await, "what it measured still holds");
    let moves = "UPDATE agents SET home_since = p.answered_at + interval '1 hour'
        FROM probes p WHERE p.agent = agents.id AND agents.id = (SELECT min(id) FROM agents)";
    assert_eq!(execute(world.store(), moves).await.unwrap(), 1);
    assert_eq!(answers().await, [(other, Some(5_000))], "it measured from elsewhere");
    assert!(asked(agent, 3).await);
    assert!(!asked(agent, 3).await, "the order is open");
    assert!(!asked(other, 3).await, "the other one did not move");
    assert_eq!(answers().await, [(agent, None), (other, Some(5_000))]);
}

#[tokio::test]
async fn the_load_of_a_host_follows_it_to_another_subnet() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    world.queue(&["http://a.example/"]).await;
    let host: HostId = hosts::list_unresolved(world.store(), 1, &[], NOW).await.unwrap()[0].id;
    world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
    let whole = range("198.51.100.0/24");
    let half = range("198.51.100.0/25");
    assign(&world, whole, one, 0).await;
    assign(&world, half, two, 0).await;
    fetch(&world, one, 1, 0).await;
    hosts::remap(world.store(), &[(host, half)], NOW).await.unwrap();
    assert_eq!(held(&world).await, [0, 5]);
    let of_each = loads::of_subnets(world.store(), &[whole, half], NOW).await.unwrap();
    assert_eq!((of_each.get(&whole).copied().unwrap_or(0), of_each[&half]), (0, 5));
    // Where it is already, nothing moves.
    hosts::remap(world.store(), &[(host, half)], NOW).await.unwrap();
    assert_eq!(held(&world).await, [0, 5]);
}

#[tokio::test]
async fn each_day_has_a_partition_until_no_load_includes_it() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    settle(&world).await;
    // The first package may come before the first partition.
    fetch(&world, agent, 1, 0).await;
    let keep = |day: i64| {
        let store = world.store();
        async move { partitions::keep(store, NOW.plus_ms(day * DAY_MS)).await.unwrap().changed }
    };
    assert_eq!(keep(0).await, 16, "today and three days more, of four tables");
    assert_eq!(keep(0).await, 0);
    let store = world.store();
    let first_day = "SELECT FROM host_days_20270115";
    assert_eq!(execute(store, first_day).await.unwrap(), 1, "it came from the default partition");
    fetch(&world, agent, 2, 1).await;
    assert_eq!(execute(store, "SELECT FROM subnet_days_20270116").await.unwrap(), 1);
    assert_eq!(execute(store, "SELECT FROM subnet_days_default").await.unwrap(), 0);
    assert_eq!(keep(7).await, 21, "four new ones of each table, four of minutes, one of errors");
    assert_eq!(execute(store, first_day).await.unwrap(), 1);
    assert_eq!(keep(8).await, 7, "a new one of each table, three of them for an outdated one");
    assert!(execute(store, first_day).await.is_err(), "it was dropped");
    assert_eq!(execute(store, "SELECT FROM host_days").await.unwrap(), 1);
    let ninth_day = NOW.plus_ms(9 * DAY_MS);
    assert_eq!(loads::forget(store, ninth_day).await.unwrap(), 0);
    let later = ninth_day.plus_ms(3_600_000);
    assert_eq!(loads::forget(store, later).await.unwrap(), 1, "the second hour");
    let since = loads::agents(store, NOW).await.unwrap()[0].since;
    assert_eq!(since, Some(NOW), "the first hour is kept");
}

#[tokio::test]
async fn a_dump_leaves_partitions_to_the_next_run() {
    let world = World::new().await;
    let store = world.store();
    let keep = async |day: i64| partitions::keep(store, NOW.plus_ms(day * DAY_MS)).await;
    keep(0).await.unwrap();
    keep(7).await.unwrap();
    let old_row = "INSERT INTO error_days VALUES (1, '2027-01-01', 'timeout', 1, 1, '', '', now())";
    execute(store, old_row).await.unwrap();
    let dump = begin(store, "LOCK TABLE host_days IN ACCESS SHARE MODE").await.unwrap();
    assert_eq!(keep(8).await.unwrap(), Kept { changed: 5, locked: 2 });
    assert_eq!(execute(store, "SELECT FROM error_days_default").await.unwrap(), 0);
    let error = keep(30).await.unwrap_err();
    assert_eq!(error.to_string(), "cannot make a partition", "today's cannot wait");
    dump.rollback().await.unwrap();
    assert_eq!(keep(8).await.unwrap(), Kept { changed: 2, locked: 0 });
}

#[tokio::test]
async fn what_an_agent_did_is_of_the_days_of_its_load() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    assign(&world, settle(&world).await, agent, 0).await;
    // Five working days, then a weekend.
    for (seq, day) in (1..).zip([0, 1, 2, 3, 4]) {
        fetch(&world, agent, seq, day).await;
        fetch(&world, agent, 10 + seq, day).await;
    }
    for (day, expected) in [(4, 10), (6, 9), (7, 8), (11, 2), (12, 0)] {
        let now = NOW.plus_ms(day * DAY_MS);
        loads::forget(world.store(), now).await.unwrap();
        let work = loads::agents(world.store(), now).await.unwrap().remove(0);
        assert_eq!((work.fetched, work.held), (expected, expected), "on day {day}");
    }
    // The week after the next.
    for (seq, day) in (21..).zip([14, 15, 16, 17, 18]) {
        fetch(&world, agent, seq, day).await;
        let now = NOW.plus_ms(day * DAY_MS);
        loads::forget(world.store(), now).await.unwrap();
        let work = loads::agents(world.store(), now).await.unwrap().remove(0);
        assert_eq!(work.fetched, work.held, "on day {day}");
    }
    // After a pause of more than a week.
    fetch(&world, agent, 30, 32).await;
    for (day, expected) in [(32, 0), (33, 1)] {
        let now = NOW.plus_ms(day * DAY_MS);
        let work = loads::agents(world.store(), now).await.unwrap().remove(0);
        assert_eq!((work.fetched, work.held), (expected, expected), "on day {day}");
        assert_eq!(work.held_at_most, 5, "as if it went on like this");
        let subnets = loads::subnets(world.store(), now).await.unwrap();
        assert_eq!(subnets.values().sum::<u64>(), expected, "as its subnet has");
    }
}

#[tokio::test]
async fn weekly_visits_and_the_day_that_is_not_over_do_not_swing_a_load() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let subnet = settle(&world).await;
    assign(&world, subnet, agent, 0).await;
    let load = async |day: i64| {
        let now = NOW.plus_ms(day * DAY_MS);
        let all = loads::subnets(world.store(), now).await.unwrap();
        assert_eq!(loads::of_subnets(world.store(), &[subnet], now).await.unwrap(), all);
        all.get(&subnet).copied()
    };
    fetch(&world, agent, 1, 0).await;
    assert_eq!((load(0).await, load(1).await, load(2).await), (Some(5), Some(5), Some(3)));
    // In the first days, today counts where it is more than the days before it.
    for seq in 2..6 {
        fetch(&world, agent, seq, 1).await;
    }
    assert_eq!(load(1).await, Some(13), "the mean of 5 and 20");
    fetch(&world, agent, 6, 8).await;
    assert_eq!(load(8).await, Some(3), "seven days with 20");
    assert_eq!(load(9).await, Some(1), "its visit was yesterday, but it is known for longer");
    assert_eq!(load(15).await, Some(1), "the next visit is today");
    assert_eq!(load(16).await, None);
    // A part of the subnet is known for as long.
    let part = "INSERT INTO delegations
            (first, last, agent, fencing_number, reason, decided_at, remapped_from, generation)
        SELECT first, '198.51.100.127', agent, 1, 'company', decided_at + interval '15 days', id,
               generation FROM delegations";
    assert_eq!(execute(world.store(), part).await.unwrap(), 1);
    let known = "SELECT FROM delegations WHERE known_since = to_timestamp(1800000000)";
    assert_eq!(execute(world.store(), known).await.unwrap(), 2);
}
