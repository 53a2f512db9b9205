//! Landmarks are chosen, measured by all agents, and retired.

use model::{AgentId, LandmarkId, ProbeId, ProbeMethod};
use protocol::{ProbeReport, ProbeResult};
use store::landmarks::{self, DueMeasurement, LandmarkSite, OrderAllowance, Outcome};
use store::probes::{self, NewReports, Target};
use store::testing::execute;

use crate::world::{NOW, World, ip, range};

fn spot(subnet: &str, address: &str) -> LandmarkSite {
    let target = Target { address: ip(address), host: "a.example".into(), port: 80 };
    LandmarkSite { subnet: range(subnet), target }
}

async fn two(world: &World) {
    let spots = [spot("198.51.100.0/24", "198.51.100.7"), spot("203.0.113.0/24", "203.0.113.7")];
    assert_eq!(landmarks::choose(world.store(), &spots, NOW).await.unwrap(), 2);
    assert_eq!(
        landmarks::choose(world.store(), &spots, NOW).await.unwrap(),
        0,
        "they are landmarks already"
    );
}

async fn due(world: &World, agent: AgentId, orders: u32) -> Vec<DueMeasurement> {
    landmarks::due(world.store(), &[OrderAllowance { agent, orders }], NOW.plus_ms(-1_000))
        .await
        .unwrap()
}

fn report(probe: ProbeId, rtt_us: Option<u32>) -> ProbeReport {
    let result = match rtt_us {
        Some(rtt_us) => ProbeResult::Measured { method: ProbeMethod::Icmp, rtt_us, samples: 3 },
        None => ProbeResult::Unreachable { reason: "silence".into() },
    };
    ProbeReport { probe, measured_at: NOW, result }
}

/// Measures everything that is due.
async fn measure(world: &World, agent: AgentId, rtt_us: Option<u32>, at: i64) -> NewReports {
    let due = due(world, agent, 10).await;
    landmarks::order(world.store(), &due, NOW).await.unwrap();
    let orders = probes::orders(world.store(), agent, &[], 3, 10).await.unwrap();
    let reports: Vec<_> = orders.iter().map(|order| report(order.probe, rtt_us)).collect();
    probes::report(world.store(), agent, &reports, NOW.plus_ms(at)).await.unwrap()
}

#[tokio::test]
async fn each_agent_measures_each_landmark_once_in_a_while() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    two(&world).await;
    assert_eq!(due(&world, agent, 1).await.len(), 1, "no more than there is room for");
    let all = due(&world, agent, 10).await;
    assert_eq!(landmarks::order(world.store(), &all, NOW).await.unwrap(), 2);
    assert!(due(&world, agent, 10).await.is_empty(), "they are asked for");
    assert_eq!(landmarks::order(world.store(), &all, NOW).await.unwrap(), 0);
    let orders = probes::orders(world.store(), agent, &[], 3, 10).await.unwrap();
    assert_eq!(orders[0].address, ip("198.51.100.7"));
    let reports = [report(orders[0].probe, Some(20_000)), report(orders[1].probe, None)];
    let news = probes::report(world.store(), agent, &reports, NOW).await.unwrap();
    assert_eq!(news, NewReports { landmark: 2, ..NewReports::default() });
    assert!(due(&world, agent, 10).await.is_empty(), "they were measured");
    let later =
        landmarks::due(world.store(), &[OrderAllowance { agent, orders: 9 }], NOW.plus_ms(1))
            .await
            .unwrap();
    assert_eq!(later.len(), 2, "a while is over");
    let times = landmarks::times(world.store()).await.unwrap();
    assert_eq!(times[0].outcome, Outcome::Measured { rtt_us: 20_000, before_us: None });
    assert_eq!(times[1].outcome, Outcome::Unreachable);
    let live = landmarks::live(world.store(), LandmarkId::new(0), 10).await.unwrap();
    assert_eq!((live[0].measured, live[0].unanswered, live[0].measured_at), (1, 0, Some(NOW)));
    assert_eq!((live[1].measured, live[1].unanswered), (0, 1));
}

#[tokio::test]
async fn who_moved_measures_anew_and_its_old_times_count_no_more() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    two(&world).await;
    assert_eq!(measure(&world, agent, Some(20_000), 0).await.landmark, 2);
    let stock = |stock: landmarks::ReportCounts| (stock.reports, stock.newer);
    assert_eq!(
        stock(landmarks::count_reports(world.store(), NOW.plus_ms(-1)).await.unwrap()),
        (2, 2)
    );
    assert_eq!(stock(landmarks::count_reports(world.store(), NOW).await.unwrap()), (2, 0));
    execute(world.store(), "UPDATE agents SET home = '192.0.2.99'").await.unwrap();
    assert_eq!(landmarks::times(world.store()).await.unwrap(), []);
    assert_eq!(measure(&world, agent, Some(90_000), 5).await.landmark, 2);
    let times = landmarks::times(world.store()).await.unwrap();
    assert_eq!(
        times[0].outcome,
        Outcome::Measured { rtt_us: 90_000, before_us: None },
        "another place"
    );
    assert_eq!(landmarks::forget(world.store(), NOW).await.unwrap(), 0);
    assert_eq!(
        landmarks::forget(world.store(), NOW.plus_ms(1)).await.unwrap(),
        4,
        "the times stay"
    );
    assert_eq!(landmarks::times(world.store()).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_retired_landmark_is_out_of_everything() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    two(&world).await;
    let all = due(&world, agent, 10).await;
    landmarks::order(world.store(), &all, NOW).await.unwrap();
    let live = landmarks::live(world.store(), LandmarkId::new(0), 10).await.unwrap();
    let lost = [(live[0].id, "it died")];
    assert_eq!(landmarks::retire(world.store(), &lost, NOW).await.unwrap(), 1);
    assert_eq!(landmarks::retire(world.store(), &lost, NOW).await.unwrap(), 0);
    assert_eq!(landmarks::live(world.store(), LandmarkId::new(0), 10).await.unwrap().len(), 1);
    assert_eq!(
        probes::orders(world.store(), agent, &[], 3, 10).await.unwrap().len(),
        1,
        "its order is over"
    );
    two_again(&world).await;
}

/// A subnet may be a landmark again.
async fn two_again(world: &World) {
    let spots = [spot("198.51.100.0/24", "198.51.100.8")];
    assert_eq!(landmarks::choose(world.store(), &spots, NOW).await.unwrap(), 1);
}
