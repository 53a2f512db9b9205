//! A browser as far as the API sees it: it keeps the session cookie and says where its requests
//! come from.

use coordinator::http::admin::first_admin;
use reqwest::header::HeaderMap;
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde_json::{Value, json};

use crate::world::{Ground, Running};

pub(crate) const PASSWORD: &str = "correct horse battery staple";

#[derive(Clone)]
pub(crate) struct Browser {
    client: Client,
    base: String,
    pub(crate) cookie: Option<String>,
}

pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) text: String,
}

impl Browser {
    pub(crate) fn new(running: &Running) -> Self {
        Self { client: crate::agent::client("127.0.0.1"), base: running.base.clone(), cookie: None }
    }

    /// Signed in as the first admin, who is made if need be.
    pub(crate) async fn signed_in(ground: &Ground, running: &Running) -> Self {
        let now = running.coordinator.now();
        first_admin::ensure(ground.store(), Some(PASSWORD), [0; 15], now).await.unwrap();
        let mut browser = Self::new(running);
        assert_eq!(browser.sign_in(first_admin::NAME, PASSWORD).await.status, StatusCode::OK);
        browser
    }

    /// Signed in as a viewer, whom `admin` creates.
    pub(crate) async fn signed_in_as_viewer(admin: &Self, running: &Running) -> Self {
        let account = json!({ "name": "vera", "role": "viewer", "password": PASSWORD });
        assert_eq!(admin.post("/api/v1/accounts", account).await.status, StatusCode::CREATED);
        let mut viewer = Self::new(running);
        assert_eq!(viewer.sign_in("vera", PASSWORD).await.status, StatusCode::OK);
        viewer
    }

    pub(crate) async fn sign_in(&mut self, name: &str, password: &str) -> Reply {
        let reply =
            self.post("/api/v1/session", json!({ "name": name, "password": password })).await;
        if let Some(cookie) = reply.header("set-cookie") {
            self.cookie = Some(cookie.split(';').next().unwrap().to_owned());
        }
        reply
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self
            .client
            .request(method, format!("{}{path}", self.base))
            .header("sec-fetch-site", "same-origin");
        match &self.cookie {
            Some(cookie) => request.header("cookie", format!("other=1; {cookie}")),
            None => request,
        }
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::GET, path)).await
    }

    /// The body of a GET that must go well.
    pub(crate) async fn read(&self, path: &str) -> Value {
        self.get(path).await.well()
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Reply {
        Reply::of(json_body(self.request(Method::POST, path), &body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Reply {
        Reply::of(json_body(self.request(Method::PUT, path), &body)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::DELETE, path)).await
    }
}

pub(crate) fn json_body(request: RequestBuilder, body: &Value) -> RequestBuilder {
    request.header("content-type", "application/json").body(body.to_string())
}

impl Reply {
    pub(crate) async fn of(request: RequestBuilder) -> Self {
        let response = request.send().await.unwrap();
        let status = response.status();
        let headers = response.headers().clone();
        Self { status, headers, text: response.text().await.unwrap() }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// The body of a success.
    pub(crate) fn well(&self) -> Value {
        assert!(self.status.is_success(), "{} {}", self.status, self.text);
        assert_eq!(self.header("cache-control"), Some("no-store"));
        serde_json::from_str(&self.text).unwrap()
    }

    /// The problem document of a refusal, which must be whole.
    pub(crate) fn problem(&self, status: StatusCode, name: &str) -> Value {
        assert_eq!(
            self.header("content-type"),
            Some("application/problem+json"),
            "{} {}",
            self.status,
            self.text
        );
        let problem: Value = serde_json::from_str(&self.text).unwrap();
        assert_eq!(
            (self.status, problem["status"].as_u64()),
            (status, Some(status.as_u16().into())),
            "{problem}"
        );
        assert_eq!(problem["type"], format!("urn:nearcrawl:problem:{name}"), "{problem}");
        assert_eq!(problem["request_id"].as_str(), self.header("x-request-id"));
        assert!(
            problem["instance"].as_str().is_some_and(|path| path.starts_with('/')),
            "{problem}"
        );
        assert!(
            problem["detail"].as_str().is_some_and(|detail| detail.ends_with(['.', '?'])),
            "{problem}"
        );
        problem
    }
}
