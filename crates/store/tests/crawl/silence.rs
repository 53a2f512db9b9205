//! Addresses that answer no agent, and findings of searches.

use model::{AgentId, Phase, ProbeMethod, Strategy, UnixMillis};
use protocol::{ProbeReport, ProbeResult};
use store::delegations::{self, Assignment, Cause, DelegationOutcome};
use store::packages::{InTurn, Ingestion, ingest, pending};
use store::probes::{self, NewProbe, Target};
use store::searches::{self, DecidedPosition, NewSearch, OpenSearch, Retries, SearchKind};
use store::testing::execute;
use store::{hosts, loads};

use crate::packages::{enter, header};
use crate::world::{NOW, World, ip, range, url};

const SUBNET: &str = "198.51.100.0/24";

async fn open(world: &World) -> OpenSearch {
    let search = NewSearch {
        subnet: range(SUBNET),
        target: ip("198.51.100.7"),
        host: "a.example".into(),
        port: 80,
    };
    searches::open(world.store(), &[search], Strategy::Predictive, 50_000, NOW).await.unwrap();
    only(world).await
}

async fn only(world: &World) -> OpenSearch {
    let found = world.open_searches(SearchKind::Undelegated).await;
    assert_eq!(found.len(), 1);
    found.into_iter().next().unwrap()
}

/// The agent measures the search's target.
async fn measure(world: &World, search: &OpenSearch, agent: AgentId, rtt_us: u32) {
    let expected = probes::ExpectedAnswer { rtt_us: 20_000, deviation_us: 3_000, chance: 0.75 };
    let level = range("0.0.0.0/0");
    let expected = Some(expected);
    let probe =
        NewProbe { search: search.id, step: 1, agent, phase: Phase::Predicted, level, expected };
    probes::ask(world.store(), &[probe], NOW).await.unwrap();
    let orders = probes::orders(world.store(), agent, &[], 3, 10).await.unwrap();
    let result = ProbeResult::Measured { method: ProbeMethod::Icmp, rtt_us, samples: 3 };
    let report = [ProbeReport { probe: orders[0].probe, result }];
    probes::report(world.store(), agent, &report, NOW).await.unwrap();
}

#[tokio::test]
async fn a_search_goes_to_another_address_and_an_answer_ends_the_silence() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    world.queue(&["http://b.example:81/"]).await;
    world.settle_hosts("198.51.100.8", SUBNET).await;
    let search = open(&world).await;
    let target = Target { address: ip("198.51.100.8"), host: "b.example:81".into(), port: 81 };
    assert!(searches::retarget(world.store(), search.id, &target, NOW).await.unwrap());
    assert!(
        !searches::retarget(world.store(), search.id, &target, NOW).await.unwrap(),
        "it is over"
    );
    let next = only(&world).await;
    assert_eq!((next.target, next.strategy), (target.address, Strategy::Predictive));
    let siblings = searches::addresses_in_subnet(world.store(), &search.subnet, 10).await.unwrap();
    let silent: Vec<_> = siblings.iter().map(|one| (one.address, one.silent_since)).collect();
    assert_eq!(silent, [(ip("198.51.100.7"), Some(NOW)), (ip("198.51.100.8"), None)]);
    assert!(
        searches::retarget(
            world.store(),
            next.id,
            &Target { address: ip("198.51.100.7"), ..target },
            NOW
        )
        .await
        .unwrap()
    );
    measure(&world, &only(&world).await, agent, 9_000).await;
    let siblings = searches::addresses_in_subnet(world.store(), &search.subnet, 10).await.unwrap();
    let silent: Vec<_> = siblings.iter().map(|one| one.silent_since).collect();
    assert_eq!(silent, [None, Some(NOW)], "who answered is silent no more");
}

#[tokio::test]
async fn a_host_whose_address_is_silent_is_probed_last() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    world.queue(&["http://b.example/"]).await;
    world.settle_hosts("198.51.100.8", SUBNET).await;
    let search = open(&world).await;
    let retries = Retries { next_at: [NOW; 3], attempts: 9, given_up_until: NOW };
    searches::end_unanswered(world.store(), search.id, "nobody", retries, NOW).await.unwrap();
    let waiting = world.waiting(NOW.plus_ms(-1), NOW).await;
    assert_eq!((waiting.len(), waiting[0].address), (1, ip("198.51.100.8")));
    let waiting = world.waiting(NOW, NOW).await;
    assert_eq!(waiting[0].address, ip("198.51.100.7"), "forgiven");
}

#[tokio::test]
async fn what_searches_measured_is_remembered() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let search = open(&world).await;
    measure(&world, &search, agent, 21_000).await;
    let start = DecidedPosition::START;
    assert!(searches::decided_after(world.store(), start, 10).await.unwrap().is_empty());
    searches::abandon(world.store(), search.id, NOW).await.unwrap();
    let decided = searches::decided_after(world.store(), start, 10).await.unwrap();
    assert_eq!((decided.len(), &decided[0].times), (1, &vec![(agent, 21_000)]));
    let last = decided[0].position;
    assert_eq!(last, DecidedPosition { decided_us: NOW.0 * 1_000, search: search.id });
    assert!(searches::decided_after(world.store(), last, 10).await.unwrap().is_empty());
    assert_eq!(searches::count_exactly(world.store()).await.unwrap(), 1);
    assert_eq!(searches::position_of_oldest(world.store(), 1).await.unwrap(), last);
    assert_eq!(searches::position_of_oldest(world.store(), 0).await.unwrap(), start);

    // A position is as exact as Postgres: it is never before its own search.
    let later = "UPDATE searches SET decided_at = decided_at + interval '7 microseconds'";
    execute(world.store(), later).await.unwrap();
    let decided = searches::decided_after(world.store(), last, 10).await.unwrap();
    let exact = decided[0].position;
    assert_eq!(exact.decided_us, NOW.0 * 1_000 + 7);
    assert!(searches::decided_after(world.store(), exact, 10).await.unwrap().is_empty());
    let elsewhere = OpenSearch { target: ip("198.51.100.9"), ..search.clone() };
    let seen = searches::times_at_other_addresses(world.store(), &[&elsewhere]).await.unwrap();
    let seen = &seen[&search.id];
    assert_eq!((seen.len(), seen[0].address, seen[0].rtt_us), (1, search.target, 21_000));
    assert!(
        searches::times_at_other_addresses(world.store(), &[&search]).await.unwrap().is_empty()
    );
    let trail = searches::trail(world.store(), search.id).await.unwrap().unwrap();
    let expected = trail.probes[0].expected.unwrap();
    assert_eq!((expected.rtt_us, expected.deviation_us, expected.chance), (20_000, 3_000, 0.75));
    searches::note_finding(world.store(), search.id, "everywhere", "near to all").await.unwrap();
    let trail = searches::trail(world.store(), search.id).await.unwrap().unwrap();
    assert_eq!(trail.finding, Some(("everywhere".to_owned(), "near to all".to_owned())));
}

/// A search that is over, with what one agent measured.
async fn decided(world: &World) -> OpenSearch {
    let agent = world.approved(1, None).await;
    let search = open(world).await;
    measure(world, &search, agent, 21_000).await;
    searches::abandon(world.store(), search.id, NOW).await.unwrap();
    search
}

#[tokio::test]
async fn what_an_agent_measured_before_it_moved_says_nothing() {
    let world = World::new().await;
    let search = decided(&world).await;
    let known = async || {
        let past = searches::decided_after(world.store(), DecidedPosition::START, 10).await;
        let answers = loads::answers(world.store(), &[search.subnet], NOW).await.unwrap();
        let elsewhere = OpenSearch { target: ip("198.51.100.9"), ..search.clone() };
        let seen = searches::times_at_other_addresses(world.store(), &[&elsewhere]).await.unwrap();
        (past.unwrap()[0].times.len(), answers.len(), seen.len())
    };
    let moved = "UPDATE agents SET home_since = (SELECT max(answered_at) FROM probes)";
    execute(world.store(), moved).await.unwrap();
    assert_eq!(known().await, (1, 1, 1));
    let moved = "UPDATE agents SET home_since = home_since + interval '1 second'";
    execute(world.store(), moved).await.unwrap();
    assert_eq!(known().await, (0, 0, 0));
}

#[tokio::test]
async fn searches_that_nobody_answered_teach_nothing() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let search = open(&world).await;
    let target = Target { address: ip("198.51.100.8"), host: "b.example".into(), port: 80 };
    assert!(searches::retarget(world.store(), search.id, &target, NOW).await.unwrap());
    let search = only(&world).await;
    let retries = Retries { next_at: [NOW; 3], attempts: 9, given_up_until: NOW };
    searches::end_unanswered(world.store(), search.id, "nobody", retries, NOW).await.unwrap();
    let search = open(&world).await;
    measure(&world, &search, agent, 21_000).await;
    searches::abandon(world.store(), search.id, NOW.plus_ms(1)).await.unwrap();
    let taught = searches::decided_after(world.store(), DecidedPosition::START, 10).await.unwrap();
    assert_eq!(taught.iter().map(|one| one.position.search).collect::<Vec<_>>(), [search.id]);
    assert_eq!(searches::count_exactly(world.store()).await.unwrap(), 1);
    let oldest = searches::position_of_oldest(world.store(), 1).await.unwrap();
    assert_eq!(oldest, taught[0].position);
}

#[tokio::test]
async fn control_probes_teach_nothing() {
    let world = World::new().await;
    decided(&world).await;
    execute(world.store(), "UPDATE probes SET phase = 'control'").await.unwrap();
    let past = searches::decided_after(world.store(), DecidedPosition::START, 10).await.unwrap();
    assert_eq!(past[0].times, []);
}

#[tokio::test]
async fn a_host_that_rests_is_no_backlog() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let search = open(&world).await;
    let next_at = NOW.plus_ms(60_000);
    let retries = Retries { next_at: [next_at; 3], attempts: 9, given_up_until: NOW };
    searches::end_unanswered(world.store(), search.id, "nobody", retries, NOW).await.unwrap();
    let waiting =
        async |now| store::backlog::count(world.store(), now).await.unwrap().waiting_hosts;
    assert_eq!((waiting(NOW).await, waiting(next_at).await), (0, 1));
}

#[tokio::test]
async fn a_host_that_rests_is_not_given_up_because_another_one_is_silent() {
    let world = World::new().await;
    let end = async |next_at, now| {
        let search = open(&world).await;
        let retries =
            Retries { next_at: [next_at; 3], attempts: 2, given_up_until: NOW.plus_ms(9_000_000) };
        searches::end_unanswered(world.store(), search.id, "nobody", retries, now).await.unwrap();
    };
    let once = async || {
        let once = "UPDATE hosts SET reason = reason WHERE state = 'resolved' AND attempts = 1";
        execute(world.store(), once).await.unwrap()
    };
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    end(NOW.plus_ms(5_000), NOW).await;
    world.queue(&["http://b.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    end(NOW.plus_ms(9_000), NOW.plus_ms(1_000)).await;
    assert_eq!(once().await, 2, "the first was not part of the second search");
    end(NOW.plus_ms(9_000), NOW.plus_ms(5_000)).await;
    let failed = "UPDATE hosts SET reason = reason WHERE state = 'failed' AND attempts = 2";
    assert_eq!((execute(world.store(), failed).await.unwrap(), once().await), (1, 1));
}

#[tokio::test]
async fn each_try_of_a_host_has_its_own_pause() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let next_at = [1_000, 2_000, 3_000].map(|ms| NOW.plus_ms(ms));
    let mut now = NOW;
    for expected in [next_at[0], next_at[1], next_at[2], next_at[2]] {
        let search = open(&world).await;
        let retries = Retries { next_at, attempts: 9, given_up_until: NOW };
        searches::end_unanswered(world.store(), search.id, "nobody", retries, now).await.unwrap();
        assert_eq!(world.waiting(NOW, expected.plus_ms(-1)).await.len(), 0, "{expected:?}");
        assert_eq!(world.waiting(NOW, expected).await.len(), 1, "{expected:?}");
        now = expected;
    }
}

/// The hosts of the subnet are given up, for a minute the first time.
async fn give_up(world: &World, now: UnixMillis) {
    let due = "UPDATE hosts SET retry_at = to_timestamp(1800000000)";
    execute(world.store(), due).await.unwrap();
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let search = open(world).await;
    let retries = Retries { next_at: [now; 3], attempts: 1, given_up_until: now.plus_ms(60_000) };
    searches::end_unanswered(world.store(), search.id, "nobody", retries, now).await.unwrap();
}

/// A package with a link to the host. Returns whether the host is looked up then.
async fn link(world: &World, agent: AgentId, seq: u64, now: UnixMillis) -> bool {
    let header = header(agent, seq);
    enter(world, &header, b"one").await;
    let position = pending(world.store(), &InTurn::default(), now, 1).await.unwrap()[0].position;
    let discovered = vec![url("http://a.example/")];
    let ingestion =
        Ingestion { position, name: header.name, received_at: now, hosts: vec![], discovered };
    ingest(world.store(), &ingestion, now).await.unwrap().unwrap();
    let met = "UPDATE hosts SET reason = reason WHERE state = 'unresolved'";
    execute(world.store(), met).await.unwrap() == 1
}

#[tokio::test]
async fn the_pause_of_a_host_doubles_each_time_it_is_given_up() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let mut packages = 1..;
    let mut links = async |now| link(&world, agent, packages.next().unwrap(), now).await;
    let mut now = NOW;
    assert!(links(now).await);
    for minutes in [1, 2, 4, 8, 16, 32, 32] {
        give_up(&world, now).await;
        now = now.plus_ms(minutes * 60_000);
        assert!(!links(now.plus_ms(-1)).await, "{minutes}");
        assert!(links(now).await, "{minutes}");
    }
}

#[tokio::test]
async fn a_seed_waits_for_the_first_pause_alone() {
    let world = World::new().await;
    let seed = "http://a.example/";
    let host = [url(seed).url.host_key()];
    let refused = async |now| hosts::given_up(world.store(), &host, now).await.unwrap().len();
    world.queue(&[seed]).await;
    give_up(&world, NOW).await;
    assert_eq!((world.queue_at(&[seed], NOW).await, refused(NOW).await), (0, 1));
    let later = NOW.plus_ms(60_000);
    assert_eq!(world.queue_at(&[seed], later).await, 1);
    give_up(&world, later).await;
    assert_eq!((refused(later).await, world.queue_at(&[seed], later).await), (0, 1));
}

#[tokio::test]
async fn a_host_that_has_an_agent_begins_anew_when_it_loses_it() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let search = open(&world).await;
    let retries = Retries { next_at: [NOW.plus_ms(9_000); 3], attempts: 9, given_up_until: NOW };
    searches::end_unanswered(world.store(), search.id, "nobody", retries, NOW).await.unwrap();
    let assignment = Assignment {
        subnet: range(SUBNET),
        agent,
        fencing_number: 0,
        cause: Cause::Override,
        by: "admin",
        note: "",
    };
    let silent_before = "UPDATE hosts SET silences = 3";
    execute(world.store(), silent_before).await.unwrap();
    let assigned = delegations::assign(world.store(), &assignment, None, NOW).await.unwrap();
    assert!(matches!(assigned, DelegationOutcome::Applied(_)), "{assigned:?}");
    let fresh = "UPDATE hosts SET reason = reason WHERE attempts = 0 AND silences = 0
        AND reason IS NULL";
    assert_eq!(execute(world.store(), fresh).await.unwrap(), 1);
}

#[tokio::test]
async fn a_silent_subnet_is_not_searched_again_for_some_time() {
    let world = World::new().await;
    decided(&world).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let found = async |silent_since| {
        let subnets = [range(SUBNET)];
        searches::targets(world.store(), &subnets, NOW.plus_ms(1), silent_since)
            .await
            .unwrap()
            .len()
    };
    assert_eq!(found(NOW.plus_ms(-1)).await, 1, "somebody got an answer");
    let unanswered = "UPDATE probes SET state = 'expired', rtt_us = NULL, method = NULL";
    execute(world.store(), unanswered).await.unwrap();
    assert_eq!(found(NOW.plus_ms(-1)).await, 0);
    assert_eq!(found(NOW).await, 1, "the silence is old");
    let assignment = Assignment {
        subnet: range(SUBNET),
        agent: AgentId::new(1),
        fencing_number: 0,
        cause: Cause::Override,
        by: "admin",
        note: "",
    };
    delegations::assign(world.store(), &assignment, None, NOW.plus_ms(1)).await.unwrap();
    assert_eq!(found(NOW.plus_ms(-1)).await, 1, "that was before the delegation");
}
