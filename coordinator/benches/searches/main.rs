//! How many searches a coordinator carries through in a second, with every step in Postgres.
//!
//! A private Postgres with its crash-safe settings, agents, and a host in each of many subnets. The
//! background tasks open the searches, order the probes and decide, each whenever it is woken, as
//! they do in service.
//!
//! With `--delay-ms` each agent is a task of its own with the shipped policy and limits: it reads
//! its orders when it is woken, answers each after the delay, and reports the round trip that its
//! city's distance from the subnet takes. Without, answers cost nothing: one statement answers all
//! orders with random times whenever agents are woken, 2,000 searches are open, and the threshold
//! decides.
//!
//! Beside it, as the limit, the rows that come of it are written into tables without any rule: by
//! one statement each, and in transactions of 256 rows.
//!
//! `cargo bench -p coordinator --bench searches -- [--agents N] [--delay-ms MS] [SUBNETS]`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a bench stops at what it did not expect, and prints"
)]

#[path = "../world/cities.rs"]
mod cities;
mod geography;

use std::net::IpAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use cluster::Cluster;
use coordinator::placement::settle_homes;
use coordinator::registry::reload_hierarchy;
use coordinator::runtime::clock::{Clock as _, SystemClock};
use coordinator::runtime::events::Event;
use coordinator::startup::cli::ServeArgs;
use coordinator::startup::{boot, configuration};
use coordinator::tasks::coordinator::Coordinator;
use coordinator::tasks::driver::TaskSet;
use coordinator::tasks::table::{BackgroundTask, TABLE};
use data_encoding::HEXLOWER;
use futures_util::future::select_all;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt as _, StreamExt as _};
use hierarchy::{Builder, CompanyIndex, Generation, Hierarchy, Record, Registry, SubnetKind};
use model::{AgentId, ProbeId, ProbeMethod, Strategy};
use protocol::key::AgentKey;
use protocol::{ProbeReport, ProbeResult};
use store::generations::Load;
use store::testing::execute;
use store::{Address, Store, Term, agents, policy, probes, searches};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::geography::Geography;

/// Tasks that run during the measurement.
const MEASURED: [&str; 2] = ["open_searches", "drive_searches"];
/// Searches under way at the same time when answers cost nothing.
const OPEN: u32 = 2_000;

/// What is measured.
#[derive(Debug, Clone, Copy)]
struct Options {
    agents: u32,
    /// How long an agent takes to answer; `None`: answers cost nothing.
    delay: Option<Duration>,
    subnets: u32,
}

impl Options {
    fn parse() -> Self {
        let mut options = Self { agents: 1_000, delay: None, subnets: 20_000 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap().parse().unwrap();
            match word.as_str() {
                // Cargo adds it.
                "--bench" => {}
                "--agents" => options.agents = value(),
                "--delay-ms" => options.delay = Some(Duration::from_millis(value().into())),
                subnets => options.subnets = subnets.parse().unwrap(),
            }
        }
        options
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    tokio::select! {
        () = measure(Options::parse()) => ExitCode::SUCCESS,
        // What is dropped removes the database.
        _ = tokio::signal::ctrl_c() => ExitCode::FAILURE,
    }
}

async fn measure(options: Options) {
    let Options { agents, subnets, .. } = options;
    let dir = tempfile::tempdir().unwrap();
    let cluster = Cluster::start(cluster::Options::new(dir.path())).await.unwrap();
    let store = &store::open(&Address::private(cluster.socket_dir())).await.unwrap();
    let coordinator = coordinator(store, dir.path(), options).await;
    let begun = Instant::now();
    let working = TaskTracker::new();
    let is_measured = |task: &&BackgroundTask| MEASURED.contains(&task.name);
    TaskSet::subscribe(TABLE.iter().filter(is_measured), &coordinator.events)
        .start(&coordinator, &working);
    let most_open = match options.delay {
        None => answer(&coordinator, store, agents + subnets).await,
        Some(delay) => serve(&coordinator, delay, agents + subnets).await,
    };
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
        "{agents} agents, at most {most_open} searches under way, {subnets} searches with \
         {probes} probes in {took:.2} s"
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

/// Answers what agents are asked until as many subnets have an agent. Returns the number of
/// searches that may be open.
async fn answer(coordinator: &Coordinator, store: &Store, subnets: u32) -> usize {
    let agents = agents::workers(store).await.unwrap();
    let signals: Vec<_> =
        agents.iter().map(|worker| coordinator.agent_wakeups.signal(worker.agent)).collect();
    while delegated(coordinator) < subnets as usize {
        let woken = select_all(signals.iter().map(|signal| Box::pin(signal.notified())));
        if execute(store, ANSWER).await.unwrap() > 0 {
            coordinator.events.emit(Event::SearchProbeAnswered);
        } else {
            // The last decisions wake no agent.
            let _ = tokio::time::timeout(Duration::from_millis(100), woken).await;
        }
    }
    OPEN as usize
}

fn delegated(coordinator: &Coordinator) -> usize {
    coordinator.delegated().unwrap().delegation_table().len()
}

/// Runs the agents until as many subnets have an agent. Returns the most searches that were open.
async fn serve(coordinator: &Arc<Coordinator>, delay: Duration, subnets: u32) -> usize {
    let working = TaskTracker::new();
    let answered = Arc::new(AtomicU64::new(0));
    // The homes of agents are subnets, too.
    let workers = agents::workers(&coordinator.store).await.unwrap();
    let geography = Arc::new(Geography::new(subnets - workers.len() as u32));
    for worker in workers {
        let coordinator = Arc::clone(coordinator);
        let geography = Arc::clone(&geography);
        let answered = Arc::clone(&answered);
        working.spawn(async move {
            work(&coordinator, worker.agent, delay, &geography, &answered).await;
        });
    }
    let mut most_open = 0;
    while delegated(coordinator) < subnets as usize {
        let open = searches::undelegated_subnets(&coordinator.store).await.unwrap();
        most_open = most_open.max(open.len());
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
    coordinator.stop.cancel();
    working.close();
    working.wait().await;
    assert!(answered.load(Ordering::Relaxed) > 0);
    most_open
}

/// One agent, as the endpoints for heartbeats and reports serve it.
async fn work(
    coordinator: &Coordinator,
    agent: AgentId,
    delay: Duration,
    geography: &Geography,
    answered: &AtomicU64,
) {
    let store = &coordinator.store;
    let signal = coordinator.agent_wakeups.signal(agent);
    let mut under_way = FuturesUnordered::new();
    let mut taken: Vec<ProbeId> = Vec::new();
    loop {
        let woken = signal.notified();
        tokio::pin!(woken);
        woken.as_mut().enable();
        agents::identity(store, agent).await.unwrap();
        let orders = probes::orders(store, agent, &taken, 3, 100).await.unwrap();
        for order in orders {
            taken.push(order.probe);
            under_way.push(async move {
                tokio::time::sleep(delay).await;
                (order.probe, order.address)
            });
        }
        tokio::select! {
            () = &mut woken => {}
            Some(probe) = under_way.next() => {
                // What is ready at the same time is reported together.
                let mut done = vec![probe];
                while let Some(Some(probe)) = under_way.next().now_or_never() {
                    done.push(probe);
                }
                report(coordinator, agent, geography, &done).await;
                taken.retain(|probe| done.iter().all(|(answered, _)| answered != probe));
                answered.fetch_add(done.len() as u64, Ordering::Relaxed);
            }
            () = coordinator.stop.cancelled() => return,
        }
    }
}

async fn report(
    coordinator: &Coordinator,
    agent: AgentId,
    geography: &Geography,
    done: &[(ProbeId, IpAddr)],
) {
    let now = coordinator.now();
    let measured = |(probe, address): &(ProbeId, IpAddr)| {
        let rtt_us = geography.round_trip_us(agent, *address, *probe);
        let result = ProbeResult::Measured { method: ProbeMethod::Tcp, rtt_us, samples: 3 };
        ProbeReport { probe: *probe, result }
    };
    let reports: Vec<ProbeReport> = done.iter().map(measured).collect();
    let new = probes::report(&coordinator.store, agent, &reports, now).await.unwrap();
    if new.search > 0 {
        coordinator.events.emit(Event::SearchProbeAnswered);
    }
}

async fn coordinator(store: &Store, dir: &Path, options: Options) -> Arc<Coordinator> {
    let mut load = Load::wait(store).await.unwrap();
    let geography = Geography::new(options.subnets);
    load.copy(&ground(options, &geography), &|_| {}).await.unwrap();
    load.swap(Instant::now(), &[]).await.unwrap();
    execute(store, AGENTS_MADE).await.unwrap();
    describe_agents(store, options.agents, &geography).await;
    let hosts = "INSERT INTO hosts (scheme, authority, state, address, first, last)
        SELECT 'http', host(first + 1), 'resolved', first + 1, first, last FROM subnets
        WHERE kind = 'delegated' AND first <<= '10.0.0.0/8'";
    execute(store, hosts).await.unwrap();
    let mut config = configuration::load(ServeArgs::default(), || Some(dir.to_owned())).unwrap();
    if options.delay.is_none() {
        config.limits.orders_per_agent = 2 * OPEN / options.agents;
        let locked = policy::lock(store).await.unwrap();
        let mut settings = *locked.settings();
        settings.policy.strategy = Strategy::Threshold;
        locked.replace(&settings, SystemClock.now()).await.unwrap();
    }
    config.limits.presence_s = 3_600;
    config.limits.min_free_mib = 0;
    let made =
        boot::coordinator(config, Arc::new(SystemClock), store.clone(), CancellationToken::new())
            .await;
    let coordinator = Arc::new(made.unwrap());
    coordinator.leader.begin(Term::latest(store).await.unwrap(), coordinator.now());
    reload_hierarchy::run(&coordinator.registry).await.unwrap();
    settle_homes::run(&coordinator.placement).await.unwrap();
    coordinator
}

/// As many subnets of 256 addresses, three of a company, and a home for each agent.
fn ground(options: Options, geography: &Geography) -> Hierarchy {
    let Options { agents, subnets, .. } = options;
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    let homes = (0..agents).map(|agent| {
        let range = format!("127.{}.{}.1/32", agent >> 8, agent & 255);
        (range, format!("home {agent}"), geography.home_country(agent))
    });
    let wanted = (0..subnets).map(|number| {
        (
            format!("10.{}.{}.0/24", number >> 8, number & 255),
            format!("company {}", geography.company(number)),
            geography.country(number),
        )
    });
    for (range, company, country) in homes.chain(wanted) {
        builder.add(Record {
            range: range.parse().unwrap(),
            kind: SubnetKind::Delegated,
            registry: Some(Registry::RipeNcc),
            company: Some(companies.number(Registry::RipeNcc, &company)),
            country: Some(country),
        });
    }
    builder.build(Generation::new(0), companies.into_companies()).0
}

/// Gives the agents real keys, because half of all other texts are no keys, and their places.
async fn describe_agents(store: &Store, agents: u32, geography: &Geography) {
    for agent in 1..=agents {
        let mut seed = [7; 32];
        seed[..4].copy_from_slice(&agent.to_le_bytes());
        let key = HEXLOWER.encode(&AgentKey::from_seed(seed).public().to_bytes());
        let place = serde_json::to_string(&geography.claim(agent - 1).unwrap()).unwrap();
        let given = format!(
            "UPDATE agents SET public_key = decode('{key}', 'hex'), place = '{place}'
             WHERE id = {agent}"
        );
        execute(store, Box::leak(given.into_boxed_str())).await.unwrap();
    }
}

const AGENTS_MADE: &str = "INSERT INTO agents (public_key, state, name, contact, version, \
    capacity_pages_per_day, zone, home, last_heartbeat_at)
    SELECT sha256(int4send(ordinal)), 'approved', 'agent ' || ordinal, 'https://example.org/', \
    '0.1.0', 1000000, 'UTC', first, now()
    FROM subnets WHERE kind = 'delegated' AND first <<= '127.0.0.0/8' ORDER BY ordinal";

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
