//! Pins, overrides and moves change who has a subnet, each fenced and written down.

use hierarchy::{Registry, Scope};
use model::{AgentId, PinId, Reason, SearchId, Strategy};
use serde_json::json;
use store::audit;
use store::constraints::{self, CreateOutcome, Kind, LostCompany, NewConstraint};
use store::delegations::{self, Assignment, Cause, DelegationOutcome};
use store::moves::{self, MoveCause};
use store::searches::{self, NewSearch, SearchKind};

use crate::world::{NOW, World, ip, range};

const SUBNET: &str = "198.51.100.0/24";

async fn pin(world: &World, agent: AgentId, expires_in_ms: Option<i64>) -> CreateOutcome {
    let scope = Scope::Range(range(SUBNET));
    let expires_at = expires_in_ms.map(|ms| NOW.plus_ms(ms));
    let new = NewConstraint {
        kind: Kind::Pin,
        scope: &scope,
        agent,
        reason: "a contract",
        by: "ada",
        expires_at,
    };
    constraints::create(world.store(), &new, NOW).await.unwrap()
}

fn assignment(agent: AgentId, fencing_number: i64, cause: Cause) -> Assignment<'static> {
    Assignment {
        subnet: range(SUBNET),
        agent,
        fencing_number,
        cause,
        by: "ada",
        note: "a contract",
    }
}

async fn assign(world: &World, assignment: &Assignment<'_>) -> DelegationOutcome {
    delegations::assign(world.store(), assignment, None, NOW).await.unwrap()
}

async fn actions(world: &World) -> Vec<String> {
    audit::list(world.store(), &audit::Filter::default(), i64::MAX, 10)
        .await
        .unwrap()
        .into_iter()
        .map(|entry| entry.action)
        .collect()
}

#[tokio::test]
async fn a_range_has_one_pin_until_it_expires() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    assert!(matches!(pin(&world, one, Some(1_000)).await, CreateOutcome::Created(_)));
    assert_eq!(pin(&world, two, None).await, CreateOutcome::Taken);
    for (after, count) in [(999, 1), (1_000, 0)] {
        let counting =
            constraints::list_active(world.store(), Kind::Pin, NOW.plus_ms(after)).await.unwrap();
        assert_eq!(counting.len(), count);
    }
}

#[tokio::test]
async fn an_agent_that_leaves_gets_nothing_by_a_pin() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let CreateOutcome::Created(id) = pin(&world, one, None).await else { panic!("not pinned") };
    store::agents::leave(world.store(), one, false, NOW).await.unwrap();
    let pinned = assignment(one, 0, Cause::Pin(PinId::new(id)));
    assert_eq!(assign(&world, &pinned).await, DelegationOutcome::AgentGone);
    assert_eq!(pin(&world, one, None).await, CreateOutcome::AgentGone);
    assert_eq!(constraints::expire(world.store(), NOW).await.unwrap(), 1);
    let written = audit::list(world.store(), &audit::Filter::default(), i64::MAX, 1).await.unwrap();
    assert_eq!(written[0].action, "pin.end");
    assert_eq!(written[0].detail["why"], "the agent leaves");
}

#[tokio::test]
async fn what_is_over_ends_once_and_is_written_down() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    pin(&world, one, Some(1_000)).await;
    assert_eq!(constraints::expire(world.store(), NOW).await.unwrap(), 0);
    assert_eq!(constraints::expire(world.store(), NOW.plus_ms(1_000)).await.unwrap(), 1);
    assert_eq!(constraints::expire(world.store(), NOW.plus_ms(1_000)).await.unwrap(), 0);
    assert!(
        matches!(pin(&world, two, None).await, CreateOutcome::Created(_)),
        "the range is free again"
    );
    let revoke = store::agents::Order::Revoke;
    store::agents::order(world.store(), two, revoke, "ada", NOW).await.unwrap();
    assert_eq!(constraints::expire(world.store(), NOW).await.unwrap(), 1, "its agent was revoked");
    assert_eq!(pin(&world, two, None).await, CreateOutcome::AgentGone);
    let all = constraints::list(world.store(), Kind::Pin, true, i64::MAX, 10).await.unwrap();
    assert_eq!(
        all.iter().map(|rule| rule.ended.clone().unwrap().1).collect::<Vec<_>>(),
        ["coordinator"; 2]
    );
    assert_eq!(actions(&world).await[..4], ["pin.end", "agent.revoke", "pin.create", "pin.end"]);
}

#[tokio::test]
async fn scopes_come_back_as_they_were_written() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let company = Scope::Company { registry: Registry::Arin, handle: "ORG-1".into() };
    let scopes =
        [Scope::Range(range("2001:db8::/32")), company, Scope::Country("CY".parse().unwrap())];
    for scope in &scopes {
        let new = NewConstraint {
            kind: Kind::Exclusion,
            scope,
            agent,
            reason: "r",
            by: "ada",
            expires_at: None,
        };
        let CreateOutcome::Created(id) =
            constraints::create(world.store(), &new, NOW).await.unwrap()
        else {
            panic!("taken")
        };
        let rule = constraints::list(world.store(), Kind::Exclusion, false, id + 1, 1)
            .await
            .unwrap()
            .remove(0);
        assert_eq!((&rule.scope, rule.agent_name.as_str()), (scope, "agent 1"));
        assert!(constraints::remove(world.store(), Kind::Exclusion, id, "ada", NOW).await.unwrap());
        assert!(
            !constraints::remove(world.store(), Kind::Exclusion, id, "ada", NOW).await.unwrap()
        );
    }
}

#[tokio::test]
async fn an_assignment_ends_what_held_and_the_search_and_is_fenced() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let search = NewSearch {
        subnet: range(SUBNET),
        target: ip("198.51.100.7"),
        host: "a.example".into(),
        port: 80,
    };
    searches::open(world.store(), &[search], Strategy::Threshold, 50_000, NOW).await.unwrap();
    assert!(matches!(
        assign(&world, &assignment(one, 0, Cause::Override)).await,
        DelegationOutcome::Applied(_)
    ));
    assert!(
        searches::undelegated_subnets(world.store()).await.unwrap().is_empty(),
        "the search is over"
    );
    assert_eq!(
        assign(&world, &assignment(two, 0, Cause::Override)).await,
        DelegationOutcome::Outdated
    );
    let CreateOutcome::Created(id) = pin(&world, two, Some(1_000)).await else {
        panic!("not pinned")
    };
    let pinned = assignment(two, 1, Cause::Pin(PinId::new(id)));
    assert!(matches!(assign(&world, &pinned).await, DelegationOutcome::Applied(_)));
    let held = delegations::list_active(world.store()).await.unwrap();
    assert_eq!(
        (held.len(), held[0].agent, held[0].fencing_number, held[0].reason),
        (1, two, 2, Reason::Pinned)
    );
    assert_eq!(
        delegations::pinned(world.store()).await.unwrap(),
        [(range(SUBNET), PinId::new(id))]
    );
    assert_eq!(actions(&world).await[..3], ["delegation.pin", "pin.create", "delegation.override"]);
}

/// A subnet that is pinned with a search open that began at this time, the pin and the search.
async fn pinned_and_searched(world: &World, searched_ms: i64) -> (PinId, SearchId) {
    let agent = world.approved(1, None).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    let CreateOutcome::Created(id) = pin(world, agent, None).await else { panic!("not pinned") };
    let pin = PinId::new(id);
    assert!(matches!(
        assign(world, &assignment(agent, 0, Cause::Pin(pin))).await,
        DelegationOutcome::Applied(_)
    ));
    let search = NewSearch {
        subnet: range(SUBNET),
        target: ip("198.51.100.7"),
        host: "a.example".into(),
        port: 80,
    };
    searches::open(world.store(), &[search], Strategy::Threshold, 50_000, NOW.plus_ms(searched_ms))
        .await
        .unwrap();
    (pin, open_searches(world).await[0])
}

async fn open_searches(world: &World) -> Vec<SearchId> {
    let open = world.open_searches(SearchKind::Undelegated).await;
    open.iter().map(|search| search.id).collect()
}

#[tokio::test]
async fn a_search_that_began_under_a_pin_does_not_keep_the_subnet_from_being_searched_for_after_it()
{
    let world = World::new().await;
    let (pin, search) = pinned_and_searched(&world, 1).await;
    assert!(searches::leave_pinned(world.store(), search, NOW.plus_ms(2)).await.unwrap());
    let found =
        async || searches::targets(world.store(), &[range(SUBNET)], NOW, NOW).await.unwrap().len();
    assert_eq!(found().await, 0, "it was searched for after it was pinned");
    constraints::remove(world.store(), Kind::Pin, pin.get(), "ada", NOW.plus_ms(3)).await.unwrap();
    assert_eq!(found().await, 1);
}

#[tokio::test]
async fn a_search_goes_on_when_its_pin_was_removed_meanwhile() {
    let world = World::new().await;
    let (pin, search) = pinned_and_searched(&world, 2).await;
    constraints::remove(world.store(), Kind::Pin, pin.get(), "ada", NOW.plus_ms(1)).await.unwrap();
    assert!(!searches::leave_pinned(world.store(), search, NOW.plus_ms(3)).await.unwrap());
    assert_eq!(open_searches(&world).await, [search]);
}

#[tokio::test]
async fn a_pin_that_is_over_and_an_agent_that_is_gone_get_nothing() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let CreateOutcome::Created(id) = pin(&world, agent, Some(1_000)).await else {
        panic!("not pinned")
    };
    let pinned = assignment(agent, 0, Cause::Pin(PinId::new(id)));
    let late = delegations::assign(world.store(), &pinned, None, NOW.plus_ms(1_000)).await.unwrap();
    assert_eq!(late, DelegationOutcome::Outdated);
    let revoke = store::agents::Order::Revoke;
    store::agents::order(world.store(), agent, revoke, "ada", NOW).await.unwrap();
    assert_eq!(
        assign(&world, &assignment(agent, 0, Cause::Override)).await,
        DelegationOutcome::AgentGone
    );
    assert!(delegations::list_active(world.store()).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_move_is_made_with_its_reasons_or_not_at_all() {
    let world = World::new().await;
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    assign(&world, &assignment(one, 0, Cause::Override)).await;
    let new = moves::New {
        subnet: range(SUBNET),
        from: one,
        to: two,
        fencing_number: 1,
        cause: MoveCause::Pass,
        pages_a_day: 7,
        before_ms: Some(70.0),
        after_ms: 35.0,
        refused: &json!([{ "why": "full" }]),
        is_within_region: false,
        note: "it saves 35 ms a day",
    };
    let execute = || async { moves::execute(world.store(), &new, NOW).await.unwrap() };
    let DelegationOutcome::Applied(delegation) = execute().await else { panic!("not moved") };
    assert_eq!(execute().await, DelegationOutcome::Outdated, "decided after number 1");
    let made = moves::list(world.store(), i64::MAX, 10).await.unwrap();
    assert_eq!(made.len(), 1);
    assert_eq!((made[0].before_ms, made[0].after_ms, made[0].pages_a_day), (Some(70.0), 35.0, 7));
    assert_eq!((made[0].from.1.as_str(), made[0].to.1.as_str()), ("agent 1", "agent 2"));
    assert_eq!(
        moves::of_delegation(world.store(), delegation).await.unwrap().as_ref(),
        Some(&made[0])
    );
    assert_eq!(moves::of_passes_since(world.store(), NOW.plus_ms(-1)).await.unwrap(), 1);
    assert_eq!(moves::of_passes_since(world.store(), NOW).await.unwrap(), 0);
    let back =
        moves::New { from: two, to: one, fencing_number: 2, cause: MoveCause::Relief, ..new };
    moves::execute(world.store(), &back, NOW).await.unwrap();
    assert_eq!(moves::list(world.store(), i64::MAX, 1).await.unwrap()[0].cause, MoveCause::Relief);
    assert_eq!(moves::of_passes_since(world.store(), NOW.plus_ms(-1)).await.unwrap(), 1);
}

#[tokio::test]
async fn constraints_follow_their_companies_unless_another_is_there() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let company = |handle: &str| Scope::Company { registry: Registry::Arin, handle: handle.into() };
    let create = async |kind, handle| {
        let scope = company(handle);
        let new = NewConstraint {
            kind,
            scope: &scope,
            agent,
            reason: "a contract",
            by: "ada",
            expires_at: None,
        };
        constraints::create(world.store(), &new, NOW).await.unwrap()
    };
    let mut lost = Vec::new();
    for (kind, handle) in
        [(Kind::Pin, "a1"), (Kind::Pin, "a2"), (Kind::Exclusion, "a1"), (Kind::Exclusion, "gone")]
    {
        let CreateOutcome::Created(id) = create(kind, handle).await else { panic!("not created") };
        let becomes = (handle != "gone").then(|| company("ORG-A"));
        lost.push(LostCompany { kind, id, scope: company(handle), becomes });
    }
    constraints::follow_companies(world.store(), &lost, NOW).await.unwrap();
    let scopes = async |kind| {
        let rules = constraints::list(world.store(), kind, false, i64::MAX, 9).await.unwrap();
        rules.into_iter().map(|rule| rule.scope).collect::<Vec<_>>()
    };
    assert_eq!(scopes(Kind::Pin).await, [company("ORG-A")]);
    assert_eq!(scopes(Kind::Exclusion).await, [company("gone"), company("ORG-A")]);
    assert_eq!(actions(&world).await[..3], ["exclusion.remap", "pin.end", "pin.remap"]);
}
