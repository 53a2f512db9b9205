//! Trust in the reports of agents, and the pause that follows from it.

use model::AgentState;
use serde_json::{Value, json};
use store::agents::{self, Order};
use store::trust::{self, Contradiction};
use store::{StoreError, home_times, probes};

use protocol::{ProbeReport, ProbeResult};

use crate::world::{NOW, World, ip};

fn contradicted(reported_us: u32) -> Contradiction {
    Contradiction {
        target: Some(ip("198.51.100.7")),
        reported_us,
        least_us: 40_000,
        witness: None,
        apart_us: None,
        judged_at: NOW,
    }
}

/// Adds two reports to the stored number.
#[expect(clippy::unnecessary_wraps, reason = "the store expects a result")]
fn add(tests: Option<Value>) -> Result<Value, StoreError> {
    let before = tests.and_then(|tests| tests.as_u64()).unwrap_or(0);
    Ok(json!(before + 2))
}

#[tokio::test]
async fn evidence_is_kept_until_an_admin_resumes_the_agent() {
    let world = World::new().await;
    let store = world.store();
    let agent = world.approved(1, None).await;
    for number in 0..15 {
        let reports = [contradicted(number), contradicted(100 + number)];
        trust::record(store, agent, &reports, add).await.unwrap();
    }
    let known = trust::find(store, &[agent]).await.unwrap();
    assert_eq!((known[0].tests.as_u64(), known[0].evidence.len()), (Some(30), 20));
    assert_eq!(known[0].evidence.last().unwrap().reported_us, 114);

    assert!(
        trust::pause(store, agent, ("it reported 1 us", &known[0].evidence), NOW).await.unwrap()
    );
    assert!(!trust::pause(store, agent, ("again", &[]), NOW).await.unwrap(), "it is paused");
    let found = agents::find(store, agent).await.unwrap().unwrap();
    assert_eq!(found.state, AgentState::Paused);
    let known = trust::find(store, &[agent]).await.unwrap();
    assert_eq!(known[0].paused, Some((NOW, "it reported 1 us".to_owned())));
    assert_eq!(trust::paused_agents(store).await.unwrap(), [agent]);

    agents::order(store, agent, Order::Resume, "admin", NOW).await.unwrap();
    let known = trust::find(store, &[agent]).await.unwrap();
    assert_eq!((&known[0].tests, known[0].evidence.len()), (&Value::Null, 0));
    assert_eq!(known[0].paused, None);
    assert_eq!(trust::paused_agents(store).await.unwrap(), []);
}

#[tokio::test]
async fn a_home_address_is_measured_once_at_a_time_and_the_report_is_kept() {
    let world = World::new().await;
    let store = world.store();
    let agent = world.approved(1, None).await;
    let witness = world.approved(2, None).await;
    assert_eq!(home_times::order(store, &[(agent, witness)], NOW).await.unwrap(), [witness]);
    assert_eq!(home_times::order(store, &[(agent, witness)], NOW).await.unwrap(), []);
    let orders = probes::orders(store, witness, &[], 3, 10).await.unwrap();
    let home = agents::home(store, agent).await.unwrap().unwrap();
    assert_eq!(orders.iter().map(|order| order.address).collect::<Vec<_>>(), [home]);
    let method = model::ProbeMethod::Icmp;
    let result = ProbeResult::Measured { method, rtt_us: 12_000, samples: 3 };
    let report = [ProbeReport { probe: orders[0].probe, result }];
    probes::report(store, witness, &report, NOW).await.unwrap();
    let known = home_times::list(store).await.unwrap();
    assert_eq!((known[0].agent, known[0].witness), (agent, witness));
    assert_eq!(known[0].rtt_us, Some(12_000));
}
