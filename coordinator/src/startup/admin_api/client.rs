//! Client of the coordinator's API for people.
//!
//! With an API token it needs nothing else. Without one, the user must have access to the database,
//! and then has all rights: the client makes a token of its own there, and removes it afterwards.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

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
use crate::startup::configuration::is_of_this_machine;

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
    /// Where people reach the coordinator; none if that is not known.
    public: Option<Url>,
    token: ApiToken,
}

/// A link for people.
pub(super) struct Link {
    pub(super) url: String,
    /// Why others may be unable to open it; none if they can.
    pub(super) warning: Option<String>,
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
        let public = public(config, connection, &base);
        let mut builder = Client::builder();
        // A proxy of the environment cannot reach this machine's loopback.
        if is_of_this_machine(&base) {
            builder = builder.no_proxy();
        }
        let http = builder.build().map_err(|error| Failure::other(chain(&error)))?;
        Ok(Self { http, base, public, token })
    }

    /// The link to a path for people. If the public URL is not known, it begins with the address
    /// that this command uses, and has a warning.
    pub(super) fn link(&self, path: &str) -> Link {
        let base = self.public.as_ref().unwrap_or(&self.base).as_str().trim_end_matches('/');
        let warning = self.public.is_none().then(|| {
            format!(
                "the coordinator's public URL is not known, and other machines may not reach \
                 {base}: replace that in the link, and next time give the public URL by \
                 --public-url, or name the configuration file with `public_url` by --config"
            )
        });
        Link { url: format!("{base}{path}"), warning }
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

/// Where people reach the coordinator: at the configured URL, else at the one by which this command
/// reaches it, if other machines do, too.
fn public(config: Option<&Config>, connection: &ConnectionArgs, base: &Url) -> Option<Url> {
    let configured = config.and_then(|config| config.public_url.clone());
    let is_given = connection.url.is_some() && !is_of_this_machine(base);
    configured.or_else(|| is_given.then(|| base.clone()))
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
    use crate::startup::admin_api::configuration_args;
    use crate::startup::cli::PlaceArgs;
    use crate::startup::configuration;

    #[test]
    fn the_own_machine_answers_for_all_addresses() {
        let listen = "0.0.0.0:8420".parse().unwrap();
        assert_eq!(reachable(listen), "127.0.0.1:8420".parse().unwrap());
        let loopback = "127.0.0.2:1".parse().unwrap();
        assert_eq!(reachable(loopback), loopback);
    }

    /// The link that a command with this configuration and URL prints.
    fn link(config: &str, url: Option<&str>, public_url: Option<&str>) -> Link {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("coordinator.toml");
        std::fs::write(&file, config).unwrap();
        let place = PlaceArgs { config: Some(file), ..PlaceArgs::default() };
        let connection = ConnectionArgs {
            url: url.map(str::to_owned),
            public_url: public_url.map(str::to_owned),
            token_file: None,
        };
        let args = configuration_args(place, &connection);
        let config = configuration::load(args, || Some(dir.path().to_owned())).unwrap();
        let client = ApiClient::new(Some(&config), &connection, new_token()).unwrap();
        client.link("/invitation#secret")
    }

    #[test]
    fn a_link_for_others_begins_with_the_public_url() {
        const PUBLIC: &str = "public_url = 'https://search.example.org'";
        const LOCAL: &str = "http://127.0.0.1:8420";
        const OTHER: &str = "https://old.example.org";
        for (config, url, public_url) in [
            (PUBLIC, None, None),
            (PUBLIC, Some(LOCAL), None),
            ("", Some("https://search.example.org"), None),
            ("", Some("https://search.example.org/"), None),
            ("", Some(LOCAL), Some("https://search.example.org")),
            ("public_url = 'https://old.example.org'", None, Some("https://search.example.org")),
            ("", Some(OTHER), Some("https://search.example.org")),
        ] {
            let link = link(config, url, public_url);
            let case = format!("{config} {url:?} {public_url:?}");
            assert_eq!(link.url, "https://search.example.org/invitation#secret", "{case}");
            assert_eq!(link.warning, None, "{case}");
        }
    }

    #[test]
    fn a_link_of_the_own_machine_comes_with_a_warning() {
        for url in [None, Some("http://127.0.0.1:8420"), Some("http://[::1]:8420")] {
            let link = link("", url, None);
            assert!(link.url.ends_with(":8420/invitation#secret"), "{}", link.url);
            let warning = link.warning.expect("a warning");
            assert!(warning.contains("`public_url`"), "{warning}");
            assert!(warning.contains("--config"), "{warning}");
        }
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
