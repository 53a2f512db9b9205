//! API tokens: scripts use the API in the name of an account, within the scope of the token.

use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::browser::{Browser, Reply, json_body};
use crate::world::Ground;

const TOKENS: &str = "/api/v1/api-tokens";

/// A request of a script: no cookie, and no word of where it comes from.
async fn script(running_base: &Browser, method: Method, path: &str, token: &str) -> Reply {
    Reply::of(running_base.request(method, path).bearer_auth(token)).await
}

async fn made(browser: &Browser, name: &str, scope: &str) -> (String, String) {
    let new = json!({ "name": name, "scope": scope, "days": 1 });
    let made = browser.post(TOKENS, new).await.well();
    let text = |key: &str| made[key].as_str().unwrap().to_owned();
    (text("id"), text("token"))
}

#[tokio::test]
async fn a_token_may_what_its_scope_says_until_it_is_revoked() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let nobody = Browser::new(&running);
    let (reader_id, reader) = made(&admin, "report", "viewer").await;
    let (_, writer) = made(&admin, "night job", "admin").await;
    assert_eq!(
        script(&nobody, Method::GET, "/api/v1/agents", &reader).await.status,
        StatusCode::OK
    );
    let seeds = json!({ "urls": ["http://127.0.0.1/"] });
    let add = |token: &str| {
        json_body(nobody.request(Method::POST, "/api/v1/seeds"), &seeds).bearer_auth(token)
    };
    Reply::of(add(&reader)).await.problem(StatusCode::FORBIDDEN, "not-an-admin");
    Reply::of(add(&writer)).await.well();
    let log = admin.read("/api/v1/audit/entries?action=seeds").await;
    assert_eq!(log["items"][0]["actor"], "admin (token night job)");
    let by_person = admin.read("/api/v1/audit/entries?action=seeds&actor=admin").await;
    assert_eq!(by_person["items"], log["items"], "what scripts do is the person's");
    let by_other = admin.read("/api/v1/audit/entries?action=seeds&actor=adm").await;
    assert_eq!(by_other["items"], json!([]));

    let another = json!({ "name": "child", "scope": "viewer" });
    let another = json_body(nobody.request(Method::POST, TOKENS), &another).bearer_auth(&writer);
    Reply::of(another).await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");

    // Whoever finds a token must not make a password of it.
    let account = json!({ "name": "eve", "password": "a long password", "role": "admin" });
    let account = json_body(nobody.request(Method::POST, "/api/v1/accounts"), &account);
    let refused = Reply::of(account.bearer_auth(&writer)).await;
    refused.problem(StatusCode::FORBIDDEN, "not-in-person");
    let remove = nobody.request(Method::DELETE, "/api/v1/accounts/acc_1").bearer_auth(&writer);
    Reply::of(remove).await.problem(StatusCode::FORBIDDEN, "not-in-person");

    let used = admin.read(TOKENS).await;
    assert!(used["items"][0]["last_used_at"].is_string(), "{used}");
    let revoked = admin.delete(&format!("{TOKENS}/{reader_id}")).await;
    assert_eq!(revoked.status, StatusCode::NO_CONTENT);
    let refused = script(&nobody, Method::GET, "/api/v1/agents", &reader).await;
    refused.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
    running.stop().await;
}

#[tokio::test]
async fn a_token_never_permits_more_than_its_account() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let viewer = Browser::signed_in_as_viewer(&admin, &running).await;
    let wish = json!({ "name": "x", "scope": "admin" });
    viewer.post(TOKENS, wish).await.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    let (id, token) = made(&admin, "job", "admin").await;
    viewer.delete(&format!("{TOKENS}/{id}")).await.problem(StatusCode::NOT_FOUND, "not-found");
    assert_eq!(viewer.read(TOKENS).await["items"], json!([]), "viewers see their own");
    let (own, token_of_viewer) = made(&viewer, "report", "viewer").await;
    let seen = script(&viewer, Method::GET, TOKENS, &token_of_viewer).await.well();
    assert_eq!(
        (&seen["items"][0]["id"], seen["items"].as_array().unwrap().len()),
        (&json!(own), 1)
    );
    let path = format!("{TOKENS}/{own}");
    let revoked = script(&viewer, Method::DELETE, &path, &token_of_viewer).await;
    assert_eq!(revoked.status, StatusCode::NO_CONTENT, "also by itself");

    // The account becomes a viewer, and so does its token.
    let accounts = admin.read("/api/v1/accounts").await;
    let id_of = |name: &str| {
        let all = accounts["items"].as_array().unwrap();
        all.iter().find(|account| account["name"] == name).unwrap()["id"].clone()
    };
    let role = |id: serde_json::Value| format!("/api/v1/accounts/{}/role", id.as_str().unwrap());
    admin.put(&role(id_of("vera")), json!({ "role": "admin" })).await.well();
    viewer.put(&role(id_of("admin")), json!({ "role": "viewer" })).await.well();
    let nobody = Browser::new(&running);
    let seeds = json!({ "urls": ["http://127.0.0.1/"] });
    let add = json_body(nobody.request(Method::POST, "/api/v1/seeds"), &seeds).bearer_auth(&token);
    Reply::of(add).await.problem(StatusCode::FORBIDDEN, "not-an-admin");
    running.stop().await;
}
