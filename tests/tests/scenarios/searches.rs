//! Searches continue although coordinators and their Postgres servers are killed and stopped.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use hierarchy::Range;
use nix::sys::signal::Signal;
use s3_server::S3Server;
use store::testing::TestDatabase;
use store::{Address, Store, delegations, searches, settings};
use tests::harness::{Admin, Coordinator, CoordinatorPlan, RunDirectory, until};

use crate::registry::{home, load};
use crate::scripted::Scripted;

const PASSWORD: &str = "a long enough password";
const LIMIT: Duration = Duration::from_mins(3);
const AGENTS: usize = 8;
/// Subnets that want an agent, each of a company of its own.
const SUBNETS: u8 = 63;
const THRESHOLD_US: u32 = 50_000;
const KILLS: usize = 20;
/// Orders handed out between two kills. A search takes about six.
const ORDERS_BETWEEN: usize = 12;

/// The end of a range of documentation addresses (RFC 5737), in subnets of four.
fn subnet(number: u8) -> Range {
    format!("198.51.100.{}/30", number * 4).parse().unwrap()
}

fn host(number: u8) -> String {
    format!("198.51.100.{}", number * 4 + 1)
}

/// From 30 to 200 ms, one in nine below the threshold; the same whenever it is asked.
fn measure(agent: usize, address: IpAddr) -> u32 {
    let IpAddr::V4(address) = address else { unreachable!("only IPv4 here") };
    let mixed = (address.to_bits().wrapping_mul(2_654_435_761)
        ^ (agent as u32).wrapping_mul(40_503))
    .wrapping_mul(2_246_822_519);
    30_000 + (mixed >> 8) % 170_000
}

/// The homes of the agents do not answer: these times would contradict each other, and doubted
/// agents take no part in searches.
fn answer(agent: usize, address: IpAddr) -> Option<u32> {
    (!address.is_loopback()).then(|| measure(agent, address))
}

/// Homes of the agents, and subnets that want an agent.
fn records() -> impl Iterator<Item = (Range, String)> {
    let subnets = (0..SUBNETS).map(|number| (subnet(number), format!("company {number}")));
    (1..=AGENTS).map(home).chain(subnets)
}

/// Agents that are approved, and a seed in each subnet.
async fn crew(coordinators: &[SocketAddr], admin: &Admin) -> Vec<Scripted> {
    let mut policy = admin.get("policy").await.unwrap();
    // The paper's own strategy, and nothing is decided for the time being while somebody is away.
    policy["patience_s"] = 600.into();
    policy["strategy"] = "threshold".into();
    admin.set_policy(&policy).await.unwrap();
    let mut agents = Vec::new();
    for number in 1..=AGENTS {
        agents.push(Scripted::start(number, coordinators, admin, answer).await);
    }
    let seeds: Vec<String> =
        (0..SUBNETS).map(|number| format!("http://{}/", host(number))).collect();
    admin.seed(&seeds).await.unwrap();
    agents
}

fn handed_out(agents: &[Scripted]) -> usize {
    agents.iter().map(|agent| agent.told().orders.len()).sum()
}

async fn until_handed_out(agents: &[Scripted], orders: usize) {
    let look = || {
        let seen = handed_out(agents);
        std::future::ready(if seen >= orders { Ok(()) } else { Err(seen) })
    };
    until("number of orders", LIMIT, look).await.unwrap();
}

/// Every agent knows what it crawls, so nothing is left to decide or to route.
async fn until_over(agents: &[Scripted]) {
    let look = || {
        let urls: usize = agents.iter().map(|agent| agent.told().urls.len()).sum();
        std::future::ready(if urls >= usize::from(SUBNETS) {
            Ok(())
        } else {
            Err(format!("{urls} URLs routed"))
        })
    };
    until("end of the searches", LIMIT, look).await.unwrap();
}

/// One owner each, no search lost or made twice, and the owner is the right one by what was
/// measured.
async fn assert_sound(store: &Store, agents: &[Scripted]) {
    let numbers: BTreeMap<_, usize> = agents.iter().map(|agent| agent.id).zip(1..).collect();
    let held = delegations::list_active(store).await.unwrap();
    let mut subnets = BTreeSet::new();
    for held in &held {
        assert!(subnets.insert(held.subnet), "{} has two owners", held.subnet);
        assert_eq!(held.fencing_number, 1, "{} was decided more than once", held.subnet);
    }
    assert_eq!(held.len(), AGENTS + usize::from(SUBNETS));
    assert!(searches::undelegated_subnets(store).await.unwrap().is_empty());
    let made =
        store::testing::execute(store, "UPDATE searches SET state = state WHERE state = 'decided'")
            .await
            .unwrap();
    assert_eq!(made, u64::from(SUBNETS), "one search a subnet");
    for held in held.iter().filter(|held| held.reason != model::Reason::Home) {
        let target = host_of(&held.subnet);
        let rtt_us = measure(numbers[&held.agent], target);
        assert_eq!(held.rtt_us, Some(rtt_us), "{}", held.subnet);
        let least = (1..=AGENTS).map(|agent| measure(agent, target)).min().unwrap();
        assert!(
            rtt_us < THRESHOLD_US || rtt_us == least,
            "{} went to {rtt_us} us ({:?}), {least} us was there",
            held.subnet,
            held.reason
        );
    }
    assert_asked_once(agents);
    for held in held.iter().filter(|held| held.reason != model::Reason::Home) {
        let url = format!("http://{}/", host_of(&held.subnet));
        let who: Vec<_> = agents
            .iter()
            .filter(|agent| agent.told().urls.contains(&url))
            .map(|agent| agent.id)
            .collect();
        assert_eq!(who, [held.agent], "{url} is crawled by its owner alone");
    }
}

fn host_of(subnet: &Range) -> IpAddr {
    let IpAddr::V4(first) = subnet.first() else { unreachable!("only IPv4 here") };
    IpAddr::from(std::net::Ipv4Addr::from_bits(first.to_bits() + 1))
}

/// No agent measures an address under two orders for searches, and no order comes more than twice:
/// an answer that was lost comes again.
fn assert_asked_once(agents: &[Scripted]) {
    for agent in agents {
        let told = agent.told();
        let of_searches = told.orders.values().map(|(target, _)| *target);
        let asked: Vec<IpAddr> = of_searches.filter(|target| !target.is_loopback()).collect();
        let targets: BTreeSet<&IpAddr> = asked.iter().collect();
        assert_eq!(targets.len(), asked.len(), "{} was asked for an address twice", agent.id);
        assert!(told.orders.values().all(|(_, times)| *times <= 2), "{:?}", told.orders);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_search_is_lost_or_decided_twice_whatever_is_killed() {
    let run_directory = RunDirectory::open("searches").unwrap();
    let data_dir = run_directory.path().join("coordinator");
    let plan = CoordinatorPlan {
        admin_password: PASSWORD.to_owned(),
        ..CoordinatorPlan::new(data_dir.clone())
    };
    let mut coordinator = Coordinator::start(plan).await.unwrap();
    let store = store::open(&Address::private(&data_dir.join("run"))).await.unwrap();
    load(&store, records()).await;
    store.close().await;
    let admin = Admin::sign_in(coordinator.address(), PASSWORD).await.unwrap();
    let agents = crew(&[coordinator.address()], &admin).await;
    for number in 0..KILLS {
        until_handed_out(&agents, (number + 1) * ORDERS_BETWEEN).await;
        if number % 2 == 0 {
            coordinator.kill();
            coordinator.restart().await.unwrap();
        } else {
            coordinator.kill_postgres().await.unwrap();
        }
    }
    until_over(&agents).await;
    let store = store::open(&Address::private(&data_dir.join("run"))).await.unwrap();
    assert_sound(&store, &agents).await;
    store.close().await;
    assert!(coordinator.stop().await.unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_coordinators_one_decides_also_when_the_other_wakes_up_late() {
    let run_directory = RunDirectory::open("pair").unwrap();
    let database = TestDatabase::new().await.unwrap();
    load(database.store(), records()).await;
    let s3 = S3Server::start().unwrap();
    let plan = |name: &str| CoordinatorPlan {
        admin_password: PASSWORD.to_owned(),
        database_url: Some(database.url()),
        environment: s3.environment(),
        ..CoordinatorPlan::new(run_directory.path().join(name))
    };
    let mut first = Coordinator::start(plan("first")).await.unwrap();
    until_term(database.store(), 1).await;
    let mut second = Coordinator::start(plan("second")).await.unwrap();
    let admin = Admin::sign_in(second.address(), PASSWORD).await.unwrap();
    let agents = crew(&[first.address(), second.address()], &admin).await;
    for (term, leader) in [(2, &mut first), (3, &mut second)] {
        until_handed_out(&agents, handed_out(&agents) + 2 * ORDERS_BETWEEN).await;
        leader.process().signal(Signal::SIGSTOP).unwrap();
        until_term(database.store(), term).await;
        leader.process().signal(Signal::SIGCONT).unwrap();
    }
    until_over(&agents).await;
    assert_sound(database.store(), &agents).await;
    assert!(first.stop().await.unwrap().success());
    assert!(second.stop().await.unwrap().success());
}

/// Waits until so many coordinators have taken the right to decide.
async fn until_term(store: &Store, term: i64) {
    let look = || async {
        let seen = settings::get(store, "leader_term")
            .await
            .unwrap()
            .and_then(|value| value.as_i64())
            .unwrap_or(0);
        if seen >= term { Ok(()) } else { Err(format!("term {seen}")) }
    };
    until("next leader", LIMIT, look).await.unwrap();
}
