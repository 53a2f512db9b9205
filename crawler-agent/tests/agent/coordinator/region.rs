//! A region of one agent at the fake coordinator.

use axum::{body::Bytes, extract::State, http::HeaderMap, response::IntoResponse as _};
use model::RegionId;
use protocol::key::{CoordinatorKey, PublicKey};
use region::{
    Settings,
    ownership::SignedView,
    relay::{RelayAnswer, RelayRequest},
    roster::{Mode, Roster, RosterAgent, SignedRoster},
};

use super::{AGENT, Answer, KEY, Shared};

pub(super) async fn relay(State(inner): Shared, headers: HeaderMap, body: Bytes) -> Answer {
    inner.authorise(&headers)?;
    let request: RelayRequest = postcard::from_bytes(&body).unwrap();
    let mut state = inner.state();
    state.is_in_region |= request.known.is_some();
    let is_new = request.known.is_none();
    let answer = RelayAnswer {
        settings: is_new.then(Settings::default),
        view: state.key.filter(|_| is_new).map(view),
        ..RelayAnswer::default()
    };
    Ok(postcard::to_allocvec(&answer).unwrap().into_response())
}

/// A region to which no subnet belongs.
fn view(key: PublicKey) -> SignedView {
    let agent = RosterAgent::new(AGENT, key);
    let roster = Roster {
        region: RegionId::new(1),
        epoch: 1,
        voters_since: 1,
        mode: Mode::Available,
        replicas: 1,
        recovery: 1,
        agents: vec![agent],
        delegations: vec![],
    };
    let signed = SignedRoster::new(&CoordinatorKey::from_seed(KEY), &roster).unwrap();
    SignedView { roster: signed, deltas: vec![] }
}
