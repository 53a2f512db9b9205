//! Client of the coordinator's API for people.
//!
//! With an API token it needs nothing else. Without one, whoever may open the database may do
//! everything: the client makes a token of its own there, and removes it afterwards.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::Path;

use model::Role;
use reqwest::{Client, Method, Url};
use serde_json::Value;
use store::{Store, StoreError, admins, api_tokens};

use crate::http::admin::api_tokens::new_token;
use crate::http::authentication::ApiToken;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::config::Config;
use crate::runtime::failure::{Failure, chain};
use crate::startup::admin_api::cli::ConnectionArgs;

/// Variable with an API token.
const VARIABLE: &str = "NEARCRAWL_API_TOKEN";
/// Name of the token that a command makes for itself, as the audit log shows it.
const NAME: &str = "command line";
/// Lifetime of such a token, in milliseconds, should the command be killed.
const LIFE_MS: i64 = 10 * 60 * 1_000;
/// Most accounts that are searched for an admin.
const ACCOUNTS_MAX: i64 = 10_000;

/// A connection to the coordinator.
pub(super) struct ApiClient {
    http: Client,
    base: Url,
    token: ApiToken,
}

/// The token that was given; none without one.
pub(super) fn given_token(connection: &ConnectionArgs) -> Result<Option<ApiToken>, Failure> {
    let text = match &connection.token_file {
        Some(path) if path == Path::new("-") => Some(std::io::read_to_string(std::io::stdin())),
        Some(path) => Some(std::fs::read_to_string(path)),
        None => std::env::var(VARIABLE).ok().map(Ok),
    };
    let text = text.transpose().map_err(|error| {
        Failure::configuration(format!("cannot read the API token in --token-file: {error}"))
    })?;
    let line = text.as_deref().and_then(|text| text.lines().next()).map(str::trim);
    Ok(line.filter(|line| !line.is_empty()).map(|line| ApiToken::new(line.to_owned())))
}

/// A token of this command alone, in the name of an admin.
pub(super) async fn own_token(store: &Store) -> Result<ApiToken, Failure> {
    let failed = |error: StoreError| Failure::other(chain(&error));
    let accounts = admins::list(store, i64::MAX, ACCOUNTS_MAX).await.map_err(failed)?;
    let admin = accounts.iter().rev().find(|account| account.role == Role::Admin);
    let admin = admin.ok_or_else(|| {
        Failure::unavailable("there is no account yet; start the coordinator once")
    })?;
    let token = new_token();
    let now = SystemClock.now();
    let sha256 = token.sha256();
    let new = api_tokens::New {
        sha256: &sha256,
        name: NAME,
        scope: Role::Admin,
        account: admin.id,
        expires_at: Some(now.plus_ms(LIFE_MS)),
    };
    api_tokens::open_for_command(store, &new, now).await.map_err(failed)?;
    Ok(token)
}

/// Removes the token of this command.
pub(super) async fn close(store: &Store, token: &ApiToken) -> Result<(), Failure> {
    let closed = api_tokens::close_for_command(store, &token.sha256()).await;
    closed.map_err(|error| Failure::other(chain(&error)))
}

impl ApiClient {
    pub(super) fn new(
        config: Option<&Config>,
        connection: &ConnectionArgs,
        token: ApiToken,
    ) -> Result<Self, Failure> {
        // Another program may have installed one in this process.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let base = base(config, connection)?;
        let is_local =
            base.host_str().is_some_and(|host| host.starts_with("127.") || host == "localhost");
        let mut builder = Client::builder();
        // A proxy of the environment cannot reach this machine's loopback.
        if is_local {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| Failure::other(chain(&error)))?;
        Ok(Self { http, base, token })
    }

    /// The URL at which people reach a path, as far as this command knows.
    pub(super) fn public_url(&self, path: &str) -> String {
        format!("{}{path}", self.base.as_str().trim_end_matches('/'))
    }

    /// Calls an operation; null where it answers nothing.
    pub(super) async fn call(
        &self,
        method: Method,
        path: &str,
        query: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Result<Value, Failure> {
        let base = &self.base;
        let unreachable = |error: reqwest::Error| {
            let error = chain(&error);
            let advice = "is it running, and is --url right?";
            Failure::unavailable(format!("no coordinator answers at {base}: {error}; {advice}"))
        };
        let mut url = base.clone();
        url.set_path(&format!("{}/api/v1/{path}", base.path().trim_end_matches('/')));
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        let mut request = self.http.request(method, url).bearer_auth(self.token.text());
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let text = response.text().await.map_err(unreachable)?;
        let answer: Value = serde_json::from_str(&text).unwrap_or(Value::Null);
        if status.is_success() {
            Ok(answer)
        } else {
            Err(refusal(&self.base, status.as_u16(), &answer))
        }
    }
}

/// The problem document in one sentence, with the fields that it names.
fn refusal(base: &Url, status: u16, answer: &Value) -> Failure {
    if status == 401 {
        return Failure::other(format!(
            "the coordinator at {base} does not accept the API token: the token was revoked or has \
             expired, or the coordinator has another database; --url names yours"
        ));
    }
    let detail = answer["detail"].as_str();
    let detail = detail.map_or_else(|| format!("the coordinator answers {status}"), str::to_owned);
    let fields = answer["errors"].as_array().into_iter().flatten();
    let fields: Vec<String> = fields
        .map(|error| {
            let text = |key: &str| error[key].as_str().unwrap_or_default();
            format!("{}: {}", text("field"), text("message"))
        })
        .collect();
    Failure::other([vec![detail], fields].concat().join(" "))
}

/// Where the coordinator can be reached.
fn base(config: Option<&Config>, connection: &ConnectionArgs) -> Result<Url, Failure> {
    let text = match (&connection.url, config) {
        (Some(url), _) => url.clone(),
        (None, Some(config)) if config.listen.port() != 0 => {
            format!("http://{}", reachable(config.listen))
        }
        (None, Some(_)) => {
            return Err(Failure::configuration(
                "the coordinator listens at any free port; give its URL with --url",
            ));
        }
        (None, None) => {
            return Err(Failure::configuration("give the coordinator's URL with --url"));
        }
    };
    text.parse().map_err(|error| Failure::configuration(format!("--url {text:?}: {error}")))
}

/// An address of this machine in the place of "all addresses".
fn reachable(listen: SocketAddr) -> SocketAddr {
    if listen.ip().is_unspecified() {
        SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), listen.port())
    } else {
        listen
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_own_machine_answers_for_all_addresses() {
        let listen = "0.0.0.0:8420".parse().unwrap();
        assert_eq!(reachable(listen), "127.0.0.1:8420".parse().unwrap());
        let loopback = "127.0.0.2:1".parse().unwrap();
        assert_eq!(reachable(loopback), loopback);
    }

    #[test]
    fn a_refusal_names_the_fields() {
        let field = json!({ "field": "threshold_ms", "message": "give 1 to 10000" });
        let answer = json!({ "detail": "A field is wrong.", "errors": [field] });
        let base = Url::parse("http://127.0.0.1:8420/").unwrap();
        let sentence = refusal(&base, 422, &answer).to_string();
        assert_eq!(sentence, "A field is wrong. threshold_ms: give 1 to 10000");
    }
}
