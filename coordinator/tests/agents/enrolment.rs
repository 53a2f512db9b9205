//! Enrolment: which agents are accepted, and how others are refused.

use protocol::enrol::{AgentProfile, EnrolRequest};
use protocol::key::AgentKey;
use protocol::session::SessionRequest;
use protocol::version;
use reqwest::{Response, StatusCode};
use serde_json::json;
use store::agents::find;

use crate::agent::{FakeAgent, client, now, post, problem, profile};
use crate::world::{Ground, Running};

fn enrol_request(key: &AgentKey, token: &str, profile: AgentProfile) -> EnrolRequest {
    EnrolRequest::new(key, token.to_owned(), profile, now(), "nonce".into())
}

async fn enrol(running: &Running, request: &impl serde::Serialize) -> Response {
    post(&client("127.0.0.1"), format!("{}/api/v1/agent/enrol", running.base), "", request).await
}

#[tokio::test]
async fn a_wrong_token_is_refused_and_a_used_one_too() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let key = AgentKey::from_seed([1; 32]);
    let request = enrol_request(&key, "nc-made-up", profile(1));
    let (status, name, detail) = problem(enrol(&running, &request).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::UNAUTHORIZED, "join-token"));
    assert!(detail.contains("ask the operator for a new one"), "{detail}");
    let token = running.join_token().await;
    let request = enrol_request(&key, &token, profile(1));
    let enrolled = enrol(&running, &request).await;
    assert_eq!(enrolled.status(), StatusCode::OK);
    assert_eq!(enrolled.headers()["x-content-type-options"], "nosniff");
    assert_eq!(enrolled.headers()["content-security-policy"], "default-src 'none'");
    assert_eq!(enrol(&running, &request).await.status(), StatusCode::OK, "the same key again");
    let thief = enrol_request(&AgentKey::from_seed([2; 32]), &token, profile(2));
    let (status, _, detail) = problem(enrol(&running, &thief).await).await;
    assert_eq!(status, StatusCode::UNAUTHORIZED);
    assert!(detail.contains("used by another agent"), "{detail}");
    running.stop().await;
}

#[tokio::test]
async fn a_clock_that_is_off_a_newer_protocol_and_a_foreign_key_are_said() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let key = AgentKey::from_seed([1; 32]);
    let token = running.join_token().await;
    let past = now().plus_ms(-11 * 60_000);
    let late = EnrolRequest::new(&key, token.clone(), profile(1), past, "nonce".into());
    let (status, name, detail) = problem(enrol(&running, &late).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::CONFLICT, "clock-off"));
    assert!(detail.contains("11 minutes behind"), "{detail}");
    // A newer dialect may have other fields: only the version is looked at.
    let newer = json!({ "protocol": version::CURRENT.0 + 1, "hello": "from the future" });
    let (status, name, detail) = problem(enrol(&running, &newer).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::UPGRADE_REQUIRED, "protocol-version"));
    assert!(detail.contains("update the coordinator"), "{detail}");
    let other = AgentKey::from_seed([2; 32]).public();
    let stolen = EnrolRequest { public_key: other, ..enrol_request(&key, &token, profile(1)) };
    let changed = EnrolRequest { profile: profile(2), ..enrol_request(&key, &token, profile(1)) };
    for forged in [stolen, changed] {
        let (status, name, _) = problem(enrol(&running, &forged).await).await;
        assert_eq!((status, name.as_str()), (StatusCode::UNAUTHORIZED, "signature"));
    }
    let older = json!({ "protocol": version::OLDEST.0 - 1, "hello": "from the past" });
    let (status, name, detail) = problem(enrol(&running, &older).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::UPGRADE_REQUIRED, "protocol-version"));
    assert!(detail.contains("update the agent"), "{detail}");
    let mut nameless = profile(1);
    nameless.name = String::new();
    let (status, name, detail) =
        problem(enrol(&running, &enrol_request(&key, &token, nameless)).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields"));
    assert!(detail.contains("profile.name"), "{detail}");
    let (status, ..) =
        problem(enrol(&running, &json!({ "protocol": version::CURRENT.0 })).await).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    running.stop().await;
}

#[tokio::test]
async fn a_nonce_is_good_once_and_only_for_its_agents_signature() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    let nonce = agent.nonce(&running).await;
    let thief = AgentKey::from_seed([9; 32]);
    let forged = SessionRequest::new(&thief, agent.id, nonce.clone(), "nonce".into());
    let (status, name, _) = problem(agent.post(&running, "session", &forged).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::UNAUTHORIZED, "signature"));
    let request = SessionRequest::new(&agent.key, agent.id, nonce, "nonce".into());
    assert_eq!(agent.post(&running, "session", &request).await.status(), StatusCode::OK);
    let (status, name, detail) = problem(agent.post(&running, "session", &request).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::UNAUTHORIZED, "nonce"));
    assert!(detail.contains("used before"), "{detail}");
    running.stop().await;
}

#[tokio::test]
async fn without_a_good_session_nothing_is_told() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let mut agent = FakeAgent::enrol(&running, 1).await;
    for token in ["", "nonsense", &agent.nonce(&running).await] {
        agent.token = token.to_owned();
        let (status, name, _) =
            problem(agent.post(&running, "heartbeat", &agent.heartbeat_request(0)).await).await;
        assert_eq!((status, name.as_str()), (StatusCode::UNAUTHORIZED, "no-session"), "{token}");
    }
    agent.sign_in(&running).await;
    let pending = agent.ship(&running, 1, agent.package(1, &[])).await;
    let (status, name, _) = problem(pending).await;
    assert_eq!((status, name.as_str()), (StatusCode::FORBIDDEN, "not-approved"));
    running.stop().await;
}

/// The key is made once and kept in the database, so that agents know every coordinator of it.
#[tokio::test]
async fn every_coordinator_of_a_database_has_the_same_key() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let mut agent = FakeAgent::enrol(&running, 1).await;
    running.stop().await;
    let restarted = ground.start().await;
    agent.sign_in(&restarted).await;
    restarted.stop().await;
}

#[tokio::test]
async fn a_profile_that_the_owner_has_changed_comes_with_a_heartbeat() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let agent = FakeAgent::enrol(&running, 1).await;
    let enrolled = find(ground.store(), agent.id).await.unwrap().unwrap();
    let changed = AgentProfile {
        contact: "mailto:bot@example.org".into(),
        version: "0.2.0".into(),
        capacity_pages_per_day: 77,
        zone: "Europe/Nicosia".into(),
        spans: vec!["daily 01:00-02:00".into()],
        ..profile(2)
    };
    // With the last one nobody could enrol, and the heartbeat is taken all the same.
    for told in [changed.clone(), AgentProfile { zone: String::new(), ..changed.clone() }] {
        let mut request = agent.heartbeat_request(0);
        request.profile = Some(told);
        assert_eq!(agent.post(&running, "heartbeat", &request).await.status(), StatusCode::OK);
        let stored = find(ground.store(), agent.id).await.unwrap().unwrap();
        let AgentProfile { name, contact, version, capacity_pages_per_day, zone, spans, .. } =
            &changed;
        assert_eq!((&stored.name, &stored.contact, &stored.version), (name, contact, version));
        assert_eq!(stored.capacity_pages_per_day, *capacity_pages_per_day);
        assert_eq!((&stored.zone, &stored.spans), (zone, spans));
        assert_eq!((stored.home, stored.state), (enrolled.home, enrolled.state));
    }
    running.stop().await;
}
