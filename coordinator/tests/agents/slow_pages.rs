//! Pages become slower: a control probe is asked, the subnet moves with its hosts, and goes back.

use std::time::Duration;

use coordinator::placement::agent_administration::AgentAction;
use hierarchy::Scope;
use model::{HostTask, IncidentState, Slowdown, Strategy, policy::CalibrationPolicy};
use protocol::HeartbeatResponse;
use protocol::page::{Entry, Outcome, Trend};
use store::constraints::{self, Kind, NewConstraint};
use store::{incidents, incidents::IncidentSummary};

use crate::agent::{FakeAgent, fetch};
use crate::predict::change;
use crate::world::{Ground, Running};

const URL: &str = "http://198.51.100.7/";

/// An agent and what it measures, in microseconds.
struct Party {
    agent: FakeAgent,
    rtt_us: u32,
    shipped: u64,
    /// URLs it was routed.
    routed: Vec<String>,
}

impl Party {
    async fn join(running: &Running, seed: u8, rtt_us: u32) -> Self {
        let agent = FakeAgent::enrol(running, seed).await;
        running.order(agent.id, AgentAction::Approve).await;
        Self { agent, rtt_us, shipped: 0, routed: Vec::new() }
    }

    /// One heartbeat: measures what it is asked, lets go of what it shall.
    async fn turn(&mut self, running: &Running) -> HeartbeatResponse {
        let answer = self.agent.heartbeat(running, 50).await;
        self.agent.orders_done = answer.host_orders.iter().map(|order| order.number).collect();
        for order in &answer.probes {
            self.agent.measured(running, order, self.rtt_us).await;
        }
        self.routed.extend(answer.routes.iter().map(|route| route.url.clone()));
        answer
    }

    /// Ships the word that a page is slower.
    async fn complain(&mut self, running: &Running) {
        let Entry::Fetch(mut fetch) = fetch(URL, Outcome::Unchanged { status: 304 }) else {
            panic!("no fetch")
        };
        fetch.trend = Some(Trend::Slower { ratio: 4.0 });
        self.shipped += 1;
        let package = self.agent.package(self.shipped, &[Entry::Fetch(fetch)]);
        assert_eq!(self.agent.ship_well(running, self.shipped, package).await, "stored");
    }
}

async fn latest(running: &Running) -> Option<IncidentSummary> {
    incidents::list(&running.coordinator.store, i64::MAX, 1).await.unwrap().pop()
}

async fn is_in(running: &Running, state: IncidentState) -> bool {
    latest(running).await.is_some_and(|case| case.state == state)
}

/// Every page is compared, and nothing rests for more than a second.
async fn hurry(running: &Running) {
    change(running, |policy| {
        (policy.strategy, policy.threshold_us) = (Strategy::Threshold, 1);
        let slowdown = Slowdown { percent: 200, repeats: 2 };
        let ages = CalibrationPolicy { revisit_s: 1, revisit_least_s: 1, ..policy.calibration };
        policy.calibration = CalibrationPolicy { slowdown, rest_s: 1, window_s: 1, ..ages };
    })
    .await;
}

/// Nothing here takes so long, not even while the machine does something else.
async fn in_time(story: impl Future<Output = ()>) {
    tokio::time::timeout(Duration::from_secs(120), story).await.expect("ends in time");
}

#[tokio::test]
async fn a_slow_way_moves_the_subnet_and_its_hosts_and_a_healed_one_brings_them_back() {
    let ground = Ground::new().await;
    in_time(Box::pin(slow_way(&ground))).await;
}

#[tokio::test]
async fn an_agent_that_was_excluded_measures_nothing_and_gets_nothing_back() {
    let ground = Ground::new().await;
    in_time(Box::pin(excluded(&ground))).await;
}

#[tokio::test]
async fn a_slow_server_keeps_its_agent_which_forgets_how_fast_it_was() {
    let ground = Ground::new().await;
    in_time(Box::pin(slow_server(&ground))).await;
}

/// Two agents, of which the near one has the page.
async fn with_the_near_one(ground: &Ground) -> (Running, Party, Party) {
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    hurry(&running).await;
    let mut near = Party::join(&running, 1, 5_000).await;
    let mut far = Party::join(&running, 2, 30_000).await;
    running.add_seeds(&[URL]).await;
    while near.routed.is_empty() {
        near.turn(&running).await;
        far.turn(&running).await;
    }
    (running, near, far)
}

async fn slow_way(ground: &Ground) {
    let (running, mut near, mut far) = with_the_near_one(ground).await;
    let policy = near.turn(&running).await.policy;
    assert_eq!((policy.revisit_s, policy.slowdown.map(|slow| slow.repeats)), (1, Some(2)));

    near.rtt_us = 105_000;
    let mut told = Vec::new();
    while far.routed.is_empty() {
        if latest(&running).await.is_none() {
            near.complain(&running).await;
        }
        told.extend(near.turn(&running).await.host_orders);
        far.turn(&running).await;
    }
    assert!(!told.is_empty(), "the near one lets go first");
    assert!(
        told.iter()
            .all(|order| order.task == HostTask::Release && order.host == "http://198.51.100.7")
    );
    assert_eq!(far.routed, [URL], "the front page");
    while !is_in(&running, IncidentState::Away).await {
        far.turn(&running).await;
    }
    let case = latest(&running).await.unwrap();
    assert_eq!(
        (case.control_probe.unwrap().0, case.before_us, case.now_us),
        (far.agent.id, Some(30_000), Some(30_000))
    );
    assert!((case.ratio - 4.0).abs() < 1e-9, "{}", case.ratio);

    near.routed.clear();
    near.rtt_us = 5_000;
    while near.routed.is_empty() {
        near.turn(&running).await;
        far.turn(&running).await;
    }
    assert_eq!(near.routed, [URL]);
    while !is_in(&running, IncidentState::Returned).await {
        near.turn(&running).await;
    }
    running.stop().await;
}

async fn excluded(ground: &Ground) {
    let (running, mut near, mut far) = with_the_near_one(ground).await;
    near.rtt_us = 105_000;
    while !is_in(&running, IncidentState::Away).await {
        if latest(&running).await.is_none() {
            near.complain(&running).await;
        }
        near.turn(&running).await;
        far.turn(&running).await;
    }
    let exclusion = NewConstraint {
        kind: Kind::Exclusion,
        scope: &Scope::Range("198.51.100.0/24".parse().unwrap()),
        agent: near.agent.id,
        reason: "abuse",
        by: "ada",
        expires_at: None,
    };
    let coordinator = &running.coordinator;
    constraints::create(&coordinator.store, &exclusion, coordinator.now()).await.unwrap();
    // A probe that was ordered before may still be on its way.
    near.turn(&running).await;
    near.rtt_us = 5_000;
    let mut asked = 0;
    while !is_in(&running, IncidentState::Overtaken).await {
        asked += near.turn(&running).await.probes.len();
        far.turn(&running).await;
    }
    assert!(asked <= 1, "asked {asked} times");
    assert!(near.turn(&running).await.probes.is_empty());
    assert_eq!(far.routed, [URL]);
    running.stop().await;
}

async fn slow_server(ground: &Ground) {
    let (running, mut near, mut far) = with_the_near_one(ground).await;
    (near.rtt_us, far.rtt_us) = (105_000, 130_000);
    let mut told = Vec::new();
    while told.is_empty() {
        if latest(&running).await.is_none() {
            near.complain(&running).await;
        }
        told.extend(near.turn(&running).await.host_orders);
        far.turn(&running).await;
    }
    assert!(is_in(&running, IncidentState::Server).await);
    assert_eq!(told[0].task, HostTask::Settle);
    assert!(far.routed.is_empty());
    running.stop().await;
}
