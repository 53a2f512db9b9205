//! Two coordinators on one database: what one does is known to the other at once.

use coordinator::placement::agent_administration::AgentAction;
use coordinator::placement::constraints::override_delegation::{Override, override_once};
use delegation::Delegation;
use hierarchy::Range;
use model::{AgentId, Reason};
use store::testing::{execute, leader_heard_at};

use crate::agent::FakeAgent;
use crate::world::{Ground, Running, until};

const URL: &str = "http://198.51.100.1/";
const SUBNET: &str = "198.51.100.0/26";

/// Who holds the subnet by the coordinator's own delegation table.
fn holder(running: &Running) -> Option<Delegation> {
    let delegated = running.coordinator.delegated()?;
    let subnet = delegated.hierarchy().find(&SUBNET.parse::<Range>().unwrap())?;
    delegated.delegation_table().get(subnet)
}

async fn until_held(running: &Running, holding: Option<Delegation>) {
    until("the delegation_table says so", || std::future::ready(holder(running) == holding)).await;
}

/// One that decides, in which an agent got the subnet by a search, and one beside it.
async fn two(ground: &Ground, beside: &tempfile::TempDir) -> (Running, Running, FakeAgent) {
    let leader = ground.start().await;
    leader.until_hierarchy_is_loaded().await;
    until("it decides", || std::future::ready(leader.coordinator.is_leader())).await;
    let mut near = FakeAgent::approved(&leader, 1).await;
    leader.add_seeds(&[URL]).await;
    let order = near.orders(&leader).await.remove(0);
    near.measured(&leader, &order, 9_000).await;
    assert_eq!(near.routes(&leader).await[0].url, URL);
    let other = ground.start_beside(beside).await;
    let held = store::delegations::list_active(ground.store()).await.unwrap();
    assert!(held.iter().any(|held| held.reason == Reason::Threshold), "{held:?}");
    until_held(&other, Some(Delegation { agent: near.id, reason: Reason::Threshold })).await;
    assert!(!other.coordinator.is_leader());
    (leader, other, near)
}

async fn override_at(running: &Running, agent: AgentId) {
    let held = store::delegations::list_active(&running.coordinator.store).await.unwrap();
    let subnet: Range = SUBNET.parse().unwrap();
    let delegation = held.iter().find(|held| held.subnet == subnet).unwrap().id;
    let wish = Override { delegation, subnet, agent, reason: "trying something", by: "ada" };
    override_once(&running.coordinator.placement, &wish, false).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_is_done_by_hand_at_one_is_in_the_book_of_the_other() {
    let ground = Ground::new().await.with_shared_storage();
    let beside = tempfile::tempdir().unwrap();
    let (leader, other, near) = two(&ground, &beside).await;
    let second = FakeAgent::approved(&other, 2).await;
    until("its home is in the leader's delegation_table", || {
        let delegated = leader.coordinator.delegated().unwrap();
        std::future::ready(
            delegated.delegation_table().iter().any(|(_, holding)| holding.agent == second.id),
        )
    })
    .await;

    override_at(&other, second.id).await;
    until_held(&leader, Some(Delegation { agent: second.id, reason: Reason::Override })).await;
    override_at(&leader, near.id).await;
    until_held(&other, Some(Delegation { agent: near.id, reason: Reason::Override })).await;
    override_at(&other, second.id).await;
    until_held(&leader, Some(Delegation { agent: second.id, reason: Reason::Override })).await;

    // Nobody has its subnets any more.
    other.order(second.id, AgentAction::Revoke).await;
    until_held(&leader, None).await;
    other.stop().await;
    leader.stop().await;
}

#[tokio::test]
async fn what_one_decides_is_in_the_book_of_the_other() {
    let ground = Ground::new().await.with_shared_storage();
    let beside = tempfile::tempdir().unwrap();
    let leader = ground.start().await;
    leader.until_hierarchy_is_loaded().await;
    until("it decides", || std::future::ready(leader.coordinator.is_leader())).await;
    let other = ground.start_beside(&beside).await;
    other.until_hierarchy_is_loaded().await;
    let mut near = FakeAgent::approved(&leader, 1).await;
    assert_eq!(holder(&other), None);
    leader.add_seeds(&[URL]).await;
    let order = near.orders(&leader).await.remove(0);
    near.measured(&leader, &order, 9_000).await;
    until_held(&other, Some(Delegation { agent: near.id, reason: Reason::Threshold })).await;
    other.stop().await;
    leader.stop().await;
}

#[tokio::test]
async fn what_was_not_heard_is_found_in_the_store() {
    let ground = Ground::new().await.with_shared_storage();
    let beside = tempfile::tempdir().unwrap();
    let (leader, other, _near) = two(&ground, &beside).await;
    // A coordinator may have learned of the delegation before it listens.
    let listening = "SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%nearcrawl_delegations%'";
    until("both listen", || async { execute(ground.store(), listening).await.unwrap() == 2 }).await;
    // Nobody is told of this, and then the line breaks.
    execute(
        ground.store(),
        "UPDATE delegations SET ended_at = decided_at WHERE reason = 'threshold'",
    )
    .await
    .unwrap();
    let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
               WHERE datname = current_database() AND query LIKE 'LISTEN%nearcrawl_delegations%'";
    assert_eq!(execute(ground.store(), cut).await.unwrap(), 2);
    until_held(&other, None).await;
    other.stop().await;
    leader.stop().await;
}

/// Postgres ends a session that is silent for 15 seconds, and millions of delegations take longer
/// to read on a busy machine.
#[tokio::test]
async fn a_new_leader_keeps_its_leadership_while_it_prepares() {
    let ground = Ground::new().await.with_shared_storage();
    let beside = tempfile::tempdir().unwrap();
    let (leader, other, _) = two(&ground, &beside).await;
    let writing = other.coordinator.hierarchy.writing().await;
    leader.stop().await;
    for sign in ["first", "second", "third"] {
        let before = leader_heard_at(ground.store()).await.unwrap();
        until(&format!("{sign} sign of life"), || async {
            let now = leader_heard_at(ground.store()).await.unwrap();
            now.is_some() && now != before
        })
        .await;
    }
    assert!(!other.coordinator.is_leader());
    drop(writing);
    until("it leads", || std::future::ready(other.coordinator.is_leader())).await;
    other.stop().await;
}
