//! A move to an agent without a measurement waits for one probe, and orders it once.

use coordinator::placement::balance::BalanceOutcome;
use coordinator::placement::balance::pass::{execute_plan, plan_relief};
use coordinator::placement::balance::problem::BalanceProblem;
use coordinator::placement::balance::relieve::relieve_overloaded;
use coordinator::placement::load_snapshot::LoadSnapshot;
use hierarchy::Range;
use model::{BalanceRule, ProbeState};
use store::moves::MoveCause;
use store::testing::execute;
use store::{agents, loads};

use crate::agent::{FakeAgent, now};
use crate::predict::{
    FIRST, SUBNETS, add_seeds, approved, hierarchy, learn, searched, until_searched, work,
};
use crate::world::{Ground, Running, load};

async fn problem(running: &Running) -> BalanceProblem {
    let coordinator = &running.coordinator;
    let delegated = coordinator.delegated().unwrap();
    let snapshot = LoadSnapshot::take(&coordinator.placement, &delegated).await.unwrap();
    BalanceProblem::build(&coordinator.placement, &delegated, snapshot).await.unwrap()
}

/// One pass of the online part, as the background task makes it.
async fn pass(running: &Running) -> BalanceOutcome {
    let mut problem = problem(running).await;
    let placement = &running.coordinator.placement;
    relieve_overloaded(placement, &mut problem, BalanceRule::Cheapest).await.unwrap()
}

/// All the moves that relieve overloaded agents.
async fn relieve_all(running: &Running) -> BalanceOutcome {
    let mut problem = problem(running).await;
    let plan = plan_relief(&problem).await.unwrap();
    let placement = &running.coordinator.placement;
    execute_plan(placement, &mut problem, &plan, MoveCause::Relief).await.unwrap()
}

/// Orders to measure subnets that nobody has answered.
async fn orders(ground: &Ground) -> usize {
    let count = "UPDATE probes SET step = step WHERE purpose = 'search' AND state = 'asked'";
    execute(ground.store(), count).await.unwrap().try_into().unwrap()
}

/// Agents 1 and 2 sent their last heartbeat just now, or a day ago.
async fn be_away(ground: &Ground, are_away: bool) {
    let last = if are_away {
        "UPDATE agents SET last_heartbeat_at = now() - interval '1 day' WHERE name <> 'agent 3'"
    } else {
        "UPDATE agents SET last_heartbeat_at = now() WHERE name <> 'agent 3'"
    };
    assert_eq!(execute(ground.store(), last).await.unwrap(), 2);
}

/// A coordinator that balances nothing by itself, and three agents of which it has learned.
async fn learned(ground: &Ground) -> (Running, Vec<FakeAgent>) {
    load(ground.store(), &hierarchy()).await;
    let running = ground.start().await;
    execute(ground.store(), "UPDATE policy SET balance_rule = 'off', balance_pass = 'off'")
        .await
        .unwrap();
    let mut agents = approved(&running, 1..=3).await;
    learn(ground, &running, &mut agents).await;
    (running, agents)
}

#[tokio::test]
async fn no_agent_is_asked_twice_for_a_measurement_that_a_move_waits_for() {
    let ground = Ground::bare().await;
    let (running, mut agents) = learned(&ground).await;
    // Searches of these ask whoever is likely to be nearest, and nobody else.
    let more = FIRST + 6;
    add_seeds(&running, FIRST..more).await;
    until_searched(&ground, &running, &mut agents, more).await;
    // What several agents measured is left out: it could be moved at once.
    let several = "UPDATE delegations d SET reason = 'home' WHERE reason <> 'predicted'
                   OR (SELECT count(*) FROM probes p WHERE p.search = d.search) > 1";
    execute(ground.store(), several).await.unwrap();
    let third = agents[2].id;
    let before = searched(&ground).await.iter().filter(|held| held.agent == third).count();
    assert!(before >= 1, "{before}");

    // Its home and all but one of its subnets are what it can do.
    let small = "UPDATE agents SET capacity_pages_per_day =
                     (SELECT count(*) - 1 FROM delegations WHERE agent = agents.id AND ended_at \
                     IS NULL)
                 WHERE name = 'agent 3'";
    execute(ground.store(), small).await.unwrap();
    assert_eq!(orders(&ground).await, 0);
    be_away(&ground, true).await;
    assert_eq!(pass(&running).await, BalanceOutcome::default(), "agents that are away");
    be_away(&ground, false).await;
    let first = pass(&running).await;
    assert_eq!(first, BalanceOutcome { moved: 0, asked: 1 }, "nothing is moved on a guess");
    // Nobody answers; other ways to relieve it may be looked into until there is none left.
    let mut asked = first.asked;
    for _ in 0..100 {
        let next = pass(&running).await;
        assert_eq!(next.moved, 0);
        if next.asked == 0 {
            break;
        }
        asked += next.asked;
    }
    assert_eq!(pass(&running).await, BalanceOutcome::default());

    assert_eq!(orders(&ground).await, asked);
    let subnets: Vec<Range> = searched(&ground).await.iter().map(|held| held.subnet).collect();
    let answers = loads::answers(ground.store(), &subnets, now()).await.unwrap();
    let waited_for = answers.iter().filter(|answer| answer.state == ProbeState::Asked).count();
    assert_eq!(waited_for, asked, "each agent once about each subnet");
    work(&running, &mut agents, || async { orders(&ground).await == 0 }).await;
    be_away(&ground, true).await;
    assert_eq!(pass(&running).await, BalanceOutcome::default(), "nothing is moved to them either");
    be_away(&ground, false).await;
    assert_eq!(
        pass(&running).await,
        BalanceOutcome { moved: 1, asked: 0 },
        "now it is known, and moved"
    );
    assert_eq!(
        searched(&ground).await.iter().filter(|held| held.agent == third).count(),
        before - 1
    );
    running.stop().await;
}

#[tokio::test]
async fn an_agent_is_asked_for_no_more_measurements_than_it_has_room_for() {
    let ground = Ground::bare().await;
    let (running, mut agents) = learned(&ground).await;
    add_seeds(&running, FIRST..SUBNETS).await;
    until_searched(&ground, &running, &mut agents, SUBNETS).await;
    let third = agents[2].id;
    let one_probe = "UPDATE delegations d SET reason = 'home'
                     WHERE (SELECT count(*) FROM probes p WHERE p.search = d.search) > 1";
    execute(ground.store(), one_probe).await.unwrap();
    let held = searched(&ground).await.iter().filter(|held| held.agent == third).count();
    let room = running.coordinator.placement.limits.orders_per_agent as usize;
    assert!(held > room, "{held} subnets of one agent");

    // It cannot keep any of them; the others can take them all.
    let least = "UPDATE agents SET capacity_pages_per_day =
                     CASE name WHEN 'agent 3' THEN 1 ELSE 1000 END";
    execute(ground.store(), least).await.unwrap();
    for away in [
        "UPDATE agents SET asleep_until = now() + interval '1 day' WHERE name = 'agent 3'",
        "UPDATE agents SET asleep_until = NULL, last_heartbeat_at = now() - interval '1 day'
         WHERE name = 'agent 3'",
    ] {
        execute(ground.store(), away).await.unwrap();
        assert_eq!(relieve_all(&running).await, BalanceOutcome::default(), "its work waits for it");
        assert_eq!(pass(&running).await, BalanceOutcome::default());
    }
    let back = "UPDATE agents SET last_heartbeat_at = now() WHERE name = 'agent 3'";
    execute(ground.store(), back).await.unwrap();
    let mut asked = 0;
    let mut moved = 0;
    loop {
        let done = relieve_all(&running).await;
        if done == BalanceOutcome::default() {
            break;
        }
        let workers = agents::workers(ground.store()).await.unwrap();
        assert!(workers.iter().all(|worker| worker.orders as usize <= room), "{workers:?}");
        asked += done.asked;
        moved += done.moved;
        work(&running, &mut agents, || async { orders(&ground).await == 0 }).await;
    }
    assert!(asked > room, "{asked} measurements");
    assert_eq!(moved, held, "later runs ask for the rest");
    running.stop().await;
}
