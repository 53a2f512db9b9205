//! Subnets that are lent to a region: who may get them, and how their hosts move.

use model::{AgentId, Reason, RegionId, UnixMillis};
use serde_json::json;
use store::delegations::{self, Assignment, AssignmentOutcome, Cause, Decision, DecisionOutcome};
use store::regions::{self, StoredRegion};
use store::searches::{self, NewSearch, SearchKind};
use store::{drains, handovers, routes};

use crate::handovers::{SUBNET, world as handed_out};
use crate::world::{NOW, World, ip, range};

/// A region of these members, lent for an hour.
async fn lend(world: &World, members: &[AgentId]) {
    let region = StoredRegion {
        id: RegionId::new(1),
        name: "ripencc".into(),
        settings: json!({}),
        view: Vec::new(),
        promises: None,
        lent_until: NOW.plus_ms(3_600_000),
    };
    regions::create(world.store(), &region, members, NOW).await.unwrap();
}

async fn assign(
    world: &World,
    agent: AgentId,
    moved_from: Option<AgentId>,
    now: UnixMillis,
) -> AssignmentOutcome {
    let cause = Cause::Override;
    let assignment =
        Assignment { subnet: range(SUBNET), agent, generation: 1, cause, by: "ada", note: "near" };
    delegations::assign(world.store(), &assignment, moved_from, now).await.unwrap()
}

/// Who holds the subnet.
async fn holder(world: &World) -> AgentId {
    let states = delegations::subnet_states(world.store(), &[range(SUBNET)]).await.unwrap();
    states[0].held.as_ref().unwrap().agent
}

/// Who gets the URLs of the host now.
async fn routed_to(world: &World) -> Vec<AgentId> {
    let routed = routes::route(world.store(), 100, 100).await.unwrap();
    routed.into_iter().map(|route| route.agent).collect()
}

#[tokio::test]
async fn a_lent_subnet_moves_only_within_its_region() {
    let (world, member, other) = handed_out().await;
    let stranger = world.approved(3, None).await;
    lend(&world, &[member, other]).await;
    assert_eq!(assign(&world, stranger, None, NOW).await, AssignmentOutcome::Lent);
    assert_eq!(assign(&world, other, None, NOW).await, AssignmentOutcome::Lent, "not checked");
    // Who is named as the present agent must have it.
    assert_eq!(assign(&world, other, Some(stranger), NOW).await, AssignmentOutcome::Lent);
    let moved = assign(&world, other, Some(member), NOW).await;
    assert!(matches!(moved, AssignmentOutcome::Applied(_)), "{moved:?}");
}

#[tokio::test]
async fn hosts_of_a_move_within_a_region_are_the_new_agents_at_once() {
    let (world, member, other) = handed_out().await;
    lend(&world, &[member, other]).await;
    assert!(matches!(
        assign(&world, other, Some(member), NOW).await,
        AssignmentOutcome::Applied(_)
    ));
    assert!(handovers::open(world.store(), member, 10).await.unwrap().is_empty());
    assert!(routes::after(world.store(), member, 0, 10).await.unwrap().is_empty());
    let routed = routed_to(&world).await;
    assert!(!routed.is_empty() && routed.iter().all(|agent| *agent == other), "{routed:?}");
}

#[tokio::test]
async fn a_subnet_keeps_its_agent_while_it_is_lent() {
    let (world, member, _) = handed_out().await;
    lend(&world, &[member]).await;
    let subnet = range(SUBNET);
    assert!(!delegations::release(world.store(), &subnet, 1, NOW).await.unwrap());
    assert!(!drains::take_away(world.store(), &subnet, 1, "ada", NOW).await.unwrap());
    let after = NOW.plus_ms(3_600_001);
    assert!(drains::take_away(world.store(), &subnet, 1, "ada", after).await.unwrap());
}

#[tokio::test]
async fn a_home_is_given_when_it_is_not_lent_any_more() {
    let (world, member, _) = handed_out().await;
    let stranger = world.approved(3, None).await;
    lend(&world, &[member]).await;
    let home = range(SUBNET);
    let settle = |at| delegations::settle_home(world.store(), stranger, &home, at);
    assert!(!settle(NOW).await.unwrap());
    assert_eq!(holder(&world).await, member);
    assert!(settle(NOW.plus_ms(3_600_001)).await.unwrap());
    assert_eq!(holder(&world).await, stranger);
}

#[tokio::test]
async fn subnets_of_an_agent_that_was_let_go_are_free() {
    let (world, member, other) = handed_out().await;
    let stranger = world.approved(3, None).await;
    lend(&world, &[member, other]).await;
    regions::let_go(world.store(), RegionId::new(1), &[member]).await.unwrap();
    let members = regions::members(world.store()).await.unwrap();
    assert_eq!(members.get(&RegionId::new(1)), Some(&vec![other]));
    let moved = assign(&world, stranger, None, NOW).await;
    assert!(matches!(moved, AssignmentOutcome::Applied(_)), "{moved:?}");
}

#[tokio::test]
async fn after_the_loan_the_coordinator_hands_over() {
    let (world, member, other) = handed_out().await;
    lend(&world, &[member]).await;
    let later = NOW.plus_ms(3_600_001);
    let moved = assign(&world, other, None, later).await;
    assert!(matches!(moved, AssignmentOutcome::Applied(_)), "{moved:?}");
    assert_eq!(handovers::open(world.store(), member, 10).await.unwrap().len(), 1);
    assert_eq!(routed_to(&world).await, []);
}

#[tokio::test]
async fn a_search_moves_a_lent_subnet_within_its_region() {
    let (world, member, other) = handed_out().await;
    lend(&world, &[member, other]).await;
    let subnet = range(SUBNET);
    let target = ip("198.51.100.7");
    let new = NewSearch { subnet, target, host: "a.example".into(), port: 80 };
    searches::open(world.store(), &[new], model::Strategy::Threshold, 50_000, NOW).await.unwrap();
    let open = world.open_searches(SearchKind::Undelegated).await;
    let decide = async |moved_from| {
        let decision = Decision {
            search: open[0].id,
            subnet,
            agent: other,
            generation: 1,
            reason: Reason::Threshold,
            provisional: false,
            rtt_us: Some(9_000),
            moved_from,
            skipped: &[],
        };
        delegations::decide(world.store(), &decision, NOW).await.unwrap()
    };
    assert_eq!(decide(None).await, DecisionOutcome::Lent);
    assert!(matches!(decide(Some(member)).await, DecisionOutcome::Applied(_)));
    assert!(world.open_searches(SearchKind::Undelegated).await.is_empty());
    assert!(handovers::open(world.store(), member, 10).await.unwrap().is_empty());
}
