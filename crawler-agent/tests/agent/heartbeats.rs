//! Heartbeats keep their distance, and strange answers do not stop the agent.

use model::{AgentState, ProbeMethod};
use protocol::{HeartbeatRequest, Route, enrol::AgentProfile};

use crate::{
    probes::{measure, order},
    testbed::{TestBed, address},
    web::html,
};

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_repeats_known_orders_does_not_hasten_heartbeats() {
    let mut bed = TestBed::new(2).await;
    bed.configure("probe", "new_targets_per_minute = 1");
    bed.start_approved().await;
    measure(&bed, order(&bed, 1, address(1).into(), &[ProbeMethod::Tcp])).await;
    // It waits for the owner's budget, so that the agent has accepted it and cannot report it.
    bed.coordinator.state().repeats_orders = true;
    bed.coordinator.order(order(&bed, 2, address(2).into(), &[ProbeMethod::Tcp]));
    let accepted = |bed: &TestBed| {
        let state = bed.coordinator.state();
        let times =
            state.heartbeats.iter().filter(|heartbeat| !heartbeat.probes_accepted.is_empty());
        times.map(|heartbeat| heartbeat.agent_time.0).collect::<Vec<_>>()
    };
    bed.until("heartbeats name the accepted order", |bed| accepted(bed).len() >= 4).await;
    let times = accepted(&bed);
    let gaps: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(gaps.iter().all(|gap| *gap >= 900), "{gaps:?} ms between heartbeats");
}

#[tokio::test(flavor = "multi_thread")]
async fn more_orders_than_the_agent_can_carry_out_do_not_stop_heartbeats() {
    let mut bed = TestBed::new(1).await;
    bed.configure("probe", "new_targets_per_minute = 1");
    bed.start_approved().await;
    bed.coordinator.change(|state| {
        for n in 1..=250 {
            let order = order(&bed, n.into(), address(n).into(), &[ProbeMethod::Tcp]);
            state.orders.insert(order.probe, order);
        }
    });
    let since_full = |bed: &TestBed| {
        let state = bed.coordinator.state();
        let full = |heartbeat: &&HeartbeatRequest| heartbeat.probes_accepted.len() >= 100;
        state.heartbeats.iter().filter(full).count()
    };
    bed.until("heartbeats go on", |bed| since_full(bed) >= 3).await;
    let accepted = bed.coordinator.state().heartbeats.last().unwrap().probes_accepted.len();
    assert!(accepted < 250, "{accepted} orders wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_route_with_an_impossible_number_does_not_wedge_the_agent() {
    let mut bed = TestBed::new(1).await;
    let first = bed.web.page("a1.test", "/first", html("x"));
    let later = bed.web.page("a1.test", "/later", html("x"));
    bed.start_approved().await;
    bed.coordinator.change(|state| {
        let seq = u64::MAX;
        state.routes.insert(seq, Route { seq, url: first.clone(), redirects: 0 });
    });
    // It has come alone, with an answer of its own.
    let heartbeats = bed.coordinator.state().heartbeats.len();
    bed.until("the next heartbeat", |bed| bed.coordinator.state().heartbeats.len() > heartbeats)
        .await;
    bed.coordinator.route(std::slice::from_ref(&later));
    bed.until_reported(&[later]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_nonces_are_refused_asks_for_new_ones() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    let opened = bed.coordinator.state().sessions_opened;
    bed.coordinator.change(|state| {
        state.sessions.clear();
        state.refuse_nonces = 2;
        state.state = AgentState::Paused;
    });
    let is_back =
        |bed: &TestBed| bed.coordinator.state().sessions_opened > opened && bed.said("paused");
    bed.until("it has a new session", is_back).await;
    let heartbeats = bed.coordinator.state().heartbeats.len();
    bed.until("heartbeats go on", |bed| bed.coordinator.state().heartbeats.len() > heartbeats)
        .await;
    assert_eq!(bed.coordinator.state().refuse_nonces, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_first_heartbeats_of_a_start_say_what_the_owner_has_changed() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    let told = |bed: &TestBed| {
        let state = bed.coordinator.state();
        state.heartbeats.iter().map(|request| request.profile.clone()).collect::<Vec<_>>()
    };
    bed.until("heartbeats go on", |bed| told(bed).len() > 1).await;
    let first = told(&bed).remove(0).unwrap();
    assert_eq!(told(&bed).last().unwrap(), &None, "it is said once");
    bed.stop().await;
    bed.coordinator.state().heartbeats.clear();
    bed.configure("", "capacity_pages_per_day = 77");
    bed.start().await;
    bed.until("it is heard of", |bed| !told(bed).is_empty()).await;
    let second = told(&bed).remove(0).unwrap();
    assert_eq!(second, AgentProfile { capacity_pages_per_day: 77, ..first });
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_newer_than_its_coordinator_waits_for_its_upgrade() {
    let mut bed = TestBed::new(1).await;
    bed.start_approved().await;
    bed.stop().await;
    let detail = "the agent speaks protocol 11, this coordinator up to 6: update the coordinator";
    bed.coordinator.change(|state| {
        state.refuse_all = Some((426, detail));
        state.heartbeats.clear();
    });
    bed.start().await;
    let waits = |bed: &TestBed| {
        let status = bed.status();
        status.contains("not_connected") && status.contains(detail)
    };
    bed.until("it waits and says for what", waits).await;
    bed.coordinator.change(|state| state.refuse_all = None);
    bed.until("it works", |bed| !bed.coordinator.state().heartbeats.is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_whose_clock_is_hours_off_rests_and_keeps_its_log() {
    let mut bed = TestBed::new(1).await;
    // As if the agent had started with a clock that is ten years ahead.
    bed.coordinator.state().clock_ahead_ms = -10 * 365 * 24 * 3_600_000;
    bed.start_approved().await;
    let old = bed.data_dir().join("activity/2020-01-01.jsonl.zst");
    std::fs::write(&old, "").unwrap();
    bed.coordinator.route(&[bed.web.page("a1.test", "/", html("x"))]);
    let rests = |bed: &TestBed| {
        let status = bed.status();
        status.contains("\"clock\"") && status.contains(" h ahead of the coordinator")
    };
    bed.until("it rests and says why", rests).await;
    bed.until("it has the URL", |bed| {
        bed.coordinator.state().heartbeats.last().is_some_and(|last| last.status.queued == 1)
    })
    .await;
    assert!(old.exists());
    assert_eq!(bed.web.count("a1.test", "/"), 0);
    bed.coordinator.state().clock_ahead_ms = 0;
    bed.coordinator.route(&[bed.web.page("a1.test", "/2", html("y"))]);
    bed.until_reported(&[bed.web.url("a1.test", "/"), bed.web.url("a1.test", "/2")]).await;
    bed.until("files that are too old are deleted", |_| !old.exists()).await;
}
