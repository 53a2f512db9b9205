//! Calls of the coordinator: roster, loan, and envelopes that take this way.

use std::time::Duration;

use region::{
    message::Lane,
    relay::{RELAY_FILL, RelayRequest},
};
use tokio::time::Instant;

use super::Peers;
use crate::{backoff::Backoff, elapsed_clock, error_line};

/// Time for which the coordinator may hold an answer back.
const HOLD: Duration = Duration::from_secs(20);
/// Interval of loans.
const BORROW: Duration = Duration::from_secs(30);
/// Least time between two calls that wait for news.
const LEAST_PAUSE: Duration = Duration::from_millis(200);
/// Least time between them while the agent is in no region.
const OUTSIDE_PAUSE: Duration = Duration::from_secs(2);
/// Longest pause after a failure: when the coordinator returns, it must hear of the region soon.
const MOST_PAUSE: Duration = Duration::from_secs(15);

/// Calls until the future is dropped. Each lane has calls of its own, so that no heartbeat waits
/// for the end of a bundle.
pub(super) async fn run(peers: &Peers) {
    tokio::join!(
        poll(peers),
        poll_bundles(peers),
        send(peers, Lane::Others),
        send(peers, Lane::Bundles),
    );
}

/// Waits for news all the time, and asks for loans.
async fn poll(peers: &Peers) {
    let mut backoff = Backoff::default();
    let mut borrowed: Option<Instant> = None;
    loop {
        let is_member = peers.shared.core().is_some();
        let wants_loan = is_member && borrowed.is_none_or(|at| at.elapsed() >= BORROW);
        let request = RelayRequest { wants_loan, ..request(peers, Lane::Others, HOLD) };
        let pause = call(peers, &request, &mut backoff).await;
        if pause.is_none() && wants_loan {
            borrowed = Some(Instant::now());
        }
        let least = if is_member { LEAST_PAUSE } else { OUTSIDE_PAUSE };
        tokio::time::sleep(pause.unwrap_or(least)).await;
    }
}

/// Waits for bundles all the time while the agent is in a region.
async fn poll_bundles(peers: &Peers) {
    let mut backoff = Backoff::default();
    loop {
        let is_member = peers.shared.core().is_some();
        let pause = if is_member {
            let request = request(peers, Lane::Bundles, HOLD);
            call(peers, &request, &mut backoff).await.unwrap_or(LEAST_PAUSE)
        } else {
            OUTSIDE_PAUSE
        };
        tokio::time::sleep(pause).await;
    }
}

/// Sends envelopes to the coordinator, and to peers that cannot be reached otherwise.
async fn send(peers: &Peers, lane: Lane) {
    let mut backoff = Backoff::default();
    loop {
        let envelopes = peers.shared.outgoing.for_coordinator().take(lane, RELAY_FILL).await;
        let request = RelayRequest { envelopes, ..request(peers, lane, Duration::ZERO) };
        // What cannot be sent is lost: the member sends it again, or something newer.
        if let Some(pause) = call(peers, &request, &mut backoff).await {
            tokio::time::sleep(pause).await;
        }
    }
}

/// Makes one call; returns how long to wait after a failure.
async fn call(peers: &Peers, request: &RelayRequest, backoff: &mut Backoff) -> Option<Duration> {
    let asked = elapsed_clock::now();
    let called = peers.client.relay(request).await;
    let region = request.known.map(|(region, _)| region);
    let taken = called.map(|answer| peers.take_answer(answer, asked, region));
    match taken {
        Ok(Ok(())) => {
            backoff.reset();
            None
        }
        Ok(Err(error)) => {
            tracing::warn!(error = error_line::of(&error), "cannot use the roster of the region");
            Some(backoff.next(rand::random()).min(MOST_PAUSE))
        }
        Err(error) => {
            tracing::debug!(error = error_line::of(&error), "no answer about the region");
            Some(backoff.next(rand::random()).min(MOST_PAUSE))
        }
    }
}

fn request(peers: &Peers, lane: Lane, hold: Duration) -> RelayRequest {
    RelayRequest {
        lane,
        hold_ms: u32::try_from(hold.as_millis()).unwrap_or(0),
        addresses: peers.rules.advertise.iter().map(ToString::to_string).collect(),
        label: peers.rules.region.clone(),
        known: peers.shared.with_core(|core| (core.view().roster().region, core.view().version())),
        wants_loan: false,
        report: peers.report(),
        envelopes: Vec::new(),
    }
}
