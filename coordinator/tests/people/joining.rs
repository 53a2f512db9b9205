//! Joining: a partner asks by the public form, an admin accepts, and a one-time link makes the join
//! token.

use coordinator::placement::agent_administration::AgentAction;
use protocol::enrol::EnrolRequest;
use protocol::join_token::Fingerprint;
use protocol::key::{AgentKey, ReleaseKey};
use reqwest::{Response, StatusCode};
use serde_json::{Value, json};

use crate::agent::{FakeAgent, client, now, post, problem, profile};
use crate::browser::Browser;
use crate::world::{Ground, Running};

const REQUESTS: &str = "/api/v1/join-requests";

fn wish() -> Value {
    json!({
        "name": "Library", "contact": "crawler@example.edu", "place": "Nicosia",
        "zone": "Europe/Nicosia", "spans": ["mon-fri 22:00-06:00"], "message": "A quiet machine.",
    })
}

/// The secret of the one-time link in the answer to an acceptance.
fn secret(accepted: &Value) -> Value {
    let path = accepted["path"].as_str().unwrap();
    json!({ "secret": path.strip_prefix("/invitation#").unwrap() })
}

/// The answer to an enrolment with this join token.
async fn enrolment(running: &Running, token: &str) -> Response {
    let key = AgentKey::from_seed([1; 32]);
    let request = EnrolRequest::new(&key, token.into(), profile(1), now(), "nonce".into());
    let url = format!("{}/api/v1/agent/enrol", running.base);
    post(&client("127.0.0.1"), url, "", &request).await
}

#[tokio::test]
async fn a_partner_asks_and_joins_with_a_link_that_works_once() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let viewer = Browser::signed_in_as_viewer(&admin, &running).await;
    let partner = Browser::new(&running);
    let entered = partner.post(REQUESTS, wish()).await;
    assert_eq!(entered.status, StatusCode::CREATED, "{}", entered.text);
    partner.get(REQUESTS).await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");

    let listed = viewer.read(&format!("{REQUESTS}?state=waiting")).await;
    let id = listed["items"][0]["id"].as_str().unwrap();
    assert_eq!((&listed["items"][0]["place"], id), (&json!("Nicosia"), "jrq_1"));
    let accept = format!("{REQUESTS}/{id}/accept");
    viewer.post(&accept, json!({})).await.problem(StatusCode::FORBIDDEN, "not-an-admin");
    let lost = secret(&admin.post(&accept, json!({})).await.well());
    // A page that still shows the request as waiting must not end the link that was sent.
    for stale in [&accept, &format!("{REQUESTS}/{id}/decline")] {
        let stale = admin.post(&format!("{stale}?shown=waiting"), json!({})).await;
        let problem = stale.problem(StatusCode::CONFLICT, "conflict");
        assert!(problem["detail"].as_str().unwrap().contains("accepted by now"), "{problem}");
    }
    let accepted = admin.post(&format!("{accept}?shown=accepted"), json!({})).await.well();
    assert_eq!(accepted["request"]["state"], "accepted");

    let open = "/api/v1/invitations/open";
    partner.post(open, lost).await.problem(StatusCode::NOT_FOUND, "not-found");
    let opened = partner.post(open, secret(&accepted)).await.well();
    assert_eq!(opened["spans"], json!(["mon-fri 22:00-06:00"]));
    partner.post(open, secret(&accepted)).await.problem(StatusCode::CONFLICT, "conflict");
    let log = admin.read("/api/v1/audit/entries?subject=jrq_1").await;
    let entry = &log["items"][0];
    assert_eq!(
        (&entry["actor"], &entry["action"]),
        (&json!("partner"), &json!("join_request.open"))
    );
    assert_eq!(entry["detail"], json!({ "join_token": "tok_1" }));
    let of_token = admin.read("/api/v1/audit/entries?subject=tok_1").await;
    assert_eq!(of_token["items"], json!([]), "no admin made it");

    let token = opened["join_token"].as_str().unwrap().to_owned();
    let agent = FakeAgent::enrol_with(&running, 1, token).await;
    let seen = admin.read(&format!("/api/v1/agents/{}", agent.id)).await;
    let fingerprint = Fingerprint::of(&agent.key.public()).to_string();
    assert_eq!(seen["key_fingerprint"], fingerprint);
    assert_eq!((&seen["join_token"], &seen["state"]), (&json!("Library"), &json!("pending")));
    let joined = admin.read(REQUESTS).await;
    assert_eq!(joined["items"][0]["agent"]["id"], agent.id.to_string());
    admin.post(&accept, json!({})).await.problem(StatusCode::CONFLICT, "conflict");
    running.stop().await;
}

#[tokio::test]
async fn a_declined_request_and_a_revoked_token_let_nobody_in() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let partner = Browser::new(&running);
    partner.post(REQUESTS, wish()).await;
    let accepted = admin.post(&format!("{REQUESTS}/jrq_1/accept"), json!({})).await.well();
    let declined = admin.post(&format!("{REQUESTS}/jrq_1/decline"), json!({})).await.well();
    assert_eq!(declined["state"], "declined");
    let open = partner.post("/api/v1/invitations/open", secret(&accepted)).await;
    open.problem(StatusCode::NOT_FOUND, "not-found");

    let made = json!({ "name": "lab", "ttl_s": 3_600 });
    let made = admin.post("/api/v1/join-tokens", made).await.well();
    let token = made["token"].as_str().unwrap();
    let revoke = "/api/v1/join-tokens/tok_1/revoke";
    assert_eq!(admin.post(revoke, json!({})).await.status, StatusCode::NO_CONTENT);
    assert_eq!(admin.post(revoke, json!({})).await.status, StatusCode::NO_CONTENT);
    let (status, name, detail) = problem(enrolment(&running, token).await).await;
    assert_eq!((status, name.as_str()), (StatusCode::UNAUTHORIZED, "join-token"));
    assert!(detail.contains("revoked"), "{detail}");
    let listed = admin.read("/api/v1/join-tokens").await;
    assert_eq!(listed["items"][0]["revoked_by"], "admin");

    let used = FakeAgent::enrol(&running, 2).await;
    running.order(used.id, AgentAction::Approve).await;
    let refused = admin.post("/api/v1/join-tokens/tok_2/revoke", json!({})).await;
    refused.problem(StatusCode::CONFLICT, "conflict");
    running.stop().await;
}

#[tokio::test]
async fn strangers_can_send_few_requests_and_only_whole_ones() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let partner = Browser::new(&running);
    let wrong = json!({ "name": "", "contact": "nowhere", "zone": "Europe/Nicosia" });
    let problem = partner.post(REQUESTS, wrong).await;
    let problem = problem.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    let fields: Vec<&Value> =
        problem["errors"].as_array().unwrap().iter().map(|error| &error["field"]).collect();
    assert_eq!(fields, ["name", "contact"]);
    for _ in 0..3 {
        assert_eq!(partner.post(REQUESTS, wish()).await.status, StatusCode::CREATED);
    }
    let refused = partner.post(REQUESTS, wish()).await;
    refused.problem(StatusCode::TOO_MANY_REQUESTS, "too-many-tries");
    running.stop().await;
}

#[tokio::test]
async fn the_operator_says_which_programs_are_offered() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let partner = Browser::new(&running);
    assert_eq!(partner.read("/api/v1/downloads").await["programs"], Value::Null);
    let unit = partner.get("/downloads/nearcrawl-agent.service").await;
    assert!(unit.text.contains("DynamicUser=yes"), "{}", unit.text);
    let guide = partner.get("/downloads/partner.md").await;
    assert!(guide.text.starts_with("# Partner's guide"), "{}", guide.text);
    let missing = partner.get("/downloads/nearcrawl-agent").await;
    missing.problem(StatusCode::NOT_FOUND, "not-found");
    running.stop().await;
}

#[tokio::test]
async fn a_release_and_its_key_are_offered() {
    let ground = Ground::bare().await;
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("release.json"), "{\"document\":\"\"}").unwrap();
    let key = ReleaseKey::from_seed([1; 32]).public();
    let path = dir.path().to_owned();
    let running = ground
        .start_changed(|config| {
            config.agent_downloads = Some(path);
            config.release_key = Some(Box::new(key));
        })
        .await;
    let partner = Browser::new(&running);
    let listed = partner.read("/api/v1/downloads").await;
    assert_eq!(listed, json!({ "programs": [], "release_key": key.to_string() }));
    assert_eq!(partner.get("/downloads/release.json").await.text, "{\"document\":\"\"}");
    std::fs::remove_file(dir.path().join("release.json")).unwrap();
    let missing = partner.get("/downloads/release.json").await;
    missing.problem(StatusCode::NOT_FOUND, "not-found");
    running.stop().await;
}
