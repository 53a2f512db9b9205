//! Subnets that are lent to a region: what admins see of them, and homes of its members.

use std::sync::Arc;

use coordinator::placement::agent_administration::AgentAction;
use coordinator::placement::constraints::assign::assign;
use coordinator::placement::{apply_constraints, settle_homes};
use coordinator::runtime::outcome::Outcome;
use coordinator::runtime::region_moves::addresses;
use hierarchy::Range;
use model::{AgentId, RegionId};
use region::moves::{KnownMember, ListedSubnets, RegionMoves, RegionSubnets};
use region::roster::Version;
use reqwest::StatusCode;
use serde_json::{Value, json};
use store::Term;
use store::delegations::{Assignment, Cause, DelegationOutcome, subnet_states};
use store::regions::{self, StoredRegion};

use crate::agents::{crawl_north, two_agents};
use crate::browser::Browser;
use crate::world::{Ground, Running, until};

const SUBNET: &str = "198.51.100.0/26";
const HOME_OF_TWO: &str = "127.0.0.2/32";
const REGION: RegionId = RegionId::new(1);

/// A region of these members, lent for an hour.
async fn lend(running: &Running, members: &[AgentId]) {
    let now = running.coordinator.now();
    let region = StoredRegion {
        id: REGION,
        name: "ripencc".into(),
        settings: json!({}),
        view: Vec::new(),
        promises: None,
        lent_until: now.plus_ms(3_600_000),
    };
    let store = &running.coordinator.store;
    let term = Term::latest(store).await.unwrap();
    regions::create(store, term, &region, members, now).await.unwrap();
}

/// The leader knows that all members know of the subnet at its agent.
fn publish(running: &Running, subnet: &str, holder: AgentId, members: &[AgentId]) {
    let version = Version { epoch: 1, delta: 0 };
    let range: Range = subnet.parse().unwrap();
    let listed = [(addresses(&range), holder)].into_iter();
    let known = KnownMember { version: Some(version), is_alive: true };
    let subnets = RegionSubnets {
        members: members.iter().map(|member| (*member, known)).collect(),
        listed: Arc::new(ListedSubnets::default().updated(listed, version)),
    };
    let moves = RegionMoves::new([(REGION, subnets)]);
    running.coordinator.placement.region_moves.store(Arc::new(moves));
}

async fn held(browser: &Browser, subnet: &str) -> Value {
    browser.read(&format!("/api/v1/delegations?q={subnet}")).await["items"][0].clone()
}

fn pin_to(agent: AgentId) -> Value {
    json!({ "scope": { "range": SUBNET }, "agent": agent, "reason": "r" })
}

/// The preview of a pin, which says that its subnet is lent.
async fn preview_of_lent(browser: &Browser, pin: &Value) -> Value {
    let answer = browser.post("/api/v1/pins?dry_run=true", pin.clone()).await.well();
    let preview = answer["preview"].clone();
    assert_eq!((&preview["subnets"], &preview["lent"]), (&json!(0), &json!(1)), "{preview}");
    preview
}

/// Makes a pin, which is not applied because its subnet is lent.
async fn make_pin_that_waits(running: &Running, browser: &Browser, pin: Value) {
    let made = browser.post("/api/v1/pins", pin).await;
    assert_eq!(made.status, StatusCode::CREATED);
    let outcome = apply_constraints::run(&running.coordinator.placement).await.unwrap();
    let Outcome::Done(done) = outcome else { panic!("{outcome:?}") };
    assert!(done.contains("1 subnet lent to a region"), "{done}");
}

#[tokio::test]
async fn a_subnet_that_is_lent_stays_and_previews_say_so() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    lend(&running, &[two.id]).await;

    let pin = pin_to(one.id);
    let preview = preview_of_lent(&browser, &pin).await;
    assert_eq!((&preview["reassignments"], &preview["agents"]), (&json!([]), &json!([])));
    let takeover = browser.read(&format!("/api/v1/agents/{}/takeover", two.id)).await;
    let moves = takeover["preview"]["reassignments"].as_array().unwrap();
    let north = moves.iter().find(|moved| moved["subnet"] == SUBNET).unwrap();
    assert_eq!(north["to"], Value::Null, "the other agent is in no region");
    let id = held(&browser, SUBNET).await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/delegations/{id}/override?dry_run=true");
    let refused = browser.post(&path, json!({ "agent": one.id, "reason": "r" })).await;
    let problem = refused.problem(StatusCode::CONFLICT, "conflict");
    assert!(problem["detail"].as_str().unwrap().contains("lent to a region"), "{problem}");

    publish(&running, SUBNET, two.id, &[two.id]);
    make_pin_that_waits(&running, &browser, pin).await;
    assert_eq!(held(&browser, SUBNET).await["agent"]["id"], json!(two.id));
    running.stop().await;
}

#[tokio::test]
async fn a_pin_of_a_subnet_that_lost_its_agent_waits_for_the_end_of_the_loan() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    lend(&running, &[two.id]).await;
    running.order(two.id, AgentAction::Revoke).await;
    assert_eq!(held(&browser, SUBNET).await, Value::Null);

    let pin = pin_to(one.id);
    preview_of_lent(&browser, &pin).await;
    make_pin_that_waits(&running, &browser, pin).await;
    let placement = &running.coordinator.placement;

    let over = "UPDATE regions SET lent_until = 'epoch'";
    store::testing::execute(ground.store(), over).await.unwrap();
    until("the pin is applied", async || {
        apply_constraints::run(placement).await.unwrap();
        held(&browser, SUBNET).await["agent"]["id"] == json!(one.id)
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn a_subnet_moves_to_another_member_of_its_region() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (mut one, mut two) = two_agents(&running).await;
    crawl_north(&running, &mut one, &mut two).await;
    lend(&running, &[one.id, two.id]).await;
    publish(&running, SUBNET, two.id, &[one.id, two.id]);
    let id = held(&browser, SUBNET).await["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/delegations/{id}/override");
    let body = json!({ "agent": one.id, "reason": "r" });
    let preview = browser.post(&format!("{path}?dry_run=true"), body.clone()).await.well();
    let preview = &preview["preview"];
    assert_eq!((&preview["subnets"], &preview["lent"]), (&json!(1), &json!(0)), "{preview}");
    browser.post(&path, body).await.well();
    assert_eq!(held(&browser, SUBNET).await["agent"]["id"], json!(one.id));
    running.stop().await;
}

#[tokio::test]
async fn a_member_gets_its_home_back_after_a_drain() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let (one, two) = two_agents(&running).await;
    let members = [one.id, two.id];
    lend(&running, &members).await;
    publish(&running, HOME_OF_TWO, two.id, &members);
    let placement = &running.coordinator.placement;
    let home: Range = HOME_OF_TWO.parse().unwrap();
    let fencing_number =
        subnet_states(&running.coordinator.store, &[home]).await.unwrap()[0].fencing_number;
    let drained = Assignment {
        subnet: home,
        agent: one.id,
        fencing_number,
        cause: Cause::Drain,
        by: "admin",
        note: "its agent was drained",
    };
    let moved = assign(placement, &drained).await.unwrap();
    assert!(matches!(moved, DelegationOutcome::Applied(_)), "{moved:?}");
    publish(&running, HOME_OF_TWO, one.id, &members);
    settle_homes::run(placement).await.unwrap();
    let held = held(&browser, HOME_OF_TWO).await;
    assert_eq!((&held["agent"]["id"], &held["reason"]), (&json!(two.id), &json!("home")));
    running.stop().await;
}
