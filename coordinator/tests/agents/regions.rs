//! Regions whose rows cannot be read, those of a leader that was deposed, and those that become too
//! small.

use coordinator::placement::agent_administration::AgentAction;
use coordinator::placement::regions::form_regions;
use model::RegionId;
use region::envelope::{Sealer, SenderKey};
use region::message::{Heartbeat, LeaseRequest, Message, SerialNumber, Versions};
use region::relay::{RelayAnswer, RelayRequest};
use region::roster::Version;
use region::{Peer, Settings, View};
use store::regions;
use store::testing::execute;
use tokio_util::sync::CancellationToken;

use crate::agent::FakeAgent;
use crate::world::{Ground, Running, until};

#[tokio::test]
async fn a_region_that_cannot_be_read_stops_no_other() {
    let ground = Ground::new().await;
    let store = ground.store();
    let damaged = "INSERT INTO regions (name, settings, view, lent_until, formed_at)
                   VALUES ('damaged', '{}', '', now(), now())";
    execute(store, damaged).await.unwrap();
    let running = ground.start_changed(|config| config.regions.enabled = true).await;
    running.until_hierarchy_is_loaded().await;
    for (seed, label) in [(1, "damaged"), (2, "damaged"), (3, "whole"), (4, "whole")] {
        let agent = FakeAgent::approved(&running, seed).await;
        let address = "http://127.0.0.1:9".to_owned();
        assert!(regions::announce(store, agent.id, &[address], Some(label)).await.unwrap());
    }
    until("the other region is formed", || async {
        form_regions::run(&running.coordinator.regions).await.unwrap();
        regions::list(store).await.unwrap().iter().any(|region| region.name == "whole")
    })
    .await;
    assert_eq!(regions::list(store).await.unwrap().len(), 2, "the name is not used again");
    let members = regions::members(store).await.unwrap();
    assert_eq!(members.values().map(Vec::len).collect::<Vec<_>>(), [2]);
    running.stop().await;
}

#[tokio::test]
async fn a_deposed_leader_publishes_nothing_and_stands_again() {
    let ground = Ground::new().await;
    let store = ground.store();
    let running = ground.start_changed(|config| config.regions.enabled = true).await;
    running.until_hierarchy_is_loaded().await;
    let announce = async |agent: &FakeAgent, address: &str| {
        regions::announce(store, agent.id, &[address.to_owned()], Some("whole")).await.unwrap()
    };
    let members = [FakeAgent::approved(&running, 1).await, FakeAgent::approved(&running, 2).await];
    for member in &members {
        assert!(announce(member, "http://127.0.0.1:9").await);
    }
    let leader = &running.coordinator.leader;
    let form = || form_regions::run(&running.coordinator.regions);
    until("the region is formed", || async {
        form().await.unwrap();
        !regions::list(store).await.unwrap().is_empty()
    })
    .await;
    let term = leader.term().unwrap();
    // Another coordinator is elected, and publishes a view.
    let elected = "WITH another AS (UPDATE settings SET value = to_jsonb(value::bigint + 1)
                                    WHERE name = 'leader_term')
                   UPDATE regions SET view = 'another'";
    execute(store, elected).await.unwrap();
    assert!(announce(&members[0], "http://127.0.0.1:10").await);
    until("it does not lead in that term any more", || async {
        form().await.unwrap();
        leader.term() != Some(term)
    })
    .await;
    until("it stands again", async || leader.is_leader()).await;
    assert_eq!(regions::list(store).await.unwrap()[0].view, b"another");
    running.stop().await;
}

#[tokio::test]
async fn a_region_that_all_have_left_is_deleted_after_the_days_of_history() {
    let ground = Ground::new().await;
    let store = ground.store();
    let running = ground.start_changed(|config| config.regions.enabled = true).await;
    running.until_hierarchy_is_loaded().await;
    let mut agents = Vec::new();
    for (seed, label) in [(1, "over"), (2, "over"), (3, "small"), (4, "small")] {
        let agent = FakeAgent::approved(&running, seed).await;
        assert!(regions::announce(store, agent.id, &[], Some(label)).await.unwrap());
        agents.push(agent.id);
    }
    let names = async || -> Vec<String> {
        form_regions::run(&running.coordinator.regions).await.unwrap();
        let stored = regions::list(store).await.unwrap();
        stored.into_iter().map(|region| region.name).collect()
    };
    until("the regions are formed", async || names().await.len() == 2).await;
    // The loan of the other region has ended just now.
    let ended = "UPDATE regions SET lent_until = now() - interval '366 days' WHERE name = 'over'";
    execute(store, ended).await.unwrap();
    for agent in [agents[0], agents[1], agents[3]] {
        running.order(agent, AgentAction::Revoke).await;
    }
    execute(store, "UPDATE agents SET region = NULL").await.unwrap();
    until("the region without agents is deleted", async || names().await == ["small"]).await;
    assert_eq!(names().await, ["small"]);
    running.stop().await;
}

/// A member that follows each view of its region at once, and grants leases under no older one.
struct Follower<'a> {
    agent: &'a FakeAgent,
    sealer: Sealer,
    view: Option<View>,
    requests: u64,
}

impl Follower<'_> {
    /// Asks for a loan, and tells the coordinator what the member knows.
    async fn call(&mut self, running: &Running) -> RelayAnswer {
        let known = self.view.as_ref().map(|view| (view.roster().region, view.version()));
        let messages = known.map(|(_, version)| self.messages(version));
        let key = SenderKey::Agent(&self.agent.key);
        let mut seal = |message| self.sealer.seal(&key, Peer::Coordinator, message);
        let envelopes = messages.into_iter().flatten().filter_map(&mut seal).collect();
        let label = Some("small".to_owned());
        let request = RelayRequest { label, known, wants_loan: true, envelopes, ..<_>::default() };
        let regions = &running.coordinator.regions;
        let stop = CancellationToken::new();
        let answer = regions.call(self.agent.id, request, &stop).await.unwrap();
        let key = regions.key.public();
        let newer = answer.view.clone().map(|view| View::restore(&key, view).unwrap());
        self.view = newer.or(self.view.take());
        answer
    }

    /// Number of ranges that are the region's.
    fn ranges(&self) -> usize {
        self.view.iter().flat_map(|view| view.delegations().iter()).count()
    }

    fn messages(&mut self, version: Version) -> [Message; 2] {
        self.requests += 1;
        let number = SerialNumber { incarnation: 1, count: self.requests };
        let versions = Versions::new([version]).unwrap();
        let request = LeaseRequest { number, since: number, versions, release: false };
        let heartbeat = Heartbeat { number, version, floor: version, sleep_ms: None };
        [Message::Heartbeat(heartbeat), Message::LeaseRequest(request)]
    }
}

#[tokio::test]
async fn a_region_of_one_lends_nothing_and_lets_its_subnets_go() {
    let ground = Ground::new().await;
    let store = ground.store();
    let running = ground
        .start_changed(|config| {
            config.regions.enabled = true;
            let short = Settings { term_ms: 200, gap_ms: 10, ..Settings::default() };
            config.regions.settings = short;
        })
        .await;
    running.until_hierarchy_is_loaded().await;
    let stays = FakeAgent::approved(&running, 1).await;
    let leaves = FakeAgent::approved(&running, 2).await;
    let join = async |agent| regions::announce(store, agent, &[], Some("small")).await.unwrap();
    assert!(join(stays.id).await && join(leaves.id).await);
    let regions = &running.coordinator.regions;
    let is_kept = async || {
        form_regions::run(regions).await.unwrap();
        !regions::members(store).await.unwrap().is_empty()
    };
    until("the region is formed", is_kept).await;
    let region: RegionId = regions::list(store).await.unwrap()[0].id;
    let sealer = Sealer::new(region, Peer::Agent(stays.id), 1);
    let mut follower = Follower { agent: &stays, sealer, view: None, requests: 0 };
    assert!(follower.call(&running).await.loan_ms.is_some());
    assert_ne!(follower.ranges(), 0);
    let version = Version { epoch: u64::MAX, delta: 0 };
    let known = Some((RegionId::new(region.get() + 1), version));
    let request = RelayRequest { label: Some("small".into()), known, ..<_>::default() };
    let stop = CancellationToken::new();
    let answer = regions.call(stays.id, request, &stop).await.unwrap();
    assert!(answer.view.is_some(), "the agent knows another region only");
    assert_eq!(regions.states().await.unwrap().len(), 1);

    running.order(leaves.id, AgentAction::Revoke).await;
    until("no subnet is the region's", async || {
        let answer = follower.call(&running).await;
        !is_kept().await && answer.loan_ms.is_none()
    })
    .await;
    assert_eq!(follower.ranges(), 0);
    form_regions::run(regions).await.unwrap();
    assert!(regions.states().await.unwrap().is_empty());

    let comes = FakeAgent::approved(&running, 3).await;
    assert!(join(comes.id).await);
    until("the region has two members again", async || {
        form_regions::run(regions).await.unwrap();
        follower.call(&running).await.loan_ms.is_some() && follower.ranges() != 0
    })
    .await;
    assert_eq!(regions.states().await.unwrap().len(), 1);
    running.stop().await;
}
