//! The files of the dashboard.

use reqwest::{Method, StatusCode};

use crate::browser::{Browser, Reply};
use crate::world::Ground;

#[tokio::test]
async fn every_page_path_returns_the_index_page() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::new(&running);
    let front = browser.get("/").await;
    assert_eq!(
        (front.status, front.header("content-type")),
        (StatusCode::OK, Some("text/html; charset=utf-8"))
    );
    assert_eq!(front.header("cache-control"), Some("no-cache"));
    for path in ["/agents", "/delegations/dlg_7/explanation", "/hosts/hst_1", "/crawler", "/?q=x"] {
        let page = browser.get(path).await;
        assert_eq!((page.status, &page.text), (StatusCode::OK, &front.text), "{path}");
    }
    for path in ["/nope", "/agents/a/b", "/delegations/dlg_7", "/search?q=x"] {
        let page = browser.get(path).await;
        assert_eq!((page.status, &page.text), (StatusCode::NOT_FOUND, &front.text), "{path}");
    }
    for path in [
        "/assets/missing.js",
        "/assets/",
        "/assets",
        "/api",
        "/api/",
        "/api/v2/x",
        "/missing.css",
        "/x/../../etc/passwd.txt",
    ] {
        browser.get(path).await.problem(StatusCode::NOT_FOUND, "not-found");
    }
    Reply::of(browser.request(Method::POST, "/agents"))
        .await
        .problem(StatusCode::NOT_FOUND, "not-found");
    running.stop().await;
}

#[tokio::test]
async fn pages_are_cached_and_have_a_content_security_policy() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::new(&running);
    let front = browser.get("/").await;
    let policy = front.header("content-security-policy").unwrap();
    assert!(
        policy.contains("script-src 'self'") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    assert!(!policy.contains("unsafe"));
    assert!(
        !front.text.contains("<style") && !front.text.contains("<script>"),
        "nothing inline: {}",
        front.text
    );
    assert_eq!(front.header("x-content-type-options"), Some("nosniff"));
    let again =
        browser.request(Method::GET, "/").header("if-none-match", front.header("etag").unwrap());
    let again = Reply::of(again).await;
    assert_eq!((again.status, again.text.as_str()), (StatusCode::NOT_MODIFIED, ""));
    let head = Reply::of(browser.request(Method::HEAD, "/")).await;
    assert_eq!((head.status, head.text.as_str()), (StatusCode::OK, ""));
    running.stop().await;
}

#[tokio::test]
async fn large_responses_are_compressed() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let browser = Browser::new(&running);
    let request =
        browser.request(Method::GET, "/api/v1/openapi.json").header("accept-encoding", "gzip");
    let response = request.send().await.unwrap();
    assert_eq!(response.headers()["content-encoding"], "gzip");
    assert!(response.bytes().await.unwrap().starts_with(&[0x1f, 0x8b]));
    running.stop().await;
}

#[tokio::test]
async fn crawlers_of_others_read_robots_txt() {
    let ground = Ground::bare().await;
    let running = ground.start().await;
    let robots = Browser::new(&running).get("/robots.txt").await;
    assert_eq!(robots.header("content-type"), Some("text/plain; charset=utf-8"));
    assert!(robots.text.contains("\nDisallow: /\n"), "{}", robots.text);
    running.stop().await;
}
