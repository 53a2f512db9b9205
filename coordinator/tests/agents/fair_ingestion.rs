//! One agent that sends many packages does not delay those of another.

use std::collections::BTreeMap;

use coordinator::packages::cursor::LedgerCursor;
use coordinator::packages::work;
use coordinator::placement::agent_administration::AgentAction;
use model::AgentId;
use store::packages;

use crate::agent::{FakeAgent, page};
use crate::world::{Ground, Running};

/// Packages of the agent that sends many.
const MANY: u64 = 40;

async fn agent(running: &Running, number: u8) -> FakeAgent {
    let agent = FakeAgent::enrol(running, number).await;
    running.order(agent.id, AgentAction::Approve).await;
    agent
}

#[tokio::test]
async fn agents_take_turns_and_each_package_is_taken_once() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let busy = agent(&running, 1).await;
    for seq in 1..=MANY {
        let body = busy.package(seq, &[page("http://a.example/", "A", "a")]);
        busy.ship_well(&running, seq, body).await;
    }
    let other = agent(&running, 2).await;
    other.ship_well(&running, 1, other.package(1, &[page("http://b.example/", "B", "b")])).await;

    // As a coordinator whose index is empty takes the ledger.
    let parts = &running.coordinator.packages;
    let ledger = packages::ledger(ground.store()).await.unwrap();
    let mut cursor = LedgerCursor::of_index("", &ledger);
    let mut batches: Vec<BTreeMap<AgentId, u64>> = Vec::new();
    loop {
        let found = work::find(parts, &cursor, false).await.unwrap();
        if found.packages.is_empty() {
            break;
        }
        let mut of_agents = BTreeMap::new();
        for work in &found.packages {
            assert!(work.to_index, "{work:?} is taken twice");
            cursor.take(work.package.position);
            *of_agents.entry(work.package.name.agent).or_default() += 1;
        }
        for position in found.passed_over {
            cursor.skip(position);
        }
        batches.push(of_agents);
    }
    assert_eq!(batches[0].get(&other.id), Some(&1), "{batches:?}");
    assert_eq!(batches.iter().filter_map(|batch| batch.get(&busy.id)).sum::<u64>(), MANY);
    assert!(cursor.skipped().is_empty() && cursor.last() == ledger.last);
    running.stop().await;
}
