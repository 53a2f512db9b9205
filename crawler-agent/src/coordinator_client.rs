//! Talking to the coordinator: the agent opens connections, never accepts any.
//!
//! Enrolment with a join token happens once; from then on a signature buys a session, and the
//! session's token goes with every call. What passes (outages, restarts, a full disk there) is told
//! apart from what does not ([`CoordinatorError`]).

mod error;

use std::{
    net::IpAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use model::AgentId;
use protocol::{
    HeartbeatRequest, HeartbeatResponse, enrol::EnrolRequest, enrol::EnrolResponse, key::AgentKey,
    limits, package::PackageName, probe::Reports, session::Challenge, session::ChallengeRequest,
    session::Session, session::SessionRequest,
};
use reqwest::{Client, Method, RequestBuilder, StatusCode};
use serde::{Serialize, de::DeserializeOwned};
use tokio::sync::Mutex;
use url::Url;

pub use error::CoordinatorError;

/// Time for an ordinary call.
const CALL: Duration = Duration::from_secs(30);
/// Time for a package, which may be large and the line slow.
const UPLOAD: Duration = Duration::from_mins(5);
/// How long before its end a session is renewed.
const MARGIN: Duration = Duration::from_secs(30);

/// The agent API of one coordinator.
#[derive(Clone)]
pub struct AgentApi {
    http: Client,
    base: Url,
}

/// A coordinator that knows this agent.
pub struct CoordinatorClient {
    api: AgentApi,
    agent: AgentId,
    key: Arc<AgentKey>,
    session: Mutex<Option<Token>>,
}

struct Token {
    text: String,
    until: Instant,
}

impl AgentApi {
    /// The agent API below the coordinator's URL `base`, called from `bind`.
    pub fn new(base: &Url, bind: Option<IpAddr>) -> Result<Self, CoordinatorError> {
        let mut builder = Client::builder()
            .connect_timeout(Duration::from_secs(10))
            .local_address(bind)
            .user_agent(concat!("nearcrawl-agent/", env!("CARGO_PKG_VERSION")));
        if is_loopback(base) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(CoordinatorError::Setup)?;
        let mut base = base.clone();
        let path = format!("{}/api/v1/agent/", base.path().trim_end_matches('/'));
        base.set_path(&path);
        Ok(Self { http, base })
    }

    /// Shows the join token and the key; the answer says who the agent is from now on. Enrolling the
    /// same key again is harmless.
    pub async fn enrol(&self, request: &EnrolRequest) -> Result<EnrolResponse, CoordinatorError> {
        self.post("enrol", request).await
    }

    fn request(
        &self,
        method: Method,
        path: &str,
        within: Duration,
    ) -> Result<RequestBuilder, CoordinatorError> {
        let url = self.base.join(path).map_err(|_| CoordinatorError::Url(self.base.to_string()))?;
        Ok(self.http.request(method, url).timeout(within))
    }

    async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, CoordinatorError> {
        read(self.request(Method::POST, path, CALL)?.json(body).send().await?).await
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        Some(url::Host::Domain(name)) => name == "localhost",
        None => false,
    }
}

impl CoordinatorClient {
    /// The coordinator as this agent sees it.
    pub fn new(api: AgentApi, agent: AgentId, key: Arc<AgentKey>) -> Self {
        Self { api, agent, key, session: Mutex::default() }
    }

    /// Asks what there is to do; the coordinator may hold the answer back for as long as the
    /// request says.
    pub async fn heartbeat(
        &self,
        request: &HeartbeatRequest,
    ) -> Result<HeartbeatResponse, CoordinatorError> {
        let within = CALL + Duration::from_millis(request.hold_ms.into());
        let response = self
            .call(|api| Ok(api.request(Method::POST, "heartbeat", within)?.json(request)))
            .await?;
        read(response).await
    }

    /// Reports measurements.
    pub async fn report(&self, reports: &Reports) -> Result<(), CoordinatorError> {
        let response =
            self.call(|api| Ok(api.request(Method::POST, "reports", CALL)?.json(reports))).await?;
        error::check(response).await.map(drop)
    }

    /// Sends a package; returns when the coordinator has it for good.
    pub async fn send_package(
        &self,
        name: PackageName,
        bytes: &[u8],
    ) -> Result<(), CoordinatorError> {
        let path = format!("packages/{}/{}", name.epoch, name.seq);
        let response = self
            .call(|api| {
                let request = api.request(Method::PUT, &path, UPLOAD)?;
                Ok(request.header("content-type", "application/octet-stream").body(bytes.to_vec()))
            })
            .await?;
        error::check(response).await.map(drop)
    }

    /// Makes a call with a session, and once more with a new one when the coordinator does not know
    /// it any more.
    async fn call(
        &self,
        request: impl Fn(&AgentApi) -> Result<RequestBuilder, CoordinatorError>,
    ) -> Result<reqwest::Response, CoordinatorError> {
        let token = self.token(None).await?;
        let response = request(&self.api)?.bearer_auth(&token).send().await?;
        if response.status() != StatusCode::UNAUTHORIZED {
            return Ok(response);
        }
        let token = self.token(Some(&token)).await?;
        Ok(request(&self.api)?.bearer_auth(&token).send().await?)
    }

    /// A session's token that holds for a while and is not `stale`.
    async fn token(&self, stale: Option<&str>) -> Result<String, CoordinatorError> {
        let mut session = self.session.lock().await;
        if let Some(token) = session.as_ref()
            && token.until > Instant::now() + MARGIN
            && Some(token.text.as_str()) != stale
        {
            return Ok(token.text.clone());
        }
        let challenge: Challenge =
            self.api.post("challenge", &ChallengeRequest { agent: self.agent }).await?;
        let request = SessionRequest::new(&self.key, self.agent, challenge.nonce);
        let bought: Session = self.api.post("session", &request).await?;
        let until = Instant::now() + Duration::from_secs(bought.expires_in_s.into());
        Ok(session.insert(Token { text: bought.token, until }).text.clone())
    }
}

/// Reads a JSON answer, bounded.
async fn read<T: DeserializeOwned>(response: reqwest::Response) -> Result<T, CoordinatorError> {
    let mut response = error::check(response).await?;
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > MOST_JSON {
            return Err(CoordinatorError::TooLarge);
        }
    }
    serde_json::from_slice(&body).map_err(CoordinatorError::Answer)
}

/// A heartbeat's answer with the most and longest routes is larger than other bodies.
const MOST_JSON: usize =
    limits::JSON_BODY_BYTES + limits::ROUTES_PER_HEARTBEAT * (model::url::MAX_BYTES + 100);
