//! Signing in and out.

use argon2::password_hash::PasswordHasher as _;
use argon2::{Algorithm, Argon2, Params, Version};
use coordinator::http::admin::first_admin;
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::browser::{Browser, PASSWORD, Reply, json_body};
use crate::world::{Ground, Running};

async fn sql(ground: &Ground, statement: &'static str) -> u64 {
    store::testing::execute(ground.store(), statement).await.unwrap()
}

async fn ensure(ground: &Ground, running: &Running, wish: Option<&str>) -> Option<String> {
    first_admin::ensure(ground.store(), wish, rand::random(), running.coordinator.now())
        .await
        .unwrap()
}

#[tokio::test]
async fn in_and_out() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let mut browser = Browser::signed_in(&ground, &running).await;
    assert_eq!(browser.read("/api/v1/session").await, json!({ "name": "admin", "role": "admin" }));
    let out = browser.delete("/api/v1/session").await;
    assert_eq!(out.status, StatusCode::NO_CONTENT);
    assert!(out.header("set-cookie").unwrap().contains("Max-Age=0"));
    // The old cookie is worth nothing, whoever kept it.
    browser.get("/api/v1/session").await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
    browser.cookie = None;
    assert_eq!(browser.delete("/api/v1/session").await.status, StatusCode::NO_CONTENT);
    running.stop().await;
}

#[tokio::test]
async fn two_sign_ins_at_once_may_both_renew_the_hash() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    ensure(&ground, &running, Some(PASSWORD)).await;
    let weak = Params::new(8, 1, 1, None).unwrap();
    let weak = Argon2::new(Algorithm::Argon2id, Version::V0x13, weak);
    let hash = weak.hash_password(PASSWORD.as_bytes()).unwrap();
    let statement = format!("UPDATE admins SET password_hash = '{hash}'");
    assert_eq!(sql(&ground, statement.leak()).await, 1);
    let mut browsers = [Browser::new(&running), Browser::new(&running)];
    let [one, two] = &mut browsers;
    let (one, two) = tokio::join!(one.sign_in("admin", PASSWORD), two.sign_in("admin", PASSWORD));
    assert_eq!([one.status, two.status], [StatusCode::OK; 2]);
    running.stop().await;
}

#[tokio::test]
async fn a_stranger_may_send_small_bodies_only() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let stranger = Browser::new(&running);
    let long = "x".repeat(100_000);
    let credentials = json!({ "name": "admin", "password": long });
    for path in ["/api/v1/session", "/api/v1/join-requests", "/api/v1/invitations/open"] {
        let refused = stranger.post(path, credentials.clone()).await;
        refused.problem(StatusCode::PAYLOAD_TOO_LARGE, "body-too-large");
    }
    let admin = Browser::signed_in(&ground, &running).await;
    let seeds: Vec<String> = (0..5_000).map(|n| format!("http://127.0.0.1/{n}")).collect();
    admin.post("/api/v1/seeds", json!({ "urls": seeds })).await.well();
    running.stop().await;
}

#[tokio::test]
async fn the_cookie_is_kept_from_scripts_and_other_sites() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    ensure(&ground, &running, Some(PASSWORD)).await;
    let mut browser = Browser::new(&running);
    let plain = browser.sign_in("admin", PASSWORD).await;
    let cookie = plain.header("set-cookie").unwrap();
    assert!(
        cookie.starts_with("nearcrawl_session=")
            && cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax"),
        "{cookie}"
    );
    running.stop().await;
}

/// Before, a cookie was limited to TLS only if the proxy said that the browser used it.
#[tokio::test]
async fn behind_tls_the_cookie_belongs_to_this_host_and_to_tls_alone() {
    let ground = Ground::bare().await;
    let https = "https://search.example.org".parse().unwrap();
    let running = ground.start_changed(|config| config.public_url = Some(https)).await;
    let mut browser = Browser::signed_in(&ground, &running).await;
    browser.read("/api/v1/session").await;
    let cookie = browser.sign_in("admin", PASSWORD).await.header("set-cookie").unwrap().to_owned();
    assert!(
        cookie.starts_with("__Host-nearcrawl_session=")
            && cookie.ends_with("; Path=/; HttpOnly; SameSite=Lax; Secure"),
        "{cookie}"
    );
    // A cookie under the other name, which any host of the domain could set, is worth nothing.
    browser.cookie = browser.cookie.map(|cookie| cookie.replace("__Host-", ""));
    browser.get("/api/v1/session").await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
    running.stop().await;
}

#[tokio::test]
async fn guessing_is_slowed_down_and_known_names_are_not_told() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    ensure(&ground, &running, Some(PASSWORD)).await;
    let mut browser = Browser::new(&running);
    for _ in 0..5 {
        let wrong = browser
            .sign_in("admin", "wrong")
            .await
            .problem(StatusCode::UNAUTHORIZED, "wrong-password");
        let unknown = browser
            .sign_in("nobody", "wrong")
            .await
            .problem(StatusCode::UNAUTHORIZED, "wrong-password");
        assert_eq!(wrong["detail"], unknown["detail"]);
    }
    let refused = browser.sign_in("admin", PASSWORD).await;
    refused.problem(StatusCode::TOO_MANY_REQUESTS, "too-many-tries");
    assert!(refused.header("retry-after").unwrap().parse::<u32>().unwrap() >= 1);
    assert!(browser.cookie.is_none());
    running.stop().await;
}

#[tokio::test]
async fn behind_a_proxy_wrong_passwords_count_for_who_sent_them() {
    let ground = Ground::bare().await;
    let proxy = "127.0.0.1/32".parse().unwrap();
    let running = ground.start_changed(|config| config.trusted_proxies = vec![proxy]).await;
    ensure(&ground, &running, Some(PASSWORD)).await;
    let browser = Browser::new(&running);
    let sign_in = async |from: &str, password: &str| {
        let body = json!({ "name": "admin", "password": password });
        let request = browser.request(Method::POST, "/api/v1/session");
        Reply::of(json_body(request.header("x-forwarded-for", from), &body)).await.status
    };
    for _ in 0..5 {
        assert_eq!(sign_in("192.0.2.1", "wrong").await, StatusCode::UNAUTHORIZED);
    }
    assert_eq!(sign_in("192.0.2.1", PASSWORD).await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(sign_in("192.0.2.2", PASSWORD).await, StatusCode::OK);
    running.stop().await;
}

#[tokio::test]
async fn the_first_password_is_made_up_once_and_can_be_set_anew() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let made = ensure(&ground, &running, None).await.unwrap();
    assert_eq!(ensure(&ground, &running, None).await, None, "told once");
    let mut browser = Browser::new(&running);
    assert_eq!(browser.sign_in("admin", &made).await.status, StatusCode::OK);
    assert_eq!(ensure(&ground, &running, Some(PASSWORD)).await, None);
    browser.get("/api/v1/session").await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
    assert_eq!(browser.sign_in("admin", PASSWORD).await.status, StatusCode::OK);
    ensure(&ground, &running, Some(PASSWORD)).await;
    assert_eq!(
        browser.get("/api/v1/session").await.status,
        StatusCode::OK,
        "the same password ends no session"
    );
    running.stop().await;
}

#[tokio::test]
async fn sessions_end_by_themselves() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    for ageing in [
        "UPDATE admin_sessions SET seen_at = now() - interval '12 hours 1 second'",
        "UPDATE admin_sessions SET created_at = now() - interval '7 days 1 second'",
    ] {
        let browser = Browser::signed_in(&ground, &running).await;
        assert!(sql(&ground, ageing).await > 0);
        browser.get("/api/v1/session").await.problem(StatusCode::UNAUTHORIZED, "not-signed-in");
    }
    running.stop().await;
}

#[tokio::test]
async fn an_open_page_does_not_keep_a_session_alive() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    sql(&ground, "UPDATE admin_sessions SET seen_at = now() - interval '11 hours'").await;
    let request = |path: &str| browser.request(Method::GET, path);
    let by_timer = Reply::of(request("/api/v1/tasks").header("nearcrawl-background", "1")).await;
    assert_eq!(by_timer.status, StatusCode::OK);
    let stream = request("/api/v1/events").send().await.unwrap();
    assert_eq!(stream.status(), StatusCode::OK);
    let idle = "UPDATE admin_sessions SET token_sha256 = token_sha256
                WHERE seen_at < now() - interval '10 hours'";
    assert_eq!(sql(&ground, idle).await, 1);
    browser.read("/api/v1/tasks").await;
    assert_eq!(sql(&ground, idle).await, 0);
    drop(stream);
    running.stop().await;
}

#[tokio::test]
async fn viewers_look_and_change_nothing() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    sql(&ground, "UPDATE admins SET role = 'viewer'").await;
    assert_eq!(browser.read("/api/v1/session").await["role"], "viewer");
    browser.read("/api/v1/policy").await;
    let policy = json!({ "threshold_ms": 1, "patience_s": 1, "host_delay_ms": 0 });
    browser.put("/api/v1/policy", policy).await.problem(StatusCode::FORBIDDEN, "not-an-admin");
    browser
        .post("/api/v1/seeds", json!({ "urls": ["http://198.51.100.1/"] }))
        .await
        .problem(StatusCode::FORBIDDEN, "not-an-admin");
    running.stop().await;
}
