//! Subnets that are lent to a region: who may get them, and how their hosts move.

use model::{AgentId, DelegationId, Reason, RegionId, UnixMillis};
use serde_json::json;
use store::delegations::{self, Assignment, Cause, Decision, DelegationOutcome};
use store::regions::{self, StoredRegion};
use store::searches::{self, NewSearch, SearchKind};
use store::takeovers::{self, Direction, Transfer};
use store::testing::{begin, execute};
use store::{StoreError, Term, handovers, routes};

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
    regions::create(world.store(), Term::default(), &region, members, NOW).await.unwrap();
}

async fn assign(
    world: &World,
    agent: AgentId,
    moved_from: Option<AgentId>,
    now: UnixMillis,
) -> DelegationOutcome {
    let cause = Cause::Override;
    let assignment = Assignment {
        subnet: range(SUBNET),
        agent,
        fencing_number: 1,
        cause,
        by: "ada",
        note: "near",
    };
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
    assert_eq!(assign(&world, stranger, None, NOW).await, DelegationOutcome::Lent);
    assert_eq!(assign(&world, other, None, NOW).await, DelegationOutcome::Lent, "not checked");
    // Who is named as the present agent must have it.
    assert_eq!(assign(&world, other, Some(stranger), NOW).await, DelegationOutcome::Lent);
    let moved = assign(&world, other, Some(member), NOW).await;
    assert!(matches!(moved, DelegationOutcome::Applied(_)), "{moved:?}");
}

#[tokio::test]
async fn hosts_of_a_move_within_a_region_are_the_new_agents_at_once() {
    let (world, member, other) = handed_out().await;
    lend(&world, &[member, other]).await;
    assert!(matches!(
        assign(&world, other, Some(member), NOW).await,
        DelegationOutcome::Applied(_)
    ));
    assert!(handovers::open(world.store(), member, &[], 10).await.unwrap().is_empty());
    assert!(routes::after(world.store(), member, 0, 10).await.unwrap().is_empty());
    let routed = routed_to(&world).await;
    assert!(!routed.is_empty() && routed.iter().all(|agent| *agent == other), "{routed:?}");
}

#[tokio::test]
async fn a_subnet_keeps_its_agent_while_it_is_lent() {
    let (world, member, _) = handed_out().await;
    lend(&world, &[member]).await;
    let subnet = range(SUBNET);
    let release = |at| delegations::release(world.store(), &subnet, 1, "ada", "why", at);
    assert!(!release(NOW).await.unwrap());
    assert!(release(NOW.plus_ms(3_600_001)).await.unwrap());
}

#[tokio::test]
async fn a_home_is_given_when_it_is_not_lent_any_more() {
    let (world, member, _) = handed_out().await;
    let stranger = world.approved(3, None).await;
    lend(&world, &[member]).await;
    let home = range(SUBNET);
    let settle = |at| delegations::settle_home(world.store(), stranger, &home, None, at);
    assert!(!settle(NOW).await.unwrap());
    assert_eq!(holder(&world).await, member);
    assert!(settle(NOW.plus_ms(3_600_001)).await.unwrap());
    assert_eq!(holder(&world).await, stranger);
}

#[tokio::test]
async fn a_home_goes_back_to_its_agent_within_its_region() {
    let (world, member, other) = handed_out().await;
    lend(&world, &[member, other]).await;
    let home = range(SUBNET);
    let settle = |from| delegations::settle_home(world.store(), other, &home, from, NOW);
    assert!(!settle(None).await.unwrap(), "not checked");
    assert!(settle(Some(member)).await.unwrap());
    assert_eq!(holder(&world).await, other);
    assert!(handovers::open(world.store(), member, &[], 10).await.unwrap().is_empty());
    assert!(routed_to(&world).await.iter().all(|agent| *agent == other));
}

#[tokio::test]
async fn subnets_of_an_agent_that_was_let_go_are_free() {
    let (world, member, other) = handed_out().await;
    let stranger = world.approved(3, None).await;
    lend(&world, &[member, other]).await;
    regions::let_go(world.store(), Term::default(), RegionId::new(1), &[member]).await.unwrap();
    let members = regions::members(world.store()).await.unwrap();
    assert_eq!(members.get(&RegionId::new(1)), Some(&vec![other]));
    let moved = assign(&world, stranger, None, NOW).await;
    assert!(matches!(moved, DelegationOutcome::Applied(_)), "{moved:?}");
}

#[tokio::test]
async fn after_the_loan_the_coordinator_hands_over() {
    let (world, member, other) = handed_out().await;
    lend(&world, &[member]).await;
    let later = NOW.plus_ms(3_600_001);
    let moved = assign(&world, other, None, later).await;
    assert!(matches!(moved, DelegationOutcome::Applied(_)), "{moved:?}");
    assert_eq!(handovers::open(world.store(), member, &[], 10).await.unwrap().len(), 1);
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
            fencing_number: 1,
            reason: Reason::Threshold,
            provisional: false,
            rtt_us: Some(9_000),
            moved_from,
            skipped: &[],
        };
        delegations::decide_all(world.store(), &[decision], NOW).await.unwrap()[0]
    };
    assert_eq!(decide(None).await, DelegationOutcome::Lent);
    assert!(matches!(decide(Some(member)).await, DelegationOutcome::Applied(_)));
    assert!(world.open_searches(SearchKind::Undelegated).await.is_empty());
    assert!(handovers::open(world.store(), member, &[], 10).await.unwrap().is_empty());
}

/// Another coordinator is elected.
const ELECTION: &str = "INSERT INTO settings (name, value) VALUES ('leader_term', '1')";

fn is_refused<T>(result: &Result<T, StoreError>) -> bool {
    matches!(result, Err(StoreError::Deposed))
}

#[tokio::test]
async fn a_deposed_leader_writes_nothing_of_a_region() {
    let (world, member, other) = handed_out().await;
    let store = world.store();
    lend(&world, &[member]).await;
    let deposed = Term::latest(store).await.unwrap();
    execute(store, ELECTION).await.unwrap();
    let region = RegionId::new(1);
    let before = (regions::list(store).await.unwrap(), regions::members(store).await.unwrap());
    let until = NOW.plus_ms(7_200_000);
    assert!(is_refused(&regions::save_view(store, deposed, region, b"old", &[other]).await));
    assert!(is_refused(&regions::save_promises(store, deposed, region, b"old").await));
    assert!(is_refused(&regions::save_loan(store, deposed, region, until).await));
    assert!(is_refused(&regions::let_go(store, deposed, region, &[member]).await));
    let new = StoredRegion { id: RegionId::new(2), name: "arin".into(), ..before.0[0].clone() };
    assert!(is_refused(&regions::create(store, deposed, &new, &[other], NOW).await));
    let after = (regions::list(store).await.unwrap(), regions::members(store).await.unwrap());
    assert_eq!(after, before);
    let leader = Term::latest(store).await.unwrap();
    regions::save_promises(store, leader, region, b"new").await.unwrap();
}

#[tokio::test]
async fn a_deposed_leader_moves_no_subnet_within_a_region() {
    let (world, member, other) = handed_out().await;
    let store = world.store();
    let states = async || delegations::subnet_states(store, &[range(SUBNET)]).await.unwrap();
    let before = states().await;
    let fencing_number = before[0].fencing_number;
    let transfer = Transfer { subnet: range(SUBNET), fencing_number, from: member, to: other };
    let deposed = Term::latest(store).await.unwrap();
    execute(store, ELECTION).await.unwrap();
    let outcome = |term, direction| takeovers::execute(store, term, &transfer, direction, NOW);
    assert!(is_refused(&outcome(deposed, Direction::Takeover).await));
    assert!(is_refused(&outcome(deposed, Direction::Return).await));
    assert_eq!(states().await, before);
    let leader = Term::latest(store).await.unwrap();
    assert!(outcome(leader, Direction::Takeover).await.unwrap().is_some());
}

#[tokio::test]
async fn a_subnet_that_returns_to_its_agent_counts_as_one_decision() {
    let (world, member, other) = handed_out().await;
    let store = world.store();
    let decisions = async || {
        let kept = "SELECT FROM count_changes WHERE name = 'decisions'";
        execute(store, kept).await.unwrap()
    };
    let before = decisions().await;
    let state = delegations::subnet_states(store, &[range(SUBNET)]).await.unwrap().remove(0);
    let fencing_number = state.fencing_number;
    let transfer = Transfer { subnet: range(SUBNET), fencing_number, from: member, to: other };
    let leader = Term::latest(store).await.unwrap();
    let takeover = Direction::Takeover;
    takeovers::execute(store, leader, &transfer, takeover, NOW).await.unwrap().unwrap();
    let back = takeovers::to_return(store, &[member], DelegationId::new(0), 10).await.unwrap();
    let given = takeovers::execute(store, leader, &back[0].1, Direction::Return, NOW).await;
    given.unwrap().unwrap();
    assert_eq!(decisions().await, before);
}

#[tokio::test]
async fn a_leader_that_is_deposed_while_it_writes_is_refused() {
    let (world, member, _) = handed_out().await;
    lend(&world, &[member]).await;
    let deposed = Term::latest(world.store()).await.unwrap();
    execute(world.store(), ELECTION).await.unwrap();
    let elected = Term::latest(world.store()).await.unwrap();
    assert_ne!(elected, deposed);
    let next = "UPDATE settings SET value = '2' WHERE name = 'leader_term'";
    let election = begin(world.store(), next).await.unwrap();
    let store = world.store().clone();
    let saving = tokio::spawn(async move {
        regions::save_promises(&store, elected, RegionId::new(1), b"old").await
    });
    let waits = "SELECT FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock'";
    while !saving.is_finished() && execute(world.store(), waits).await.unwrap() == 0 {
        tokio::task::yield_now().await;
    }
    election.commit().await.unwrap();
    assert!(is_refused(&saving.await.unwrap()));
}
