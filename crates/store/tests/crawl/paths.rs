//! Round trips of paths: which are compared, and when a path is checked.

use model::{AgentId, IncidentState, ProbeId, UnixMillis};
use serde_json::json;
use store::host_tally::HostTally;
use store::incidents::{self, IncidentProbe, Outcome};
use store::timing_reports::{self, Summary};

use crate::incidents::{SLOW, answer, connect, override_to, pending, ship, summary, world};
use crate::world::{NOW, ip};

#[tokio::test]
async fn one_round_trip_an_hour_waits_for_its_comparison() {
    let (world, near, next) = world().await;
    let hours = |hours: i64| NOW.plus_ms(hours * 3_600_000);
    connect(&world, near, 1, ("203.0.113.9", 5_000), NOW).await;
    connect(&world, next, 1, ("198.51.100.7", 5_000), NOW).await;
    assert_eq!(pending(&world).await, [], "an address elsewhere, and another agent");
    connect(&world, near, 2, ("198.51.100.7", 9_000), NOW).await;
    connect(&world, near, 3, ("198.51.100.7", 8_000), NOW.plus_ms(1_000)).await;
    let first = pending(&world).await.remove(0);
    assert_eq!(first.round_trip, Some((9_000, NOW)), "one an hour");
    let path = json!({"usual": 9});
    let summary = Summary { path: path.clone(), check_at: Some(hours(9)), ..summary() };
    timing_reports::store_summary(world.store(), &first, &summary).await.unwrap();
    assert_eq!(pending(&world).await, []);
    connect(&world, near, 4, ("198.51.100.7", 7_000), hours(1)).await;
    let second = pending(&world).await.remove(0);
    assert_eq!((second.round_trip, second.path), (Some((7_000, hours(1))), Some(path)));
    // A round trip that came meanwhile is not lost.
    timing_reports::store_summary(world.store(), &first, &summary).await.unwrap();
    assert_eq!(pending(&world).await.len(), 1);
}

#[tokio::test]
async fn a_path_is_checked_when_it_is_due() {
    let (world, near, _) = world().await;
    let hours = |hours: i64| NOW.plus_ms(hours * 3_600_000);
    let order = async |now: UnixMillis| {
        let pauses_ms = [1, 17, 67].map(|hours: i64| hours * 3_600_000);
        timing_reports::order_checks(world.store(), &[near], 5, now, &pauses_ms).await.unwrap()
    };
    connect(&world, near, 1, ("198.51.100.7", 9_000), NOW).await;
    let first = pending(&world).await.remove(0);
    assert!(order(hours(99)).await.is_empty(), "nothing was compared yet");
    let summary = Summary { check_at: Some(hours(9)), ..summary() };
    timing_reports::store_summary(world.store(), &first, &summary).await.unwrap();
    assert!(order(hours(8)).await.is_empty());
    assert_eq!(order(hours(9)).await, [near]);
    assert!(order(hours(9)).await.is_empty(), "once until it is due again");
    answer(&world, near, 12_000).await;
    let second = pending(&world).await.remove(0);
    assert_eq!(second.round_trip, Some((12_000, NOW)));
    assert_eq!(timing_reports::delete_ended_checks(world.store(), 10).await.unwrap(), 1);
    assert_eq!(timing_reports::delete_ended_checks(world.store(), 10).await.unwrap(), 0);
    let summary = Summary { check_at: Some(hours(20)), ..summary };
    timing_reports::store_summary(world.store(), &second, &summary).await.unwrap();
    // Without an answer it is due again, and later with each.
    let mut due = Vec::new();
    for hour in 9..300 {
        if !order(hours(hour)).await.is_empty() {
            due.push(hour);
        }
    }
    assert_eq!(due, [20, 21, 38, 105, 172, 239]);
    connect(&world, near, 2, ("198.51.100.7", 9_000), hours(299)).await;
    let third = pending(&world).await.remove(0);
    let summary = Summary { check_at: Some(hours(300)), ..summary };
    timing_reports::store_summary(world.store(), &third, &summary).await.unwrap();
    assert_eq!(order(hours(300)).await, [near]);
    assert_eq!(order(hours(301)).await, [near], "a round trip came in between");
}

#[tokio::test]
async fn a_path_over_kept_connections_alone_is_checked() {
    let (world, near, next) = world().await;
    let hours = |hours: i64| NOW.plus_ms(hours * 3_600_000);
    let order = async |agent: AgentId, hour: i64| {
        let now = hours(hour);
        let asked = timing_reports::order_checks(world.store(), &[agent], 5, now, &[3_600_000])
            .await
            .unwrap();
        asked.len()
    };
    let kept =
        || HostTally { round_trip: Some((ip("198.51.100.7"), 9_000)), ..HostTally::default() };
    ship(&world, next, 1, kept(), NOW).await;
    assert_eq!(order(next, 99).await, 0, "the host is not its own");
    ship(&world, near, 1, kept(), NOW).await;
    ship(&world, near, 2, kept(), hours(9)).await;
    assert_eq!(pending(&world).await, [], "it may be hours old");
    assert_eq!((order(near, 16).await, order(near, 17).await), (0, 1));
    answer(&world, near, 12_000).await;
    assert_eq!(pending(&world).await.remove(0).round_trip, Some((12_000, NOW)));
    // The subnet moves, and its next agent has kept connections only as well.
    override_to(&world, next).await;
    ship(&world, next, 2, kept(), hours(20)).await;
    assert_eq!(pending(&world).await, [], "the former agent's round trip is not its own");
    assert_eq!((order(next, 36).await, order(next, 37).await), (0, 1));
}

#[tokio::test]
async fn a_lost_probe_makes_no_slow_path_usual() {
    for outcome in [Outcome::Expired, Outcome::Failed] {
        let (world, near, _) = world().await;
        connect(&world, near, 1, ("198.51.100.7", 9_000), NOW).await;
        let told = pending(&world).await.remove(0);
        let summary = Summary { path: json!({"usual": 9}), ..summary() };
        incidents::open(world.store(), &told, &summary, &SLOW, NOW).await.unwrap();
        let mut case = incidents::list_open(world.store()).await.unwrap().remove(0);
        case.probe = Some(IncidentProbe { probe: ProbeId::new(1), agent: near, outcome });
        let undecided = (IncidentState::Undecided, None);
        incidents::end(world.store(), &case, undecided, &json!({}), NOW).await.unwrap();
        connect(&world, near, 2, ("198.51.100.7", 9_000), NOW.plus_ms(7_200_000)).await;
        let path = pending(&world).await.remove(0).path;
        assert_eq!(path.is_some(), outcome == Outcome::Expired);
    }
}
