//! How many searches a coordinator carries through in a second, with every step in Postgres.
//!
//! A private Postgres with its crash-safe settings, a thousand agents, and a host in each of many
//! subnets. The background tasks open the searches, order the probes and decide, each whenever it
//! is woken, as they do in service; the agents' part (a round trip that is known beforehand) is one
//! statement whenever agents are woken. Beside it, as the limit, the rows that come of it are
//! written into tables without any rule: by one statement each, and in transactions of 256 rows.
//!
//! `cargo bench -p coordinator -- [SUBNETS]`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at what it did not expect, and prints"
)]

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::Cluster;
use coordinator::placement::settle_homes;
use coordinator::registry::reload_hierarchy;
use coordinator::runtime::clock::SystemClock;
use coordinator::runtime::events::Event;
use coordinator::startup::cli::ServeArgs;
use coordinator::startup::{boot, configuration};
use coordinator::tasks::coordinator::Coordinator;
use coordinator::tasks::driver::TaskSet;
use coordinator::tasks::table::{BackgroundTask, TABLE};
use futures_util::future::select_all;
use hierarchy::{Builder, CompanyIndex, Generation, Hierarchy, Record, Registry, SubnetKind};
use store::generations::Load;
use store::testing::execute;
use store::{Address, Store, agents};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Tasks that run during the measurement.
const MEASURED: [&str; 2] = ["open_searches", "drive_searches"];
const AGENTS: u32 = 1_000;
/// Searches under way at the same time.
const OPEN: u32 = 2_000;

#[tokio::main]
async fn main() {
    // Cargo adds `--bench`.
    let wanted = std::env::args().skip(1).find_map(|argument| argument.parse().ok());
    let subnets: u32 = wanted.unwrap_or(20_000);
    let dir = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(cluster::Options::new(dir.path())).await.unwrap();
    let store = &store::open(&Address::private(cluster.socket_dir())).await.unwrap();
    let coordinator = coordinator(store, dir.path(), subnets).await;
    let begun = Instant::now();
    let working = TaskTracker::new();
    let is_measured = |task: &&BackgroundTask| MEASURED.contains(&task.name);
    TaskSet::subscribe(TABLE.iter().filter(is_measured), &coordinator.events)
        .start(&coordinator, &working);
    answer(&coordinator, store, AGENTS + subnets).await;
    coordinator.stop.cancel();
    working.close();
    working.wait().await;
    let took = begun.elapsed().as_secs_f64();
    let probes = execute(store, "SELECT FROM probes").await.unwrap();
    let decisions =
        execute(store, "SELECT FROM delegations WHERE reason <> 'home' AND ended_at IS NULL")
            .await
            .unwrap();
    assert_eq!(decisions, u64::from(subnets), "every subnet has an agent");
    println!(
        "{AGENTS} agents, {OPEN} searches under way, {subnets} searches with {probes} probes in \
         {took:.2} s"
    );
    let persisted = decisions as f64 / took;
    println!(
        "  {persisted:.0} searches a second, {:.0} steps a second (probes asked and decisions)",
        (probes + decisions) as f64 / took
    );
    for (how, bare) in
        [("written at once", bare(store).await), ("in transactions of 256", sized(store).await)]
    {
        let limit = decisions as f64 / bare.as_secs_f64();
        println!(
            "  the same rows, {how} and without rules: {limit:.0} searches a second, {:.1} times \
             as many",
            limit / persisted
        );
    }
    store.close().await;
    cluster.stop().await;
}

async fn bare(store: &Store) -> Duration {
    let begun = Instant::now();
    execute(store, "CREATE TABLE bare_searches AS TABLE searches").await.unwrap();
    execute(store, "CREATE TABLE bare_probes AS TABLE probes").await.unwrap();
    execute(store, "CREATE TABLE bare_delegations AS TABLE delegations").await.unwrap();
    begun.elapsed()
}

/// Every transaction waits for the disk, as those of the coordinator do.
async fn sized(store: &Store) -> Duration {
    execute(store, "TRUNCATE bare_searches, bare_probes, bare_delegations").await.unwrap();
    let begun = Instant::now();
    execute(store, SIZED).await.unwrap();
    begun.elapsed()
}

/// Answers what agents are asked until as many subnets have an agent.
async fn answer(coordinator: &Coordinator, store: &Store, subnets: u32) {
    let agents = agents::workers(store).await.unwrap();
    let signals: Vec<_> =
        agents.iter().map(|worker| coordinator.agent_wakeups.signal(worker.agent)).collect();
    while coordinator.delegated().unwrap().delegation_table().len() < subnets as usize {
        let woken = select_all(signals.iter().map(|signal| Box::pin(signal.notified())));
        if execute(store, ANSWER).await.unwrap() > 0 {
            coordinator.events.emit(Event::SearchProbeAnswered);
        } else {
            // The last decisions wake no agent.
            let _ = tokio::time::timeout(Duration::from_millis(100), woken).await;
        }
    }
}

async fn coordinator(store: &Store, dir: &Path, subnets: u32) -> Arc<Coordinator> {
    let mut load = Load::wait(store).await.unwrap();
    load.copy(&ground(subnets), &|_| {}).await.unwrap();
    load.swap(Instant::now(), &[]).await.unwrap();
    execute(store, AGENTS_MADE).await.unwrap();
    let hosts = "INSERT INTO hosts (scheme, authority, state, address, first, last)
        SELECT 'http', host(first + 1), 'resolved', first + 1, first, last FROM subnets
        WHERE kind = 'delegated' AND first <<= '10.0.0.0/8'";
    execute(store, hosts).await.unwrap();
    let mut config = configuration::load(ServeArgs::default(), || Some(dir.to_owned())).unwrap();
    config.limits.open_searches = OPEN;
    config.limits.orders_per_agent = OPEN;
    config.limits.presence_s = 3_600;
    config.limits.min_free_mib = 0;
    let made =
        boot::coordinator(config, Arc::new(SystemClock), store.clone(), CancellationToken::new())
            .await;
    let coordinator = Arc::new(made.unwrap());
    coordinator.leader.set(true);
    reload_hierarchy::run(&coordinator.registry).await.unwrap();
    settle_homes::run(&coordinator.placement).await.unwrap();
    coordinator
}

/// As many subnets of 256 addresses, three of a company, and a home for each agent.
fn ground(subnets: u32) -> Hierarchy {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    let homes = (0..AGENTS)
        .map(|agent| (format!("127.{}.{}.1/32", agent >> 8, agent & 255), format!("home {agent}")));
    let wanted = (0..subnets).map(|number| {
        (
            format!("10.{}.{}.0/24", number >> 8, number & 255),
            format!("company {}", number.wrapping_mul(7_919) % (subnets / 3).max(1)),
        )
    });
    for (range, company) in homes.chain(wanted) {
        builder.add(Record {
            range: range.parse().unwrap(),
            kind: SubnetKind::Delegated,
            registry: Some(Registry::RipeNcc),
            company: Some(companies.number(Registry::RipeNcc, &company)),
            country: "CY".parse().ok(),
        });
    }
    builder.build(Generation::new(0), companies.into_companies()).0
}

const AGENTS_MADE: &str = "INSERT INTO agents (public_key, state, name, contact, version, \
    protocol, capacity_pages_per_day, zone, home,
        last_heartbeat_at)
    SELECT sha256(int4send(n)), 'approved', 'agent ' || n, 'https://example.org/', '0.1.0', 1, \
    1000000, 'UTC',
        ('127.' || (n >> 8) || '.' || (n & 255) || '.1')::inet, now()
    FROM generate_series(0, 999) AS n";

const SIZED: &str = "DO $$
    DECLARE low bigint := 0;
    BEGIN
        WHILE low < (SELECT max(id) FROM probes) LOOP
            INSERT INTO bare_probes SELECT * FROM probes WHERE id > low AND id <= low + 256;
            COMMIT;
            INSERT INTO bare_searches SELECT * FROM searches WHERE id > low AND id <= low + 256;
            INSERT INTO bare_delegations SELECT * FROM delegations WHERE id > low AND id <= low + \
            256;
            COMMIT;
            low := low + 256;
        END LOOP;
    END $$";

/// One round trip in four is below the threshold.
const ANSWER: &str =
    "UPDATE probes SET state = 'measured', method = 'tcp', samples = 3, answered_at = now(),
        rtt_us = 10000 + abs(hashint8(agent * 1000003 + search)::bigint) % 160000
    WHERE state = 'asked'";
