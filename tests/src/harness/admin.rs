//! An admin's session at the coordinator's HTTP API.

use std::net::SocketAddr;
use std::time::Duration;

use model::AgentId;
use reqwest::header::{COOKIE, SET_COOKIE};
use reqwest::{Client, Method, RequestBuilder, Response};
use serde_json::{Value, json};

use super::HarnessError;

/// No answer takes longer, not even while the machine builds something else.
const PATIENCE: Duration = Duration::from_secs(30);

/// An admin who is signed in.
#[derive(Debug, Clone)]
pub struct Admin {
    client: Client,
    base: String,
    cookie: String,
}

impl Admin {
    /// Signs in as `admin` at the coordinator that `address` leads to.
    pub async fn sign_in(address: SocketAddr, password: &str) -> Result<Self, HarnessError> {
        // An error means that somebody has done it already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let what = "sign in";
        let built = Client::builder().no_proxy().timeout(PATIENCE).build();
        let client = built.map_err(|source| failed(what, source))?;
        let mut admin =
            Self { client, base: format!("http://{address}/api/v1"), cookie: String::new() };
        let credentials = json!({ "name": "admin", "password": password });
        let answer =
            admin.send(what, admin.request(Method::POST, "session").json(&credentials)).await?;
        let cookie = answer.headers().get(SET_COOKIE).and_then(|value| value.to_str().ok());
        let cookie = cookie.and_then(|cookie| cookie.split(';').next());
        cookie
            .ok_or(HarnessError::Answer { what: what.to_owned(), field: "cookie" })?
            .clone_into(&mut admin.cookie);
        Ok(admin)
    }

    /// A token for one enrolment.
    pub async fn join_token(&self, name: &str) -> Result<String, HarnessError> {
        let what = "make a join token";
        let wish = json!({ "name": name, "ttl_s": 3600 });
        let answer = self.json(what, self.request(Method::POST, "join-tokens").json(&wish)).await?;
        let token = answer["token"].as_str();
        Ok(token.ok_or(HarnessError::Answer { what: what.to_owned(), field: "token" })?.to_owned())
    }

    /// Approves an agent.
    pub async fn approve(&self, agent: AgentId) -> Result<(), HarnessError> {
        let path = format!("agents/{agent}/approve");
        self.send("approve an agent", self.request(Method::POST, &path)).await.map(drop)
    }

    /// Sets the policy.
    pub async fn set_policy(&self, policy: &Value) -> Result<(), HarnessError> {
        self.send("set the policy", self.request(Method::PUT, "policy").json(policy))
            .await
            .map(drop)
    }

    /// Pins a range to an agent; a subnet of this very range is delegated at once.
    pub async fn pin(&self, range: &str, agent: AgentId) -> Result<(), HarnessError> {
        let wish = json!({ "scope": { "range": range }, "agent": agent, "reason": "a scenario" });
        self.send("pin a range", self.request(Method::POST, "pins").json(&wish)).await.map(drop)
    }

    /// Removes a pin; its subnets stay where they are until something else decides.
    pub async fn unpin(&self, pin: &str) -> Result<(), HarnessError> {
        self.send("remove a pin", self.request(Method::DELETE, &format!("pins/{pin}")))
            .await
            .map(drop)
    }

    /// Adds URLs to crawl; the coordinator's count of them.
    pub async fn seed(&self, urls: &[String]) -> Result<Value, HarnessError> {
        let wish = json!({ "urls": urls });
        self.json("add seeds", self.request(Method::POST, "seeds").json(&wish)).await
    }

    /// The document at a path below `/api/v1/`.
    pub async fn get(&self, path: &str) -> Result<Value, HarnessError> {
        self.json(&format!("read {path}"), self.request(Method::GET, path)).await
    }

    /// Every item of a list.
    pub async fn list(&self, path: &str) -> Result<Vec<Value>, HarnessError> {
        let mut items = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = self.get(&format!("{path}?limit=500{cursor}")).await?;
            items.extend(page["items"].as_array().into_iter().flatten().cloned());
            match page["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => return Ok(items),
            }
        }
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}/{path}", self.base));
        if self.cookie.is_empty() { request } else { request.header(COOKIE, &self.cookie) }
    }

    async fn json(&self, what: &str, request: RequestBuilder) -> Result<Value, HarnessError> {
        self.send(what, request).await?.json().await.map_err(|source| failed(what, source))
    }

    async fn send(&self, what: &str, request: RequestBuilder) -> Result<Response, HarnessError> {
        let answer = request.send().await.map_err(|source| failed(what, source))?;
        let status = answer.status();
        if status.is_success() {
            return Ok(answer);
        }
        let mut said = answer.text().await.unwrap_or_default();
        said.truncate(said.floor_char_boundary(500));
        Err(HarnessError::Refused { what: what.to_owned(), status: status.as_u16(), said })
    }
}

fn failed(what: &str, source: reqwest::Error) -> HarnessError {
    HarnessError::Request { what: what.to_owned(), source }
}
