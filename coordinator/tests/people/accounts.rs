//! Accounts: created, changed and removed by admins.

use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::browser::{Browser, PASSWORD};
use crate::world::Ground;

const ACCOUNTS: &str = "/api/v1/accounts";
const TOKENS: &str = "/api/v1/api-tokens";
const OTHER: &str = "another long password";

async fn id_of(browser: &Browser, name: &str) -> String {
    let accounts = browser.read(ACCOUNTS).await;
    let named = |account: &&Value| account["name"] == name;
    let found = accounts["items"].as_array().unwrap().iter().find(named).unwrap().clone();
    found["id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_role_applies_at_once() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let vera = Browser::signed_in_as_viewer(&admin, &running).await;
    let path = format!("{ACCOUNTS}/{}/role", id_of(&admin, "vera").await);
    vera.put(&path, json!({ "role": "admin" }))
        .await
        .problem(StatusCode::FORBIDDEN, "not-an-admin");
    assert_eq!(admin.put(&path, json!({ "role": "admin" })).await.well()["role"], "admin");
    assert_eq!(vera.put(&path, json!({ "role": "viewer" })).await.well()["role"], "viewer");
    vera.put(&path, json!({ "role": "admin" }))
        .await
        .problem(StatusCode::FORBIDDEN, "not-an-admin");
    admin
        .put(&path, json!({ "role": "owner" }))
        .await
        .problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    running.stop().await;
}

#[tokio::test]
async fn the_last_admin_stays() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let vera = Browser::signed_in_as_viewer(&admin, &running).await;
    let own = format!("{ACCOUNTS}/{}", id_of(&admin, "admin").await);
    admin.delete(&own).await.problem(StatusCode::CONFLICT, "conflict");
    let role = json!({ "role": "viewer" });
    admin.put(&format!("{own}/role"), role.clone()).await.problem(StatusCode::CONFLICT, "conflict");
    let other = format!("{ACCOUNTS}/{}", id_of(&admin, "vera").await);
    admin.put(&format!("{other}/role"), json!({ "role": "admin" })).await.well();
    assert_eq!(vera.delete(&own).await.status, StatusCode::NO_CONTENT);
    admin.get("/api/v1/session").await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
    vera.delete(&own).await.problem(StatusCode::NOT_FOUND, "not-found");
    running.stop().await;
}

#[tokio::test]
async fn a_new_password_ends_the_sessions_of_the_old_one() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let mut vera = Browser::signed_in_as_viewer(&admin, &running).await;
    let path = format!("{ACCOUNTS}/{}/password", id_of(&admin, "vera").await);
    let short = admin.put(&path, json!({ "password": "elevenchars" })).await;
    let short = short.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    let message = short["errors"][0]["message"].as_str().unwrap();
    assert!(message.contains("11") && message.contains("12"), "{message}");
    admin.put(&path, json!({ "password": OTHER })).await.well();
    vera.get("/api/v1/session").await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
    assert_eq!(vera.sign_in("vera", PASSWORD).await.status, StatusCode::UNAUTHORIZED);
    assert_eq!(vera.sign_in("vera", OTHER).await.status, StatusCode::OK);
    running.stop().await;
}

#[tokio::test]
async fn a_password_that_somebody_else_sets_revokes_the_api_tokens() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let vera = Browser::signed_in_as_viewer(&admin, &running).await;
    let token = json!({ "name": "script", "scope": "viewer" });
    vera.post(TOKENS, token.clone()).await.well();
    admin.post(TOKENS, token).await.well();
    let path = format!("{ACCOUNTS}/{}/password", id_of(&admin, "vera").await);
    admin.put(&path, json!({ "password": OTHER })).await.well();
    let left = admin.read(TOKENS).await;
    let owners: Vec<&Value> =
        left["items"].as_array().unwrap().iter().map(|token| &token["account_name"]).collect();
    assert_eq!(owners, ["admin"]);
    running.stop().await;
}

#[tokio::test]
async fn whoever_changes_the_own_password_says_whether_api_tokens_are_revoked() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let vera = Browser::signed_in_as_viewer(&admin, &running).await;
    vera.post(TOKENS, json!({ "name": "script", "scope": "viewer" })).await.well();
    for (current, new, revokes, left) in [(PASSWORD, OTHER, false, 1), (OTHER, PASSWORD, true, 0)] {
        let body = json!({ "current": current, "new": new, "revoke_api_tokens": revokes });
        let changed = vera.put("/api/v1/session/password", body).await;
        assert_eq!(changed.status, StatusCode::NO_CONTENT);
        let tokens = vera.read(TOKENS).await;
        assert_eq!(tokens["items"].as_array().unwrap().len(), left);
    }
    running.stop().await;
}

#[tokio::test]
async fn everybody_changes_the_own_password() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let vera = Browser::signed_in_as_viewer(&admin, &running).await;
    let mut elsewhere = Browser::new(&running);
    elsewhere.sign_in("vera", PASSWORD).await;
    let change = |current: &str, new: &str| {
        let body = json!({ "current": current, "new": new });
        let vera = vera.clone();
        async move { vera.put("/api/v1/session/password", body).await }
    };
    let wrong = change("not the password", OTHER).await;
    let wrong = wrong.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    assert_eq!(wrong["errors"][0]["field"], "current");
    assert_eq!(change(PASSWORD, OTHER).await.status, StatusCode::NO_CONTENT);
    vera.read("/api/v1/session").await;
    elsewhere.get("/api/v1/session").await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
    running.stop().await;
}

#[tokio::test]
async fn names_are_unique_and_readable() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let admin = Browser::signed_in(&ground, &running).await;
    let create = |name: &str| {
        let body = json!({ "name": name, "role": "viewer", "password": PASSWORD });
        let admin = admin.clone();
        async move { admin.post(ACCOUNTS, body).await }
    };
    let created = create("ada").await;
    assert_eq!(created.status, StatusCode::CREATED);
    let account = created.well();
    assert_eq!((&account["name"], &account["role"]), (&json!("ada"), &json!("viewer")));
    assert_eq!(account["last_seen_at"], Value::Null);
    create("ada").await.problem(StatusCode::CONFLICT, "conflict");
    for name in ["", " ada", "a\nda", "coordinator", &"x".repeat(101)] {
        let refused = create(name).await;
        refused.problem(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields");
    }
    running.stop().await;
}
