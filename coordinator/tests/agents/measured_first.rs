//! A move to an agent without a measurement waits for one probe, and orders it once.

use coordinator::placement::balance::BalanceOutcome;
use coordinator::placement::balance::problem::BalanceProblem;
use coordinator::placement::balance::relieve::relieve_overloaded;
use coordinator::placement::load_snapshot::LoadSnapshot;
use hierarchy::Range;
use model::{BalanceRule, ProbeState};
use store::loads;
use store::testing::execute;

use crate::predict::{
    FIRST, add_seeds, approved, hierarchy, learn, searched, until_searched, work,
};
use crate::world::{Ground, Running, load};

/// One pass of the online part, as the background task makes it.
async fn pass(running: &Running) -> BalanceOutcome {
    let coordinator = &running.coordinator;
    let delegated = coordinator.delegated().unwrap();
    let snapshot = LoadSnapshot::take(&coordinator.placement, &delegated).await.unwrap();
    let mut problem =
        BalanceProblem::build(&coordinator.placement, &delegated, snapshot).await.unwrap();
    relieve_overloaded(&coordinator.placement, &mut problem, BalanceRule::Cheapest).await.unwrap()
}

/// Orders to measure subnets that nobody has answered.
async fn orders(ground: &Ground) -> usize {
    let count = "UPDATE probes SET step = step WHERE purpose = 'search' AND state = 'asked'";
    execute(ground.store(), count).await.unwrap().try_into().unwrap()
}

#[tokio::test]
async fn no_agent_is_asked_twice_for_a_measurement_that_a_move_waits_for() {
    let ground = Ground::bare().await;
    load(ground.store(), &hierarchy()).await;
    let running = ground.start().await;
    execute(ground.store(), "UPDATE policy SET balance_rule = 'off', balance_pass = 'off'")
        .await
        .unwrap();
    let mut agents = approved(&running, 1..=3).await;
    learn(&ground, &running, &mut agents).await;
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
    let answers = loads::answers(ground.store(), &subnets).await.unwrap();
    let waited_for = answers.iter().filter(|answer| answer.state == ProbeState::Asked).count();
    assert_eq!(waited_for, asked, "each agent once about each subnet");
    work(&running, &mut agents, || async { orders(&ground).await == 0 }).await;
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
