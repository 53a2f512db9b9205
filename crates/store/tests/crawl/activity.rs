//! Activity by minute, hour and day, and by country: each event counts once, in all steps.

use model::{ActivityStep, AgentId, UnixMillis};
use store::activity::{self, Activity};
use store::host_tally::{ErrorTally, HostTally, RecentFetch};
use store::packages::{self, Ingestion};
use store::testing::{begin, execute};
use store::{agent_countries, delegations, partitions, probes};

use crate::packages::{enter, header};
use crate::searches;
use crate::world::{NOW, World};

const MINUTE_MS: i64 = 60_000;
const DAY_MS: i64 = 24 * 60 * MINUTE_MS;

fn tally() -> HostTally {
    let last = RecentFetch {
        url: "http://a.example/gone".into(),
        at: NOW,
        outcome: model::FetchOutcome::HttpError,
        detail: "HTTP 404".into(),
        ms: Some(5),
        bytes: 0,
    };
    HostTally {
        scheme: "http".into(),
        authority: "a.example".into(),
        pages: 2,
        fetches: 5,
        // More than all columns together hold.
        wire_bytes: u64::MAX,
        errors: vec![ErrorTally { kind: model::ErrorKind::ClientError, errors: 3, last }],
        timed_fetches: 4,
        round_trip_us: 80_000,
        country: Some("GR".parse().unwrap()),
        ..HostTally::default()
    }
}

async fn ingest(world: &World, agent: AgentId, seq: u64, now: UnixMillis) {
    let header = header(agent, seq);
    enter(world, &header, b"one").await;
    let position =
        packages::pending(world.store(), &packages::InTurn::default(), NOW, 1).await.unwrap()[0]
            .position;
    let hosts = vec![tally()];
    let ingestion =
        Ingestion { position, name: header.name, received_at: NOW, hosts, discovered: vec![] };
    assert!(packages::ingest(world.store(), &ingestion, now).await.unwrap().is_some());
    assert!(packages::ingest(world.store(), &ingestion, now).await.unwrap().is_none());
}

async fn read(
    world: &World,
    agent: Option<AgentId>,
    step: ActivityStep,
) -> Vec<(UnixMillis, Activity)> {
    let from = NOW.plus_ms(-DAY_MS);
    let until = NOW.plus_ms(10 * DAY_MS);
    let found = activity::series(world.store(), agent, step, from, until).await.unwrap();
    found.into_iter().map(|bucket| (bucket.start, bucket.activity)).collect()
}

#[tokio::test]
async fn packages_count_in_every_step_and_for_all_agents() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    world.queue(&["http://a.example/"]).await;
    partitions::keep(world.store(), NOW).await.unwrap();
    ingest(&world, one, 1, NOW).await;
    ingest(&world, one, 2, NOW.plus_ms(MINUTE_MS)).await;
    ingest(&world, two, 1, NOW.plus_ms(MINUTE_MS)).await;
    activity::note_queue(world.store(), one, 7, NOW).await.unwrap();

    let minutes = read(&world, Some(one), ActivityStep::Minute).await;
    assert_eq!(minutes.len(), 2);
    let of_a_package = Activity {
        pages: 2,
        fetches: 5,
        errors: 3,
        fetched_bytes: i64::MAX.unsigned_abs(),
        shipped_bytes: 50,
        timed_fetches: 4,
        round_trip_us: 80_000,
        probes: 0,
        searches: 0,
        queued: Some(7),
    };
    assert_eq!(minutes[0], (ActivityStep::Minute.start_of(NOW), of_a_package));
    let days = read(&world, Some(one), ActivityStep::Day).await;
    assert_eq!((days.len(), days[0].1.fetches, days[0].1.queued), (1, 10, Some(7)));

    assert!(read(&world, None, ActivityStep::Minute).await.is_empty(), "not added up yet");
    let later = NOW.plus_ms(MINUTE_MS);
    assert_eq!(activity::add_up(world.store(), later).await.unwrap(), 4, "two minutes, hour, day");
    assert_eq!(activity::add_up(world.store(), later).await.unwrap(), 0, "nothing changed");
    let all = read(&world, None, ActivityStep::Minute).await;
    assert_eq!(all.iter().map(|(_, sum)| sum.fetches).collect::<Vec<_>>(), [5, 10]);
    let queue: Vec<_> = all.iter().map(|(_, sum)| sum.queued).collect();
    assert_eq!(queue, [None, Some(1)], "one URL waits for an agent; only the present is known");
    // The clock of another coordinator is ahead: its minutes are no reason to leave these out.
    let ahead = later.plus_ms(5 * MINUTE_MS);
    activity::note_queue(world.store(), one, 9, ahead).await.unwrap();
    activity::add_up(world.store(), later).await.unwrap();
    ingest(&world, two, 2, later).await;
    activity::add_up(world.store(), later).await.unwrap();
    assert_eq!(read(&world, None, ActivityStep::Day).await[0].1.fetches, 20);
    assert_eq!(read(&world, None, ActivityStep::Minute).await[1].1.fetches, 15);
    let round_trips = activity::round_trips_since(world.store(), NOW.plus_ms(-DAY_MS)).await;
    let sums: Vec<_> =
        round_trips.unwrap().iter().map(|sum| (sum.agent, sum.timed_fetches)).collect();
    assert_eq!(sums, [(one, 8), (two, 8)]);
}

#[tokio::test]
async fn old_hours_are_deleted_and_old_minutes_dropped() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    partitions::keep(world.store(), NOW).await.unwrap();
    activity::note_queue(world.store(), agent, 7, NOW).await.unwrap();
    let later = NOW.plus_ms(41 * DAY_MS);
    assert_eq!(activity::forget(world.store(), later).await.unwrap(), 1);
    partitions::keep(world.store(), later).await.unwrap();
    assert!(read(&world, Some(agent), ActivityStep::Minute).await.is_empty());
    assert!(read(&world, Some(agent), ActivityStep::Hour).await.is_empty());
    assert_eq!(read(&world, Some(agent), ActivityStep::Day).await.len(), 1);
}

/// Waits until `count` transactions wait for locks in this database.
async fn wait_for_waiters(world: &World, count: u64) {
    let waiting = "SELECT DISTINCT pid FROM pg_locks JOIN pg_stat_activity USING (pid)
                   WHERE NOT granted AND datname = current_database()";
    while execute(world.store(), waiting).await.unwrap() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn rows_that_come_while_their_partition_is_made_go_into_it() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let reading = "LOCK TABLE activity_minutes_default IN ACCESS SHARE MODE";
    let reader = begin(world.store(), reading).await.unwrap();
    let making = async {
        partitions::keep(world.store(), NOW).await.unwrap();
    };
    let inserting = async {
        wait_for_waiters(&world, 1).await;
        activity::note_queue(world.store(), agent, 7, NOW).await.unwrap();
    };
    let releasing = async {
        wait_for_waiters(&world, 2).await;
        reader.commit().await.unwrap();
    };
    tokio::join!(making, inserting, releasing);
    let left = execute(world.store(), "SELECT FROM activity_minutes_default").await.unwrap();
    assert_eq!(left, 0);
    assert_eq!(read(&world, Some(agent), ActivityStep::Minute).await.len(), 1);
}

#[tokio::test]
async fn probes_and_searches_count_for_their_agents() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    searches::open(&world).await;
    let search = searches::only(&world, store::searches::SearchKind::Undelegated).await.unwrap();
    searches::ask(&world, search.id, 0, agent).await;
    let orders = probes::orders(world.store(), agent, &[], 3, 10).await.unwrap();
    let report = searches::measured(orders[0].probe, 20_000);
    probes::report(world.store(), agent, &[report], NOW).await.unwrap();
    let ids = [orders[0].probe];
    let answers = probes::answers_at(world.store(), agent, &ids, NOW).await.unwrap();
    assert_eq!(answers.iter().map(|answer| answer.rtt_us).collect::<Vec<_>>(), [Some(20_000)]);
    let repeated = probes::answers_at(world.store(), agent, &ids, NOW.plus_ms(1)).await.unwrap();
    assert!(repeated.is_empty(), "a repeated report counts once");
    activity::count_probes(world.store(), agent, 1, NOW).await.unwrap();

    let provisional = searches::decision(&search, agent, true);
    delegations::decide_all(world.store(), &[provisional], NOW).await.unwrap();
    let days = read(&world, Some(agent), ActivityStep::Day).await;
    assert_eq!((days[0].1.probes, days[0].1.searches), (1, 0), "the search is not over");
    let search = searches::only(&world, store::searches::SearchKind::Provisional).await.unwrap();
    let decided = searches::decision(&search, agent, false);
    delegations::decide_all(world.store(), &[decided], NOW).await.unwrap();
    assert_eq!(read(&world, Some(agent), ActivityStep::Day).await[0].1.searches, 1);
}

#[tokio::test]
async fn countries_count_hosts_once_with_fetches_and_probes() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    world.queue(&["http://a.example/"]).await;
    ingest(&world, one, 1, NOW).await;
    ingest(&world, two, 1, NOW).await;
    let country = "GR".parse().unwrap();
    let round_trips = [(country, 10_000), (country, 30_000)];
    agent_countries::count_probes(world.store(), two, &round_trips).await.unwrap();
    let found = agent_countries::list(world.store()).await.unwrap();
    let seen: Vec<_> = found
        .iter()
        .map(|row| (row.agent, row.hosts, row.fetches, row.round_trip_us, row.probes, row.probe_us))
        .collect();
    assert_eq!(seen, [(one, 1, 5, 80_000, 0, 0), (two, 0, 5, 80_000, 2, 40_000)]);
}
