//! Client of the coordinator's agent API. The agent opens connections and never accepts any.
//!
//! An agent enrols once with a join token, which names the coordinator's key. From then on it
//! exchanges a signature for a session, which the coordinator signs with that key, and sends the
//! session's token with every call. [`CoordinatorError`] separates failures that a later attempt
//! may not meet (outages, restarts, a full disk) from those that it will. No redirect is followed.

mod error;

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use bytes::Bytes;
use data_encoding::BASE64URL_NOPAD;
use protocol::{
    HeartbeatRequest, HeartbeatResponse,
    enrol::{EnrolRequest, EnrolResponse},
    join_token::Fingerprint,
    key::AgentKey,
    leave::{LeaveRequest, LeaveResponse},
    limits,
    package::PackageName,
    probe::Reports,
    release,
    resumption::{REPR_DIGEST, UPLOAD_OFFSET, repr_digest},
    session::{Challenge, ChallengeRequest, Session, SessionRequest},
    version,
};
use region::relay::{RELAY_BYTES, RelayAnswer, RelayRequest};
use reqwest::{Client, Method, RequestBuilder, StatusCode, redirect::Policy};
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::Mutex;
use url::Url;

use crate::{config::is_on_loopback, data_dir::Identity, lock::lock};

pub use error::CoordinatorError;

/// Time limit of an ordinary call.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
/// Time limit of a call about a region, which may carry a bundle on a slow line.
const RELAY_TIMEOUT: Duration = Duration::from_mins(2);
/// Time limit of sending a package, which may be large on a slow line.
const UPLOAD_TIMEOUT: Duration = Duration::from_mins(5);
/// Time before its end at which a session is renewed, so that it does not end during a call.
const SESSION_MARGIN: Duration = Duration::from_secs(30);
/// Largest answer, in bytes: a heartbeat's with the most and longest routes.
const MAX_ANSWER_BYTES: usize =
    limits::JSON_BODY_BYTES + limits::ROUTES_PER_HEARTBEAT * (model::url::MAX_BYTES + 100);

/// The agent API of one coordinator, without a session.
#[derive(Clone)]
pub struct AgentApi {
    http: Client,
    base: Url,
    /// The coordinator's files for partners.
    downloads: Url,
}

/// Client with a session of its own, for an agent that has enrolled.
pub struct CoordinatorClient {
    api: AgentApi,
    identity: Identity,
    key: Arc<AgentKey>,
    session: Mutex<Option<Token>>,
    /// The address from which the last answer came.
    peer: std::sync::Mutex<Option<IpAddr>>,
}

struct Token {
    text: String,
    until: Instant,
}

impl AgentApi {
    /// The agent API below the coordinator's URL `base`, called from the source address `bind`.
    pub fn new(base: &Url, bind: Option<IpAddr>) -> Result<Self, CoordinatorError> {
        let mut builder = Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .local_address(bind)
            // A redirect could lead into the networks that the guard protects.
            .redirect(Policy::none())
            .user_agent(concat!("nearcrawl-agent/", env!("CARGO_PKG_VERSION")));
        // A proxy of the environment cannot reach this machine's loopback.
        if is_on_loopback(base) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(CoordinatorError::Setup)?;
        let below = |path: &str| {
            let mut url = base.clone();
            url.set_path(&format!("{}{path}", base.path().trim_end_matches('/')));
            url.set_query(None);
            url
        };
        Ok(Self { http, base: below("/api/v1/agent/"), downloads: below("/downloads/") })
    }

    /// Enrols with a join token of the coordinator with this fingerprint. Enrolling the same key
    /// again returns the same agent.
    pub async fn enrol(
        &self,
        request: &EnrolRequest,
        coordinator: Fingerprint,
    ) -> Result<EnrolResponse, CoordinatorError> {
        let response: EnrolResponse = self.post("enrol", request).await?;
        response.verify(coordinator, request).map_err(CoordinatorError::WrongKey)?;
        Ok(response)
    }

    fn request(&self, method: Method, path: &str, timeout: Duration) -> RequestBuilder {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{path}", self.base.path()));
        self.http.request(method, url).timeout(timeout)
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, CoordinatorError> {
        read(self.request(Method::POST, path, CALL_TIMEOUT).json(body).send().await?).await
    }
}

/// A text that an answer has to repeat in its signature, so that it cannot be a replay.
pub fn new_nonce() -> String {
    BASE64URL_NOPAD.encode(&rand::random::<[u8; 16]>())
}

impl CoordinatorClient {
    /// A client for the agent with this identity and key.
    pub fn new(api: AgentApi, identity: Identity, key: Arc<AgentKey>) -> Self {
        let session = Mutex::default();
        Self { api, identity, key, session, peer: std::sync::Mutex::default() }
    }

    /// Asks for work. The coordinator may hold the answer back for as long as the request says.
    pub async fn heartbeat(
        &self,
        request: &HeartbeatRequest,
    ) -> Result<HeartbeatResponse, CoordinatorError> {
        let timeout = CALL_TIMEOUT + Duration::from_millis(request.hold_ms.into());
        let call = (Method::POST, "heartbeat", timeout);
        read(self.call(call, |sent| sent.json(request)).await?).await
    }

    /// Ends the agent's work at the coordinator; with `done`, has it deregistered.
    pub async fn leave(&self, done: bool) -> Result<LeaveResponse, CoordinatorError> {
        let request = LeaveRequest { protocol: version::CURRENT, done };
        let call = (Method::POST, "leave", CALL_TIMEOUT);
        read(self.call(call, |sent| sent.json(&request)).await?).await
    }

    /// Reports the results of probes.
    pub async fn report(&self, reports: &Reports) -> Result<(), CoordinatorError> {
        let call = (Method::POST, "reports", CALL_TIMEOUT);
        error::check(self.call(call, |sent| sent.json(reports)).await?).await.map(drop)
    }

    /// Exchanges envelopes with the coordinator, and asks for roster and loan of the region. The
    /// coordinator may hold the answer back for as long as the request says.
    pub async fn relay(&self, request: &RelayRequest) -> Result<RelayAnswer, CoordinatorError> {
        let timeout =
            UPLOAD_TIMEOUT.min(RELAY_TIMEOUT + Duration::from_millis(request.hold_ms.into()));
        let body = postcard::to_allocvec(request).map_err(CoordinatorError::Relay)?;
        let call = (Method::POST, "region", timeout);
        let answer = self.call(call, |sent| with_bytes(sent, body.clone())).await?;
        let body = read_bytes(answer, RELAY_BYTES).await?;
        postcard::from_bytes(&body).map_err(CoordinatorError::Relay)
    }

    /// Sends a package; returns once the coordinator has stored it durably. Where an earlier
    /// upload may have begun, only what the coordinator does not have yet is sent.
    pub async fn send_package(
        &self,
        name: PackageName,
        bytes: &Bytes,
        may_be_begun: bool,
    ) -> Result<(), CoordinatorError> {
        let path = format!("packages/{}/{}", name.epoch, name.seq);
        let digest = repr_digest(bytes);
        let offset = if may_be_begun { self.upload_offset(&path, &digest).await? } else { 0 };
        // An offset that cannot be is that of another program.
        let rest = bytes.get(offset..).filter(|rest| !rest.is_empty() && offset > 0);
        let method = if rest.is_some() { Method::PATCH } else { Method::PUT };
        let sent = self.call((method, &path, UPLOAD_TIMEOUT), |sent| {
            let sent = sent.header(REPR_DIGEST, &digest);
            match rest {
                None => with_bytes(sent, bytes.clone()),
                Some(rest) => with_bytes(sent, bytes.slice_ref(rest)).header(UPLOAD_OFFSET, offset),
            }
        });
        error::check(sent.await?).await.map(drop)
    }

    /// Bytes of a package that the coordinator has from an attempt that broke. A coordinator that
    /// cannot resume has none.
    async fn upload_offset(&self, path: &str, digest: &str) -> Result<usize, CoordinatorError> {
        let call = (Method::HEAD, path, CALL_TIMEOUT);
        let response = self.call(call, |sent| sent.header(REPR_DIGEST, digest)).await?;
        let offset =
            response.headers().get(UPLOAD_OFFSET).filter(|_| response.status().is_success());
        Ok(offset.and_then(|offset| offset.to_str().ok()?.parse().ok()).unwrap_or(0))
    }

    /// Sends the bundle of a host that the order with this number released; returns once the
    /// coordinator has stored it durably.
    pub async fn send_bundle(&self, order: u64, bytes: &[u8]) -> Result<(), CoordinatorError> {
        let path = format!("bundles/{order}");
        let call = (Method::PUT, path.as_str(), UPLOAD_TIMEOUT);
        let sent = self.call(call, |sent| with_bytes(sent, bytes.to_vec())).await?;
        error::check(sent).await.map(drop)
    }

    /// Reads a bundle that an answer offered.
    pub async fn bundle(&self, order: u64) -> Result<Vec<u8>, CoordinatorError> {
        let path = format!("bundles/{order}");
        let call = (Method::GET, path.as_str(), UPLOAD_TIMEOUT);
        read_bytes(self.call(call, |sent| sent).await?, limits::BUNDLE_BYTES).await
    }

    /// Asks for a file below `/downloads/`, for which no session is needed.
    pub async fn download(
        &self,
        name: &str,
        timeout: Duration,
    ) -> Result<reqwest::Response, CoordinatorError> {
        let mut url = self.api.downloads.clone();
        url.set_path(&format!("{}{name}", url.path()));
        error::check(self.api.http.get(url).timeout(timeout).send().await?).await
    }

    /// The signed release that the coordinator offers.
    pub async fn release(&self) -> Result<Vec<u8>, CoordinatorError> {
        read_bytes(self.download(release::FILE, CALL_TIMEOUT).await?, release::FILE_BYTES).await
    }

    /// The address from which the last answer came: the coordinator's, or that of a proxy.
    pub fn peer(&self) -> Option<IpAddr> {
        *lock(&self.peer)
    }

    /// Makes a call with the session's token and what `fill` adds. A coordinator that restarted no
    /// longer knows the session; the call is then repeated once with a new one.
    async fn call(
        &self,
        (method, path, timeout): (Method, &str, Duration),
        fill: impl Fn(RequestBuilder) -> RequestBuilder,
    ) -> Result<reqwest::Response, CoordinatorError> {
        let request = || fill(self.api.request(method.clone(), path, timeout));
        let token = self.token(None).await?;
        let response = request().bearer_auth(&token).send().await?;
        let peer = response.remote_addr().map(|peer| peer.ip());
        *lock(&self.peer) = peer;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let token = self.token(Some(&token)).await?;
        Ok(request().bearer_auth(&token).send().await?)
    }

    /// Token of a session that is not about to end and is not `stale`; opens one where needed.
    async fn token(&self, stale: Option<&str>) -> Result<String, CoordinatorError> {
        // Held during the exchange, so that concurrent calls open one session together.
        let mut session = self.session.lock().await;
        if let Some(token) = session.as_ref()
            && token.until > Instant::now() + SESSION_MARGIN
            && Some(token.text.as_str()) != stale
        {
            return Ok(token.text.clone());
        }
        let Identity { agent, coordinator_key } = self.identity;
        let challenge: Challenge = self.api.post("challenge", &ChallengeRequest { agent }).await?;
        let request = SessionRequest::new(&self.key, agent, challenge.nonce, new_nonce());
        let opened: Session = self.api.post("session", &request).await?;
        opened.verify(&coordinator_key, &request).map_err(CoordinatorError::WrongKey)?;
        let until = Instant::now() + Duration::from_secs(opened.expires_in_s.into());
        Ok(session.insert(Token { text: opened.token, until }).text.clone())
    }
}

/// The request with these bytes as its body.
fn with_bytes(request: RequestBuilder, bytes: impl Into<reqwest::Body>) -> RequestBuilder {
    request.header("content-type", "application/octet-stream").body(bytes)
}

/// Reads a JSON answer of bounded size.
async fn read<T: DeserializeOwned>(response: reqwest::Response) -> Result<T, CoordinatorError> {
    let body = read_bytes(response, MAX_ANSWER_BYTES).await?;
    serde_json::from_slice(&body).map_err(CoordinatorError::Answer)
}

/// Reads an answer of at most `most` bytes.
async fn read_bytes(response: reqwest::Response, most: usize) -> Result<Vec<u8>, CoordinatorError> {
    let mut response = error::check(response).await?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > most {
            return Err(CoordinatorError::TooLarge);
        }
    }
    Ok(body)
}
