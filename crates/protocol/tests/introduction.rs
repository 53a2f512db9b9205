//! The wire format of enrolment and sessions. A changed snapshot is a change of the protocol: raise
//! its version, or keep agents of the old one working.

use model::{AgentId, AgentState, PlaceClaim, UnixMillis};
use protocol::{
    enrol::AgentProfile, enrol::EnrolRequest, enrol::EnrolResponse, join_token::JoinToken,
    key::AgentKey, key::CoordinatorKey, session::Session, session::SessionRequest,
};

#[test]
fn the_wire_format_is_fixed() {
    let agent = AgentKey::from_seed([5; 32]);
    let coordinator = CoordinatorKey::from_seed([6; 32]);
    let token = JoinToken::new([7; 20], &coordinator.public());
    let profile = AgentProfile {
        name: "cs.example".into(),
        contact: "https://example.org/bot".into(),
        version: "0.1.0".into(),
        capacity_pages_per_day: 1_000,
        zone: "Europe/Nicosia".into(),
        spans: vec!["mon-fri 22:00-06:00".into()],
        place: PlaceClaim::new(35.17, 33.36, Some("Nicosia".into()), Some("CY".into())).ok(),
    };
    let token = token.as_str().to_owned();
    let time = UnixMillis(1_700_000_000_000);
    let enrol = EnrolRequest::new(&agent, token, profile, time, "nonce".into());
    insta::assert_json_snapshot!("enrol_request", enrol);
    let id = AgentId::new(3);
    let enrolled = EnrolResponse::new(&coordinator, &enrol, id, AgentState::Pending, time);
    insta::assert_json_snapshot!("enrol_response", enrolled);
    let request = SessionRequest::new(&agent, id, "challenge".into(), "nonce".into());
    insta::assert_json_snapshot!("session_request", request);
    let session = Session::new(&coordinator, &request, "token".into(), 600);
    insta::assert_json_snapshot!("session", session);
}
