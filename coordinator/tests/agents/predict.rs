//! The predictive strategy live: searches teach the model, and later ones ask fewer agents.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use coordinator::runtime::events::Event;
use coordinator::runtime::outcome::Outcome;
use coordinator::search::drive_searches;
use hierarchy::{Builder, CompanyIndex, Generation, Hierarchy, Record, Registry, SubnetKind};
use model::{Policy, Reason, Strategy};
use protocol::ProbeResult;
use store::delegations::ActiveDelegation;
use store::policy;

use crate::agent::FakeAgent;
use crate::world::{Ground, Running, load, until};

/// Countries of the three cities, in each of which an agent lives.
const COUNTRIES: [&str; 3] = ["GR", "JP", "MX"];
/// Milliseconds from each agent (127.0.0.1, 2, 3) to each of the cities.
const MATRIX: [[u32; 3]; 3] = [[5, 220, 190], [220, 6, 180], [190, 180, 7]];
/// Subnets of four addresses each; those of one city are in one country, and each has a company of
/// its own.
pub(crate) const SUBNETS: u32 = 45;
/// Those that are searched first.
pub(crate) const FIRST: u32 = 9;
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) fn address(subnet: u32) -> Ipv4Addr {
    Ipv4Addr::from_bits(Ipv4Addr::new(198, 51, 100, 1).to_bits() + 4 * subnet)
}

fn subnet_of(address: IpAddr) -> u32 {
    let IpAddr::V4(address) = address else { panic!("{address}") };
    (address.to_bits() - Ipv4Addr::new(198, 51, 100, 0).to_bits()) / 4
}

/// Where a subnet is; neighbours are in different cities.
fn city(subnet: u32) -> usize {
    subnet as usize % 3
}

fn rtt_us(agent: usize, subnet: u32) -> u32 {
    MATRIX[agent][city(subnet)] * 1_000 + 400 * (subnet % 7)
}

/// What an agent measures to an address of a subnet, or to the home address of another agent.
fn measured_us(agent: usize, address: IpAddr) -> u32 {
    match address {
        IpAddr::V4(home) if home.is_loopback() => {
            MATRIX[agent][usize::from(home.octets()[3]) - 1] * 1_000
        }
        address => rtt_us(agent, subnet_of(address)),
    }
}

pub(crate) fn hierarchy() -> Hierarchy {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    let mut add = |range: String, company: String, country: &str| {
        let company = Some(companies.number(Registry::RipeNcc, &company));
        let registry = Some(Registry::RipeNcc);
        let country = country.parse().ok();
        let kind = SubnetKind::Delegated;
        builder.add(Record { range: range.parse().unwrap(), kind, registry, company, country });
    };
    for (agent, country) in (1..).zip(COUNTRIES) {
        add(format!("127.0.0.{agent} - 127.0.0.{agent}"), format!("home {agent}"), country);
    }
    for subnet in 0..SUBNETS {
        let first = Ipv4Addr::from_bits(address(subnet).to_bits() - 1);
        add(format!("{first}/30"), format!("company {subnet}"), COUNTRIES[city(subnet)]);
    }
    builder.build(Generation::new(0), companies.into_companies()).0
}

pub(crate) async fn change(running: &Running, wish: impl FnOnce(&mut Policy)) {
    let coordinator = &running.coordinator;
    let locked = policy::lock(&coordinator.store).await.unwrap();
    let mut settings = *locked.settings();
    wish(&mut settings.policy);
    locked.replace(&settings, coordinator.now()).await.unwrap();
    coordinator.policy.replace(settings.policy);
}

pub(crate) async fn approved(
    running: &Running,
    seeds: std::ops::RangeInclusive<u8>,
) -> Vec<FakeAgent> {
    running.until_hierarchy_is_loaded().await;
    let mut agents = Vec::new();
    for seed in seeds {
        agents.push(FakeAgent::approved(running, seed).await);
    }
    agents
}

/// The agents do what they are told, by the matrix, until `done`.
pub(crate) async fn work<F: Future<Output = bool>>(
    running: &Running,
    agents: &mut [FakeAgent],
    mut done: impl FnMut() -> F,
) {
    let working = async {
        while !done().await {
            for (number, agent) in agents.iter_mut().enumerate() {
                for order in agent.heartbeat(running, 10).await.probes {
                    agent.measured(running, &order, measured_us(number, order.address)).await;
                }
            }
        }
    };
    tokio::time::timeout(LONGEST, working).await.expect("the agents get everything done");
}

pub(crate) async fn add_seeds(running: &Running, subnets: impl IntoIterator<Item = u32>) {
    let seeds: Vec<String> =
        subnets.into_iter().map(|subnet| format!("http://{}/", address(subnet))).collect();
    running.add_seeds(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).await;
}

/// Delegations of the subnets that were searched.
pub(crate) async fn searched(ground: &Ground) -> Vec<ActiveDelegation> {
    let held = store::delegations::list_active(ground.store()).await.unwrap();
    held.into_iter().filter(|held| held.reason != Reason::Home).collect()
}

pub(crate) async fn until_searched(
    ground: &Ground,
    running: &Running,
    agents: &mut [FakeAgent],
    count: u32,
) {
    work(running, agents, || async { searched(ground).await.len() >= count as usize }).await;
}

/// The first subnets are searched, without control probes, which would hide how many probes the
/// searches take.
pub(crate) async fn learn(ground: &Ground, running: &Running, agents: &mut [FakeAgent]) {
    change(running, |policy| policy.control_permille = 0).await;
    add_seeds(running, 0..FIRST).await;
    until_searched(ground, running, agents, FIRST).await;
}

/// Probes of all searches so far.
async fn probes(ground: &Ground, running: &Running) -> i64 {
    crate::world::counts(ground, running).await.searches.probes
}

/// How many probes the later subnets took by the paper's strategy.
async fn probes_by_threshold() -> i64 {
    let ground = Ground::bare().await;
    load(ground.store(), &hierarchy()).await;
    let running = ground.start().await;
    let mut agents = approved(&running, 1..=3).await;
    change(&running, |policy| policy.strategy = Strategy::Threshold).await;
    add_seeds(&running, 0..FIRST).await;
    until_searched(&ground, &running, &mut agents, FIRST).await;
    let before = probes(&ground, &running).await;
    add_seeds(&running, FIRST..SUBNETS).await;
    until_searched(&ground, &running, &mut agents, SUBNETS).await;
    let took = probes(&ground, &running).await - before;
    running.stop().await;
    took
}

#[tokio::test]
async fn what_searches_teach_saves_probes_and_outlives_restarts() {
    let ground = Ground::bare().await;
    load(ground.store(), &hierarchy()).await;
    let mut running = ground.start().await;
    let mut agents = approved(&running, 1..=3).await;
    learn(&ground, &running, &mut agents).await;
    let before = probes(&ground, &running).await;

    // In the middle of the later searches the coordinator is killed, twice.
    add_seeds(&running, FIRST..SUBNETS).await;
    for part in 1..=2 {
        until_searched(&ground, &running, &mut agents, FIRST + part * 9).await;
        running.abort().await;
        running = ground.start().await;
    }
    until_searched(&ground, &running, &mut agents, SUBNETS).await;

    let took = probes(&ground, &running).await - before;
    let later = i64::from(SUBNETS - FIRST);
    // One for each, and another where the first finds out that it is in another city.
    assert!(took <= later + later / 2, "{took} probes for {later} subnets");
    let by_threshold = probes_by_threshold().await;
    assert!(
        took < by_threshold,
        "{took} and not fewer than the paper's strategy with {by_threshold}"
    );

    let names: HashMap<_, _> =
        agents.iter().enumerate().map(|(number, agent)| (agent.id, number)).collect();
    for held in searched(&ground).await {
        let subnet = subnet_of(held.subnet.first());
        assert_eq!(names[&held.agent], city(subnet), "the nearest agent of {}", held.subnet);
        if subnet >= FIRST {
            assert_eq!(held.reason, Reason::Predicted, "{}", held.subnet);
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn a_subnet_unlike_all_before_gets_the_nearest_agent() {
    let ground = Ground::bare().await;
    load(ground.store(), &hierarchy()).await;
    let running = ground.start().await;
    let mut agents = approved(&running, 1..=3).await;
    add_seeds(&running, (0..SUBNETS).filter(|subnet| city(*subnet) == 0).take(FIRST as usize))
        .await;
    until_searched(&ground, &running, &mut agents, FIRST).await;
    add_seeds(&running, [2]).await;
    until_searched(&ground, &running, &mut agents, FIRST + 1).await;
    let held = searched(&ground).await;
    let found = held.iter().find(|held| subnet_of(held.subnet.first()) == 2).unwrap();
    // All others turned out to be near the first agent.
    assert_eq!((found.agent, found.reason), (agents[2].id, Reason::Predicted));
    running.stop().await;
}

#[tokio::test]
async fn a_silent_address_gives_way_to_another_of_its_subnet() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let mut agents = approved(&running, 1..=2).await;
    running.add_seeds(&["http://198.51.100.1/", "http://198.51.100.2/"]).await;
    for agent in &mut agents {
        let order = agent.orders(&running).await.remove(0);
        assert_eq!(order.address.to_string(), "198.51.100.1");
        agent
            .report(&running, &order, ProbeResult::Unreachable { reason: "no answer".into() })
            .await;
    }
    let order = agents[0].orders(&running).await.remove(0);
    assert_eq!(order.address.to_string(), "198.51.100.2");
    agents[0].measured(&running, &order, 9_000).await;
    until("the subnet has an agent", || async { searched(&ground).await.len() == 1 }).await;
    running.stop().await;
}

#[tokio::test]
async fn a_budget_holds_a_search_back_and_says_so() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let mut agents = approved(&running, 1..=2).await;
    change(&running, |policy| {
        policy.probes.per_target = 1;
        policy.patience_ms = 1_000;
    })
    .await;
    running.add_seeds(&["http://198.51.100.1/"]).await;
    let order = agents[0].orders(&running).await.remove(0);
    agents[0].measured(&running, &order, 80_000).await;
    until("the subnet is delegated for the time being", || async {
        searched(&ground).await.len() == 1
    })
    .await;
    assert_eq!(searched(&ground).await[0].agent, agents[0].id);
    assert!(
        agents[1].new_orders(&running, 0).await.is_empty(),
        "the subnet had its probe of today"
    );
    until("the status says so", || {
        let statuses = running.coordinator.statuses.all();
        let told = |name: &str| statuses.get(name).and_then(|status| status.last_outcome.clone());
        let outcome = [told("drive_searches"), told("improve_delegations")];
        std::future::ready(
            outcome.iter().flatten().any(|outcome| outcome.contains("waiting for tomorrow")),
        )
    })
    .await;
    let mut events = running.coordinator.events.receive();
    let outcome = drive_searches::improve(&running.coordinator.search).await.unwrap();
    assert!(matches!(outcome, Outcome::Done(held) if held.contains("waiting for tomorrow")));
    let advanced = std::iter::from_fn(|| events.try_recv().ok())
        .filter(|event| *event == Event::SearchesAdvanced);
    assert_eq!(advanced.count(), 0, "nothing changed");
    running.stop().await;
}
