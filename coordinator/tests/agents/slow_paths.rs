//! The path to a subnet takes twice as long: with shipped settings, on a clock that the test moves
//! on, the subnet is with another agent within a day.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use coordinator::placement::agent_administration::AgentAction;
use coordinator::runtime::clock::Clock;
use model::IncidentState;
use protocol::page::{Entry, Outcome, Timing};
use store::incidents::{self, IncidentSummary};

use crate::agent::{FakeAgent, fetch};
use crate::world::{Ground, MovedClock, Running, until};

const URL: &str = "http://198.51.100.7/";
/// Half of the time between two fetches; less than the lease.
const HALF_STEP_MS: i64 = 33 * 60_000;

/// An agent and its round trip to the subnet, in microseconds.
struct Party {
    agent: FakeAgent,
    rtt_us: u32,
    shipped: u64,
    routed: usize,
}

impl Party {
    async fn join(running: &Running, seed: u8, rtt_us: u32) -> Self {
        let agent = FakeAgent::enrol(running, seed).await;
        running.order(agent.id, AgentAction::Approve).await;
        Self { agent, rtt_us, shipped: 0, routed: 0 }
    }

    /// One heartbeat: measures what it is asked, lets go of what it shall.
    async fn turn(&mut self, running: &Running) {
        let answer = self.agent.heartbeat(running, 50).await;
        self.agent.orders_done = answer.host_orders.iter().map(|order| order.number).collect();
        for order in &answer.probes {
            self.agent.measured(running, order, self.rtt_us).await;
        }
        self.routed += answer.routes.len();
    }

    /// Ships a fetch over a new connection, and waits until it is ingested.
    async fn fetch(&mut self, running: &Running) {
        let Entry::Fetch(mut fetch) = fetch(URL, Outcome::Unchanged { status: 304 }) else {
            panic!("no fetch")
        };
        let us = self.rtt_us;
        fetch.address = Some("198.51.100.7".parse().unwrap());
        fetch.timing =
            Some(Timing { connect_us: us, tcp_us: us, first_byte_us: us, total_us: 2 * us });
        self.shipped += 1;
        let package = self.agent.package(self.shipped, &[Entry::Fetch(fetch)]);
        self.agent.ship_well(running, self.shipped, package).await;
        let store = &running.coordinator.store;
        until("the package is ingested", || async {
            let now = running.coordinator.now();
            store::packages::pending(store, &store::packages::InTurn::default(), now, 1)
                .await
                .unwrap()
                .is_empty()
        })
        .await;
    }
}

/// An hour and some minutes go by, with a fetch of the first agent at their end.
async fn hour(clock: &MovedClock, running: &Running, parties: &mut [Party; 2]) {
    for _ in 0..2 {
        clock.0.fetch_add(HALF_STEP_MS, Ordering::SeqCst);
        for party in parties.iter_mut() {
            // The session of an hour ago has expired.
            party.agent.sign_in(running).await;
            party.turn(running).await;
        }
    }
    parties[0].fetch(running).await;
    for party in parties.iter_mut() {
        party.turn(running).await;
    }
}

async fn latest(running: &Running) -> Option<IncidentSummary> {
    incidents::list(&running.coordinator.store, i64::MAX, 1).await.unwrap().pop()
}

async fn slow_path(ground: &Ground) {
    let clock = Arc::new(MovedClock::default());
    let running = ground.start_at(Arc::clone(&clock) as Arc<dyn Clock>).await;
    running.until_hierarchy_is_loaded().await;
    let near = Party::join(&running, 1, 40_000).await;
    let far = Party::join(&running, 2, 60_000).await;
    let mut parties = [near, far];
    running.add_seeds(&[URL]).await;
    while parties[0].routed == 0 {
        parties[0].turn(&running).await;
        parties[1].turn(&running).await;
    }
    for _ in 0..40 {
        hour(&clock, &running, &mut parties).await;
    }
    assert_eq!(latest(&running).await, None, "nothing has changed");

    parties[0].rtt_us = 80_000;
    let mut hours = 0;
    while latest(&running).await.is_none() {
        hour(&clock, &running, &mut parties).await;
        hours += 1;
        assert!(hours <= 20, "not found within a day");
    }
    let found = latest(&running).await.unwrap();
    assert!(found.url.is_none() && (1.9..2.1).contains(&found.ratio), "{found:?}");
    while parties[1].routed == 0 {
        parties[0].turn(&running).await;
        parties[1].turn(&running).await;
    }
    while latest(&running).await.unwrap().state != IncidentState::Away {
        parties[1].turn(&running).await;
    }
    assert_eq!(latest(&running).await.unwrap().next_agent.unwrap().0, parties[1].agent.id);
    running.stop().await;
}

#[tokio::test]
async fn a_path_that_doubles_is_left_within_a_day_under_shipped_settings() {
    let ground = Ground::new().await;
    let story = Box::pin(slow_path(&ground));
    tokio::time::timeout(Duration::from_secs(240), story).await.expect("ends in time");
}
