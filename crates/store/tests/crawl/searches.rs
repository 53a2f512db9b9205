//! A search step by step, and everything that may come too late.

use model::{AgentId, Phase, ProbeMethod, ProbeState, Reason, SearchId, Strategy};
use protocol::{ProbeReport, ProbeResult};
use serde_json::json;
use store::audit::{self, Filter};
use store::delegations::{self, Decision, DelegationOutcome};
use store::probes::{self, NewProbe, NewReports};
use store::searches::{self, NewSearch, OpenSearch, OpenSearchFilter, Retries, SearchKind};
use store::testing::execute;

use crate::world::{NOW, World, ip, range};

const SUBNET: &str = "198.51.100.0/24";

pub(crate) async fn open(world: &World) {
    let search = NewSearch {
        subnet: range(SUBNET),
        target: ip("198.51.100.7"),
        host: "a.example:81".into(),
        port: 81,
    };
    searches::open(world.store(), &[search], Strategy::Threshold, 50_000, NOW).await.unwrap();
}

pub(crate) async fn only(world: &World, kind: SearchKind) -> Option<OpenSearch> {
    let mut found = world.open_searches(kind).await;
    assert!(found.len() < 2);
    found.pop()
}

pub(crate) async fn ask(world: &World, search: SearchId, step: u32, agent: AgentId) -> u64 {
    let level = range("0.0.0.0/0");
    let probe = NewProbe { search, step, agent, phase: Phase::SiblingChild, level, expected: None };
    probes::ask(world.store(), &[probe], NOW).await.unwrap()
}

pub(crate) fn decision(
    search: &OpenSearch,
    agent: AgentId,
    provisional: bool,
) -> Decision<'static> {
    Decision {
        search: search.id,
        subnet: search.subnet,
        agent,
        fencing_number: search.fencing_number,
        reason: Reason::Lowest,
        provisional,
        rtt_us: Some(61_000),
        moved_from: None,
        skipped: &[],
    }
}

pub(crate) fn measured(probe: model::ProbeId, rtt_us: u32) -> ProbeReport {
    let result = ProbeResult::Measured { method: ProbeMethod::Icmp, rtt_us, samples: 3 };
    ProbeReport { probe, result }
}

#[tokio::test]
async fn a_subnet_has_one_open_search() {
    let world = World::new().await;
    open(&world).await;
    open(&world).await;
    assert_eq!(searches::undelegated_subnets(world.store()).await.unwrap(), [range(SUBNET)]);
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    assert_eq!((search.threshold_us, search.fencing_number, search.trail.len()), (50_000, 0, 0));
    assert!(only(&world, SearchKind::Provisional).await.is_none());
}

#[tokio::test]
async fn orders_are_handed_out_until_they_are_answered_and_answers_count_once() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let other = world.approved(2, None).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    assert_eq!(ask(&world, search.id, 1, agent).await, 1);
    assert_eq!(ask(&world, search.id, 2, agent).await, 0, "an agent is asked once in a search");
    assert_eq!(ask(&world, search.id, 1, other).await, 0, "a step is taken once");
    let orders = probes::orders(world.store(), agent, &[], 3, 10).await.unwrap();
    assert_eq!((orders.len(), orders[0].port, orders[0].host.as_str()), (1, 81, "a.example:81"));
    assert!(
        probes::orders(world.store(), agent, &[orders[0].probe], 3, 10).await.unwrap().is_empty()
    );
    let report = [measured(orders[0].probe, 61_000)];
    let took = |who| probes::report(world.store(), who, &report, NOW);
    assert_eq!(took(other).await.unwrap().search, 0, "somebody else's order");
    assert_eq!(took(agent).await.unwrap(), NewReports { search: 1, ..NewReports::default() });
    assert_eq!(took(agent).await.unwrap().search, 0, "the same report again");
    let trail = only(&world, SearchKind::Undelegated).await.unwrap().trail;
    assert_eq!((trail[0].state, trail[0].rtt_us), (ProbeState::Measured, Some(61_000)));
    assert_eq!(trail[0].level, range("0.0.0.0/0"));
}

#[tokio::test]
async fn no_order_is_written_for_a_search_or_an_agent_that_is_not_there() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    for (search, agent) in
        [(SearchId::new(search.id.get() + 1), agent), (search.id, AgentId::new(99))]
    {
        let level = range("0.0.0.0/0");
        let probe = NewProbe { search, step: 1, agent, phase: Phase::Rest, level, expected: None };
        let error = probes::ask(world.store(), &[probe], NOW).await.unwrap_err();
        assert!(error.to_string().contains("order probes"), "{error}");
    }
    assert!(only(&world, SearchKind::Undelegated).await.unwrap().trail.is_empty());
}

#[tokio::test]
async fn a_search_is_left_alone_while_its_answers_are_awaited_and_it_has_patience() {
    let world = World::new().await;
    let agents = [world.approved(1, None).await, world.approved(2, None).await];
    open(&world).await;
    let count = async |pending, opened_until| {
        let filter = OpenSearchFilter { kind: SearchKind::Undelegated, pending, opened_until };
        searches::list_open(world.store(), filter, SearchId::new(0), 10).await.unwrap().len()
    };
    let before = NOW.plus_ms(-1);
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    assert_eq!(count(1, before).await, 1, "nobody was asked yet");
    ask(&world, search.id, 1, agents[0]).await;
    assert_eq!((count(1, before).await, count(2, before).await), (0, 1), "one answer is awaited");
    assert_eq!(count(1, NOW).await, 1, "it is overdue");
    ask(&world, search.id, 2, agents[1]).await;
    assert_eq!((count(2, before).await, count(3, before).await), (0, 1), "two answers are awaited");
    let orders = probes::orders(world.store(), agents[0], &[], 3, 10).await.unwrap();
    probes::report(world.store(), agents[0], &[measured(orders[0].probe, 61_000)], NOW)
        .await
        .unwrap();
    assert_eq!((count(1, before).await, count(2, before).await), (0, 1), "one of two has answered");
    probes::expire(world.store(), NOW, before, NOW).await.unwrap();
    assert_eq!(count(1, before).await, 1, "nobody is waited for any more");
}

#[tokio::test]
async fn patience_ends_and_a_late_answer_still_counts() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    ask(&world, search.id, 1, agent).await;
    let before = NOW.plus_ms(-1);
    let heartbeat_cutoff = NOW.plus_ms(-60_000);
    assert_eq!(probes::expire(world.store(), before, heartbeat_cutoff, NOW).await.unwrap(), 0);
    assert_eq!(probes::expire(world.store(), NOW, heartbeat_cutoff, NOW).await.unwrap(), 1);
    let trail = only(&world, SearchKind::Undelegated).await.unwrap().trail;
    assert_eq!(trail[0].state, ProbeState::Expired);
    assert_eq!(
        probes::report(world.store(), agent, &[measured(trail[0].probe, 9)], NOW)
            .await
            .unwrap()
            .search,
        1
    );
    assert_eq!(only(&world, SearchKind::Undelegated).await.unwrap().trail[0].rtt_us, Some(9));
}

#[tokio::test]
async fn orders_of_who_sleeps_is_paused_or_takes_none_are_taken_back() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    ask(&world, search.id, 1, agent).await;
    assert_eq!(probes::withdraw(world.store(), NOW).await.unwrap(), 0);
    store::agents::order(world.store(), agent, store::agents::Order::Pause, "admin", NOW)
        .await
        .unwrap();
    assert_eq!(probes::withdraw(world.store(), NOW).await.unwrap(), 1);
    assert!(only(&world, SearchKind::Undelegated).await.unwrap().trail.is_empty());
    assert_eq!(ask(&world, search.id, 1, agent).await, 1, "it can be asked again");
    store::agents::order(world.store(), agent, store::agents::Order::Resume, "admin", NOW)
        .await
        .unwrap();
    assert_eq!(probes::withdraw(world.store(), NOW).await.unwrap(), 0);
    execute(world.store(), "UPDATE agents SET takes_probes = false").await.unwrap();
    assert_eq!(probes::withdraw(world.store(), NOW).await.unwrap(), 1);
}

#[tokio::test]
async fn a_decision_is_made_once_and_gives_the_hosts_away() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    let decide = || async {
        delegations::decide_all(world.store(), &[decision(&search, agent, false)], NOW).await
    };
    assert!(matches!(decide().await.unwrap()[..], [DelegationOutcome::Applied(_)]));
    assert_eq!(decide().await.unwrap(), [DelegationOutcome::Outdated]);
    assert!(only(&world, SearchKind::Undelegated).await.is_none());
    assert_eq!(store::routes::route(world.store(), 10, 10).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_provisional_decision_keeps_the_search_open_and_the_final_one_replaces_it() {
    let world = World::new().await;
    let slow = world.approved(1, None).await;
    let fast = world.approved(2, None).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    delegations::decide_all(world.store(), &[decision(&search, slow, true)], NOW).await.unwrap();
    assert!(searches::undelegated_subnets(world.store()).await.unwrap().is_empty());
    let goes_on = only(&world, SearchKind::Provisional).await.unwrap();
    assert_eq!((goes_on.provisional, goes_on.fencing_number), (Some(slow), 1));
    let outdated = delegations::decide_all(world.store(), &[decision(&search, fast, false)], NOW)
        .await
        .unwrap()[0];
    assert_eq!(outdated, DelegationOutcome::Outdated, "decided after number 0");
    let made = delegations::decide_all(world.store(), &[decision(&goes_on, fast, false)], NOW)
        .await
        .unwrap()[0];
    assert!(matches!(made, DelegationOutcome::Applied(_)));
    let held = delegations::list_active(world.store()).await.unwrap();
    assert_eq!((held.len(), held[0].agent, held[0].fencing_number), (1, fast, 2));
    assert!(only(&world, SearchKind::Provisional).await.is_none());
}

#[tokio::test]
async fn the_search_for_a_subnet_ends_with_its_release_and_the_audit_log_says_why() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    delegations::decide_all(world.store(), &[decision(&search, agent, true)], NOW).await.unwrap();
    assert!(only(&world, SearchKind::Provisional).await.is_some());
    let subnet = range(SUBNET);
    let release = |number| delegations::release(world.store(), &subnet, number, "ada", "why", NOW);
    assert!(!release(0).await.unwrap(), "another delegation");
    assert!(only(&world, SearchKind::Provisional).await.is_some());
    assert!(release(1).await.unwrap());
    assert!(only(&world, SearchKind::Undelegated).await.is_none());
    let filter = Filter { action: Some("delegation.release"), ..Filter::default() };
    let log = audit::list(world.store(), &filter, i64::MAX, 10).await.unwrap();
    assert_eq!(log.len(), 1, "{log:?}");
    let entry = (log[0].actor.as_str(), log[0].subject.as_str(), &log[0].detail);
    assert_eq!(entry, ("ada", SUBNET, &json!({ "why": "why" })));
}

#[tokio::test]
async fn decisions_made_together_are_as_good_as_one_by_one() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let other = world.approved(2, None).await;
    let subnets = ["198.51.100.0/26", "198.51.100.64/26", "198.51.100.128/26"];
    let search = |subnet: &&str| NewSearch {
        subnet: range(subnet),
        target: range(subnet).first(),
        host: "a.example".into(),
        port: 80,
    };
    let wanted: Vec<NewSearch> = subnets.iter().map(search).collect();
    searches::open(world.store(), &wanted, Strategy::Threshold, 50_000, NOW).await.unwrap();
    let open = world.open_searches(SearchKind::Undelegated).await;
    let wishes = |n: usize, agent| decision(&open[n], agent, n == 2);
    let all = [wishes(1, agent), wishes(0, other), wishes(2, agent)];
    let decided = delegations::decide_all(world.store(), &all, NOW).await.unwrap();
    let held = delegations::list_active(world.store()).await.unwrap();
    for (wish, decided) in all.iter().zip(&decided) {
        let made =
            held.iter().find(|held| DelegationOutcome::Applied(held.id) == *decided).unwrap();
        assert_eq!((made.subnet, made.agent, made.fencing_number), (wish.subnet, wish.agent, 1));
    }
    let goes_on = only(&world, SearchKind::Provisional).await.unwrap();
    assert_eq!(goes_on.id, open[2].id);
    // One is too late and one has nobody to go to; the third is carried out all the same.
    let gone = AgentId::new(other.get() + 1);
    let again = [wishes(0, agent), decision(&goes_on, agent, false), wishes(1, gone)];
    let decided = delegations::decide_all(world.store(), &again, NOW).await.unwrap();
    assert!(
        matches!(
            decided[..],
            [
                DelegationOutcome::Outdated,
                DelegationOutcome::Applied(_),
                DelegationOutcome::AgentGone
            ]
        ),
        "{decided:?}"
    );
    assert!(only(&world, SearchKind::Provisional).await.is_none());
}

#[tokio::test]
async fn nobody_who_may_not_work_gets_a_subnet() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    let revoke = store::agents::Order::Revoke;
    store::agents::order(world.store(), agent, revoke, "admin", NOW).await.unwrap();
    let decided = delegations::decide_all(world.store(), &[decision(&search, agent, false)], NOW)
        .await
        .unwrap()[0];
    assert_eq!(decided, DelegationOutcome::AgentGone);
    assert!(only(&world, SearchKind::Undelegated).await.is_some(), "the search goes on");
}

#[tokio::test]
async fn silence_is_tried_again_and_then_given_up() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    for attempt in 1..=2 {
        open(&world).await;
        let search = only(&world, SearchKind::Undelegated).await.unwrap();
        let retries = Retries {
            next_at: [NOW.plus_ms(1_000); 3],
            attempts: 2,
            given_up_until: NOW.plus_ms(60_000),
        };
        let now = NOW.plus_ms(i64::from(attempt - 1) * 1_000);
        searches::end_unanswered(world.store(), search.id, "no answer", retries, now)
            .await
            .unwrap();
        assert!(only(&world, SearchKind::Undelegated).await.is_none());
        assert!(world.waiting(NOW, NOW).await.is_empty());
        let again = world.waiting(NOW, retries.next_at[0]).await.len();
        assert_eq!(again, usize::from(attempt == 1), "given up after the second");
    }
    let url = "http://a.example/";
    assert_eq!(world.queue_at(&[url], NOW.plus_ms(59_999)).await, 0);
    assert_eq!(world.queue_at(&[url], NOW.plus_ms(60_000)).await, 1);
}

#[tokio::test]
async fn a_silent_subnet_with_a_provisional_agent_is_left_for_some_time() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    delegations::decide_all(world.store(), &[decision(&search, agent, true)], NOW).await.unwrap();
    let left = async |since| searches::left_provisional(world.store(), since).await.unwrap();
    assert_eq!(left(NOW).await, [], "its search is open");
    let silent = NOW.plus_ms(1_000);
    let retries = Retries { next_at: [silent; 3], attempts: 9, given_up_until: silent };
    searches::end_unanswered(world.store(), search.id, "nobody", retries, silent).await.unwrap();
    assert_eq!(left(silent.plus_ms(-1)).await, []);
    assert_eq!(left(silent).await, [range(SUBNET)], "it is tried again");
}

#[tokio::test]
async fn hosts_of_a_subnet_that_is_gone_look_for_another() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    open(&world).await;
    let search = only(&world, SearchKind::Undelegated).await.unwrap();
    searches::abandon(world.store(), search.id, NOW).await.unwrap();
    let homeless = store::hosts::without_subnet(world.store(), 10).await.unwrap();
    assert_eq!(homeless.len(), 1);
}
