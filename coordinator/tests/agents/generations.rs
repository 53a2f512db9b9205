//! A new generation of the hierarchy cuts subnets otherwise: hosts follow who has the subnet that
//! they are in now.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use coordinator::packages::sweep_bundles;
use coordinator::placement::delegate_remapped;
use coordinator::runtime::events::Event;
use coordinator::search::open_searches;
use coordinator::search::round::SearchRound;
use hierarchy::{Hierarchy, Range};
use model::{HostId, HostTask, SearchId};
use protocol::BundleOffer;
use reqwest::StatusCode;
use store::hosts::{self, WaitingHost};
use store::searches::{self, OpenSearchFilter, SearchKind};
use store::testing::execute;

use crate::agent::{FakeAgent, page, problem};
use crate::world::{Ground, Running, hierarchy_of, load, until};

const LOW: &str = "http://198.51.100.1/";
const HIGH: &str = "http://198.51.100.33/";
const NEXT: &str = "http://198.51.100.65/";

/// An agent, what it measures, and what it was told.
struct Party {
    agent: FakeAgent,
    rtt_us: u32,
    routed: Vec<String>,
    /// Orders to let go, by number and host.
    told: Vec<(u64, String)>,
}

impl Party {
    async fn join(running: &Running, seed: u8, rtt_us: u32) -> Self {
        let agent = FakeAgent::approved(running, seed).await;
        Self { agent, rtt_us, routed: vec![], told: vec![] }
    }

    /// One heartbeat; what it is asked to measure it measures, what it is told to let go of it
    /// keeps.
    async fn turn(&mut self, running: &Running) {
        let answer = self.agent.heartbeat(running, 20).await;
        for order in &answer.probes {
            self.agent.measured(running, order, self.rtt_us).await;
        }
        self.routed.extend(answer.routes.into_iter().map(|route| route.url));
        self.told =
            answer.host_orders.into_iter().map(|order| (order.number, order.host)).collect();
    }

    /// One heartbeat in which it says that it let go.
    async fn release(&mut self, running: &Running) {
        self.agent.orders_done = self.told.iter().map(|(number, _)| *number).collect();
        self.turn(running).await;
    }

    fn hosts_to_leave(&self) -> Vec<&str> {
        self.told.iter().map(|(_, host)| host.as_str()).collect()
    }
}

/// The homes of the agents, and these.
fn world_with(subnets: &[(&str, &str)]) -> Hierarchy {
    let homes = [("127.0.0.1 - 127.0.0.1", "home-1"), ("127.0.0.2 - 127.0.0.2", "home-2")];
    hierarchy_of(&[&homes, subnets].concat())
}

async fn until_in_use(running: &Running, ground: &Ground, new: &Hierarchy) {
    let before = running.coordinator.delegated().unwrap().hierarchy().generation();
    load(ground.store(), new).await;
    until("the new generation is in use", || {
        let now = running.coordinator.delegated().unwrap().hierarchy().generation();
        std::future::ready(now != before)
    })
    .await;
}

/// The subnets of the hosts, in the order of their addresses.
async fn places(ground: &Ground) -> Vec<Option<Range>> {
    let mut placed = hosts::with_address(ground.store(), HostId::new(0), 10).await.unwrap();
    placed.sort_by_key(|host| host.address);
    placed.into_iter().map(|host| host.subnet).collect()
}

fn ranges(texts: &[&str]) -> Vec<Option<Range>> {
    texts.iter().map(|text| Some(text.parse().unwrap())).collect()
}

/// Both heartbeat until `done`.
async fn turns(
    running: &Running,
    one: &mut Party,
    two: &mut Party,
    done: impl Fn(&Party, &Party) -> bool,
) {
    for _ in 0..500 {
        if done(one, two) {
            return;
        }
        one.turn(running).await;
        two.turn(running).await;
    }
    panic!("waited in vain: {:?} {:?}, {:?} {:?}", one.routed, one.told, two.routed, two.told);
}

/// A world of these subnets with two agents, the first of which has the hosts of LOW and HIGH.
async fn with_hosts(ground: &Ground, subnets: &[(&str, &str)]) -> (Running, Party, Party) {
    let running = ground.start_on(&world_with(subnets)).await;
    let mut one = Party::join(&running, 1, 9_000).await;
    let mut two = Party::join(&running, 2, 90_000).await;
    running.add_seeds(&[LOW, HIGH]).await;
    turns(&running, &mut one, &mut two, |one, _| one.routed.len() == 2).await;
    (running, one, two)
}

#[tokio::test]
async fn a_host_that_is_cut_out_stays_until_a_search_decides_and_is_then_handed_over() {
    let ground = Ground::bare().await;
    let (running, mut one, mut two) = with_hosts(&ground, &[("198.51.100.0/26", "north")]).await;
    (one.rtt_us, two.rtt_us) = (90_000, 9_000);
    let cut = world_with(&[("198.51.100.0/26", "north"), ("198.51.100.32/27", "east")]);
    until_in_use(&running, &ground, &cut).await;
    until("the host is in its new subnet", || async {
        places(&ground).await == ranges(&["198.51.100.0/26", "198.51.100.32/27"])
    })
    .await;
    running.add_seeds(&["http://198.51.100.33/more"]).await;
    turns(&running, &mut one, &mut two, |one, _| !one.told.is_empty()).await;
    assert_eq!(one.hosts_to_leave(), ["http://198.51.100.33"]);
    let order = one.agent.heartbeat(&running, 0).await.host_orders.remove(0);
    assert_eq!(order.task, HostTask::Release);
    running.coordinator.events.emit(Event::AnythingChanged);
    two.turn(&running).await;
    assert_eq!(two.routed, [] as [&str; 0], "the first has not let go yet");
    one.release(&running).await;
    turns(&running, &mut one, &mut two, |_, two| two.routed.iter().any(|url| url == HIGH)).await;
    assert!(two.routed.iter().all(|url| url.starts_with(HIGH)), "{:?}", two.routed);
    running.stop().await;
}

#[tokio::test]
async fn parts_of_a_provisional_subnet_are_searched_for() {
    let ground = Ground::bare().await;
    let (running, mut one, mut two) = with_hosts(&ground, &[("198.51.100.0/26", "north")]).await;
    let provisional = "UPDATE delegations SET provisional = true WHERE first = '198.51.100.0'";
    assert_eq!(execute(ground.store(), provisional).await.unwrap(), 1);
    let cut = world_with(&[("198.51.100.0/27", "north"), ("198.51.100.32/27", "north")]);
    until_in_use(&running, &ground, &cut).await;
    until("both parts are delegated for good", async || {
        running.coordinator.events.emit(Event::PinNotApplied);
        one.turn(&running).await;
        two.turn(&running).await;
        let decided = "UPDATE delegations SET note = note
                       WHERE first <<= '198.51.100.0/26' AND ended_at IS NULL AND NOT provisional";
        execute(ground.store(), decided).await.unwrap() == 2
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn the_bundle_of_a_host_goes_to_its_next_agent_alone() {
    let ground = Ground::bare().await;
    let (running, mut one, mut two) = with_hosts(&ground, &[("198.51.100.0/26", "north")]).await;
    (one.rtt_us, two.rtt_us) = (90_000, 9_000);
    let cut = world_with(&[("198.51.100.0/26", "north"), ("198.51.100.32/27", "east")]);
    until_in_use(&running, &ground, &cut).await;
    running.add_seeds(&["http://198.51.100.33/more"]).await;
    turns(&running, &mut one, &mut two, |one, _| !one.told.is_empty()).await;
    let order = one.agent.heartbeat(&running, 0).await.host_orders.remove(0);
    let number = order.number;
    let refused = two.agent.send_bundle(&running, number, "forged").await;
    assert_eq!(problem(refused).await.0, StatusCode::NOT_FOUND, "not its order");
    for _ in 0..2 {
        assert_eq!(one.agent.send_bundle(&running, number, "known").await.status(), 200);
    }
    assert_eq!(one.agent.send_bundle(&running, number, "other").await.status(), 200);
    assert_eq!(blobs_of_bundles(&ground).len(), 1, "the first bundle stays, alone");
    only_bundles_without_a_row_are_swept(&ground, &running).await;
    execute(ground.store(), "UPDATE host_bundles SET bytes = 4294967296").await.unwrap();
    let (status, name, _) = problem(one.agent.send_bundle(&running, number, "more").await).await;
    assert_eq!((status, name.as_str()), (StatusCode::TOO_MANY_REQUESTS, "too-many-waiting"));
    let early = two.agent.read_bundle(&running, number).await;
    assert_eq!(problem(early).await.0, StatusCode::NOT_FOUND, "the host is not its own yet");
    assert_eq!(two.agent.heartbeat(&running, 0).await.bundles, []);

    one.release(&running).await;
    let has_high = |two: &Party| two.routed.iter().any(|url| url == HIGH);
    turns(&running, &mut one, &mut two, |_, two| has_high(two)).await;
    let offered = two.agent.heartbeat(&running, 0).await.bundles;
    let host = "http://198.51.100.33".to_owned();
    let mut offer = BundleOffer { number, host, keeps_times: false, is_late: false };
    assert_eq!(offered, [offer.clone()], "90 ms and 9 ms are not alike");
    let lapsed = "UPDATE handovers SET ending = 'lapsed', confirmed_at = NULL
                  WHERE task = 'release'";
    assert_eq!(execute(ground.store(), lapsed).await.unwrap(), 1);
    assert_eq!(two.agent.heartbeat(&running, 0).await.bundles, [], "results may be on their way");
    let package = one.agent.package(1, &[page(HIGH, "title", "text")]);
    one.agent.ship_well(&running, 1, package).await;
    one.agent.orders_done = vec![number];
    one.turn(&running).await;
    offer.is_late = true;
    let offered = two.agent.heartbeat(&running, 0).await.bundles;
    assert_eq!(offered, [offer], "the results of the former agent did not count");
    assert_eq!(two.agent.read_bundle(&running, number).await.text().await.unwrap(), "known");
    let gone = one.agent.read_bundle(&running, number).await;
    assert_eq!(problem(gone).await.0, StatusCode::NOT_FOUND, "the host is another's");
    one.agent.bundles_taken = vec![number];
    one.turn(&running).await;
    assert_eq!(two.agent.heartbeat(&running, 0).await.bundles.len(), 1, "one cannot take it");

    two.agent.bundles_taken = vec![number];
    assert_eq!(two.agent.heartbeat(&running, 0).await.bundles, []);
    let taken = two.agent.read_bundle(&running, number).await;
    assert_eq!(problem(taken).await.0, StatusCode::NOT_FOUND);
    let left = blobs_of_bundles(&ground);
    assert!(left.is_empty(), "{left:?}");
    running.stop().await;
}

/// Those that are new may get their row yet.
async fn only_bundles_without_a_row_are_swept(ground: &Ground, running: &Running) {
    let named = blobs_of_bundles(ground).remove(0);
    let [old, new] = ["7-old.nchb", "7-new.nchb"].map(|name| named.with_file_name(name));
    let package = named.with_file_name("../1-x.ncpk");
    let long_ago = SystemTime::now() - Duration::from_hours(25);
    for path in [&old, &new, &package] {
        fs::write(path, "x").unwrap();
    }
    for path in [&named, &old, &package] {
        File::options().append(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    sweep_bundles::run(&running.coordinator.packages).await.unwrap();
    assert!(named.exists() && new.exists() && package.exists() && !old.exists());
    for path in [new, package] {
        fs::remove_file(path).unwrap();
    }
}

/// Files of bundles in the local blob store.
fn blobs_of_bundles(ground: &Ground) -> Vec<std::path::PathBuf> {
    let mut dirs = vec![ground.packages()];
    let mut found = Vec::new();
    while let Some(dir) = dirs.pop() {
        for entry in fs::read_dir(dir).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                dirs.push(path);
            } else if path.extension().is_some_and(|extension| extension == "nchb") {
                found.push(path);
            }
        }
    }
    found
}

#[tokio::test]
async fn hosts_of_what_was_split_stay_and_hosts_of_what_was_merged_follow() {
    let ground = Ground::bare().await;
    let before = [("198.51.100.0/26", "north"), ("198.51.100.64/26", "south")];
    let (running, mut one, mut two) = with_hosts(&ground, &before).await;
    (one.rtt_us, two.rtt_us) = (90_000, 10_000);
    running.add_seeds(&[NEXT]).await;
    turns(&running, &mut one, &mut two, |_, two| two.routed == [NEXT]).await;

    let split = [
        ("198.51.100.0/27", "north"),
        ("198.51.100.32/27", "north"),
        ("198.51.100.64/26", "south"),
    ];
    until_in_use(&running, &ground, &world_with(&split)).await;
    until("the hosts are in the parts", || async {
        places(&ground).await
            == ranges(&["198.51.100.0/27", "198.51.100.32/27", "198.51.100.64/26"])
    })
    .await;
    running.add_seeds(&["http://198.51.100.33/more"]).await;
    turns(&running, &mut one, &mut two, |one, _| one.routed.len() == 3).await;
    assert!(one.told.is_empty() && two.told.is_empty(), "nothing moves");

    // The nearest of those who had a part has the whole.
    until_in_use(&running, &ground, &world_with(&[("198.51.100.0/25", "north")])).await;
    turns(&running, &mut one, &mut two, |_, two| !two.told.is_empty()).await;
    assert_eq!(places(&ground).await, ranges(&["198.51.100.0/25"; 3]));
    assert_eq!((two.hosts_to_leave(), one.told.len()), (vec!["http://198.51.100.65"], 0));
    assert_eq!(one.routed.len(), 3, "the other has not let go yet");
    two.release(&running).await;
    turns(&running, &mut one, &mut two, |one, _| one.routed.iter().any(|url| url == NEXT)).await;
    running.stop().await;
}

/// The delegation table in memory is behind the database when another coordinator has just
/// decided.
#[tokio::test]
async fn a_subnet_that_another_coordinator_has_just_delegated_is_not_searched_again() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let agent = FakeAgent::crawling(&running).await;
    let coordinator = &running.coordinator;
    let delegated = coordinator.delegated().unwrap();
    let home = store::delegations::list_active(ground.store()).await.unwrap()[0].subnet;
    delegated.put(delegated.hierarchy().find(&home).unwrap(), None);
    // The hosts are walked through again.
    coordinator.hierarchy.set_remapped(delegated.hierarchy().generation());
    delegate_remapped::run(&coordinator.placement).await.unwrap();
    let searches = "UPDATE searches SET state = state WHERE state = 'open'";
    assert_eq!(execute(ground.store(), searches).await.unwrap(), 0);
    let held = store::delegations::list_active(ground.store()).await.unwrap();
    assert_eq!((held.len(), held[0].agent), (1, agent.id));
    running.stop().await;
}

/// A host is freed in one transaction and its subnet delegated in another, at the same moment.
#[tokio::test]
async fn a_host_that_was_left_over_goes_to_the_agent_of_its_subnet() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let _agent = FakeAgent::crawling(&running).await;
    let waits = "UPDATE hosts SET state = 'resolved', agent = NULL";
    assert_eq!(execute(ground.store(), waits).await.unwrap(), 1);
    open_searches::run(&running.coordinator.search).await.unwrap();
    let has_an_agent = "UPDATE hosts SET state = state WHERE state = 'delegated'";
    assert_eq!(execute(ground.store(), has_an_agent).await.unwrap(), 1);
    running.stop().await;
}

/// The round of searches that runs while a generation comes into use has the one before, and reads
/// searches that were opened on the new one.
#[tokio::test]
async fn a_search_on_a_new_generation_outlives_a_round_on_the_one_before() {
    let ground = Ground::bare().await;
    let running = ground.start_on(&world_with(&[])).await;
    let search = &running.coordinator.search;
    let before = running.coordinator.delegated().unwrap();
    until_in_use(&running, &ground, &world_with(&[("198.51.100.0/26", "north")])).await;
    let host = WaitingHost {
        subnet: "198.51.100.0/26".parse().unwrap(),
        address: "198.51.100.1".parse().unwrap(),
        scheme: "http".into(),
        authority: "198.51.100.1".into(),
    };
    assert_eq!(open_searches::open(search, vec![host]).await.unwrap(), 1);
    let mut round = SearchRound::begin(search, before).await.unwrap();
    let all = OpenSearchFilter::all(SearchKind::Undelegated);
    let list = || searches::list_open(ground.store(), all, SearchId::new(0), 10);
    let opened = list().await.unwrap();
    round.advance(&opened).await.unwrap();
    assert_eq!((opened.len(), round.finish()), (1, None));
    assert_eq!(list().await.unwrap(), opened);
    running.stop().await;
}
