//! Commands of `admin` that ask the running coordinator, over the API for people.

pub mod cli;
mod client;
mod hidden;
mod print;
mod token;

use std::io::{Write as _, stderr, stdin};

use reqwest::Method;
use serde_json::{Map, Value, json};
use store::{SchemaChange, Store, admins};

use crate::http::admin::api_tokens::{NewApiToken, issue};
use crate::http::problem::FieldError;
use crate::runtime::clock::{Clock as _, SystemClock};
use crate::runtime::config::Config;
use crate::runtime::failure::{Failure, chain};
use crate::startup::cli::{PlaceArgs, ServeArgs};
use crate::startup::output::print_line;
use crate::startup::{configuration, database};
use cli::{
    AgentsCommand, ApiCommand, ApiTokensCommand, ConnectionArgs, DelegationsCommand, ListArgs,
    PolicyCommand, RequestsCommand, TokensCommand,
};
use client::ApiClient;
use print::Column;

/// Items of one request for a list.
const PAGE: u32 = 500;

const AGENTS: [Column; 7] = [
    ("ID", "/id"),
    ("STATE", "/state"),
    ("PRESENCE", "/presence"),
    ("HOME", "/home"),
    ("FINGERPRINT", "/key_fingerprint"),
    ("LAST HEARTBEAT", "/last_heartbeat_at"),
    ("NAME", "/name"),
];
const REQUESTS: [Column; 7] = [
    ("ID", "/id"),
    ("STATE", "/state"),
    ("ARRIVED", "/created_at"),
    ("PLACE", "/place"),
    ("CONTACT", "/contact"),
    ("AGENT", "/agent/id"),
    ("NAME", "/name"),
];
const TOKENS: [Column; 6] = [
    ("ID", "/id"),
    ("MADE", "/created_at"),
    ("EXPIRES", "/expires_at"),
    ("USED BY", "/used_by/id"),
    ("REVOKED", "/revoked_at"),
    ("FOR", "/name"),
];
const API_TOKENS: [Column; 6] = [
    ("ID", "/id"),
    ("SCOPE", "/scope"),
    ("ACCOUNT", "/account_name"),
    ("EXPIRES", "/expires_at"),
    ("LAST USED", "/last_used_at"),
    ("FOR", "/name"),
];
const DELEGATIONS: [Column; 6] = [
    ("ID", "/id"),
    ("SUBNET", "/subnet"),
    ("AGENT", "/agent/id"),
    ("REASON", "/reason"),
    ("SINCE", "/decided_at"),
    ("COMPANY", "/company"),
];

/// Runs a command and prints its result.
pub async fn run(
    place: PlaceArgs,
    connection: &ConnectionArgs,
    command: ApiCommand,
) -> Result<(), Failure> {
    let args = configuration_args(place, connection);
    if let Some(token) = token::given(connection)? {
        let config = configuration::load(args, cluster::default_data_dir).ok();
        let api = ApiClient::new(config.as_ref(), connection, token)?;
        return execute(&api, None, command).await;
    }
    let config = configuration::load(args, cluster::default_data_dir)?;
    if connection.url.is_some() && !database::may_exist(&config) {
        return Err(token::missing(&config.data_dir));
    }
    let database = database::open_shared(&config, SchemaChange::None).await?;
    let done = with_own_token(&database.store, &config, connection, command).await;
    database::close(database).await;
    done
}

/// What the configuration is made of, with the public URL for links: `serve` may have it from the
/// environment instead of the file.
fn configuration_args(place: PlaceArgs, connection: &ConnectionArgs) -> ServeArgs {
    ServeArgs { public_url: connection.public_url.clone(), ..place.into() }
}

async fn with_own_token(
    store: &Store,
    config: &Config,
    connection: &ConnectionArgs,
    command: ApiCommand,
) -> Result<(), Failure> {
    let token = client::own_token(store).await?;
    let done = match ApiClient::new(Some(config), connection, token.clone()) {
        Ok(api) => execute(&api, Some(store), command).await,
        Err(failure) => Err(failure),
    };
    client::close(store, &token).await?;
    done
}

async fn execute(
    api: &ApiClient,
    store: Option<&Store>,
    command: ApiCommand,
) -> Result<(), Failure> {
    match command {
        ApiCommand::Agents(command) => agents(api, command).await,
        ApiCommand::Requests(command) => requests(api, command).await,
        ApiCommand::Tokens(command) => tokens(api, command).await,
        ApiCommand::ApiTokens(command) => api_tokens(api, store, command).await,
        ApiCommand::Seeds(args) => seeds(api, args.urls).await,
        ApiCommand::Delegations(command) => delegations(api, command).await,
        ApiCommand::Policy(command) => policy(api, command).await,
        ApiCommand::Hidden(command) => hidden::run(api, command).await,
        ApiCommand::Explain(args) => {
            let answer = api.call(Method::GET, "explain", &[("q", &args.subject)], None).await?;
            if args.json {
                print_line(format_args!("{answer:#}"));
            } else {
                print::explanation(&answer);
            }
            Ok(())
        }
    }
}

async fn agents(api: &ApiClient, command: AgentsCommand) -> Result<(), Failure> {
    let (id, action) = match &command {
        AgentsCommand::List(list) => return print_list(api, "agents", &[], list, &AGENTS).await,
        AgentsCommand::Show { id } => {
            return show(api, &format!("agents/{}", segment(id))).await;
        }
        AgentsCommand::Approve { id } => (id, "approve"),
        AgentsCommand::Pause { id } => (id, "pause"),
        AgentsCommand::Resume { id } => (id, "resume"),
        AgentsCommand::Revoke { id } => (id, "revoke"),
        AgentsCommand::RemovePages { id } => (id, "remove-pages"),
    };
    let path = format!("agents/{}/{action}", segment(id));
    let agent = api.call(Method::POST, &path, &[], None).await?;
    print::table(&[agent], &AGENTS);
    Ok(())
}

async fn requests(api: &ApiClient, command: RequestsCommand) -> Result<(), Failure> {
    match command {
        RequestsCommand::List(list) => {
            print_list(api, "join-requests", &[], &list, &REQUESTS).await
        }
        RequestsCommand::Accept { id } => {
            let path = format!("join-requests/{}/accept", segment(&id));
            let accepted = api.call(Method::POST, &path, &[], None).await?;
            let contact = accepted["request"]["contact"].as_str().unwrap_or_default();
            let link = api.link(accepted["path"].as_str().unwrap_or_default());
            print_line(format_args!("send this one-time link to {contact}:\n{}", link.url));
            if let Some(warning) = link.warning {
                // Without a reader the link is printed all the same.
                drop(writeln!(stderr(), "nearcrawl-coordinator: warning: {warning}"));
            }
            Ok(())
        }
        RequestsCommand::Decline { id } => {
            let path = format!("join-requests/{}/decline", segment(&id));
            let request = api.call(Method::POST, &path, &[], None).await?;
            print::table(&[request], &REQUESTS);
            Ok(())
        }
    }
}

async fn tokens(api: &ApiClient, command: TokensCommand) -> Result<(), Failure> {
    match command {
        TokensCommand::List(list) => print_list(api, "join-tokens", &[], &list, &TOKENS).await,
        TokensCommand::Create { name, days } => {
            let body = json!({ "name": name, "ttl_s": i64::from(days) * 86_400 });
            let made = api.call(Method::POST, "join-tokens", &[], Some(&body)).await?;
            print_line(made["token"].as_str().unwrap_or_default());
            Ok(())
        }
        TokensCommand::Revoke { id } => {
            let path = format!("join-tokens/{}/revoke", segment(&id));
            api.call(Method::POST, &path, &[], None).await.map(drop)
        }
    }
}

async fn api_tokens(
    api: &ApiClient,
    store: Option<&Store>,
    command: ApiTokensCommand,
) -> Result<(), Failure> {
    match command {
        ApiTokensCommand::List(list) => {
            print_list(api, "api-tokens", &[], &list, &API_TOKENS).await
        }
        ApiTokensCommand::Create { name, account, scope, days } => {
            let store = store.ok_or_else(|| {
                Failure::other("an API token cannot make another one; use the accounts page")
            })?;
            create_api_token(store, &account, &NewApiToken { name, scope, days }).await
        }
        ApiTokensCommand::Revoke { id } => {
            let path = format!("api-tokens/{}", segment(&id));
            api.call(Method::DELETE, &path, &[], None).await.map(drop)
        }
    }
}

async fn create_api_token(store: &Store, account: &str, new: &NewApiToken) -> Result<(), Failure> {
    if let Some(error) = FieldError::of_line("name", &new.name, 1, 100) {
        return Err(Failure::other(error.message));
    }
    let failed = |error: store::StoreError| Failure::other(chain(&error));
    let found = admins::find(store, account).await.map_err(failed)?;
    let found = found.ok_or_else(|| Failure::other(format!("there is no account {account:?}")))?;
    let issued = issue(store, new, found.id, "command line", SystemClock.now()).await;
    let (_, token) = issued.map_err(failed)?;
    print_line(token.text());
    Ok(())
}

async fn seeds(api: &ApiClient, mut urls: Vec<String>) -> Result<(), Failure> {
    if urls.is_empty() {
        for line in stdin().lines() {
            let line = line.map_err(|error| Failure::other(format!("cannot read: {error}")))?;
            urls.extend(seed_of(&line).map(str::to_owned));
        }
    }
    for part in urls.chunks(1_000) {
        let added = api.call(Method::POST, "seeds", &[], Some(&json!({ "urls": part }))).await?;
        print_line(format_args!("{} queued, {} known", added["accepted"], added["already_known"]));
        for rejected in added["rejected"].as_array().into_iter().flatten() {
            let text = |key: &str| rejected[key].as_str().unwrap_or_default();
            print_line(format_args!("rejected {}: {}", text("url"), text("reason")));
        }
    }
    Ok(())
}

/// The URL of a line; none where the line is empty or a comment.
fn seed_of(line: &str) -> Option<&str> {
    let line = line.trim();
    (!line.is_empty() && !line.starts_with('#')).then_some(line)
}

async fn delegations(api: &ApiClient, command: DelegationsCommand) -> Result<(), Failure> {
    match command {
        DelegationsCommand::List { agent, reason, query, list } => {
            let filters = [("agent", agent), ("reason", reason), ("q", query)];
            let given: Vec<(&str, &str)> = filters
                .iter()
                .filter_map(|(name, value)| Some((*name, value.as_deref()?)))
                .collect();
            print_list(api, "delegations", &given, &list, &DELEGATIONS).await
        }
        DelegationsCommand::Show { id } => {
            show(api, &format!("delegations/{}/explanation", segment(&id))).await
        }
    }
}

async fn policy(api: &ApiClient, command: PolicyCommand) -> Result<(), Failure> {
    match command {
        PolicyCommand::Show => show(api, "policy").await,
        PolicyCommand::Set { settings } => {
            let mut change = Map::new();
            for setting in &settings {
                let (name, value) = setting.split_once('=').ok_or_else(|| {
                    Failure::configuration(format!("{setting:?} is not of the form NAME=VALUE"))
                })?;
                change.insert(name.to_owned(), typed(value));
            }
            let policy = api.call(Method::PUT, "policy", &[], Some(&change.into())).await?;
            print_line(format_args!("{policy:#}"));
            Ok(())
        }
    }
}

/// A number, a truth value or a word.
fn typed(value: &str) -> Value {
    match serde_json::from_str(value) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => Value::String(value.to_owned()),
    }
}

async fn show(api: &ApiClient, path: &str) -> Result<(), Failure> {
    print_line(format_args!("{:#}", api.call(Method::GET, path, &[], None).await?));
    Ok(())
}

/// Prints a list, page by page read up to its limit.
async fn print_list(
    api: &ApiClient,
    path: &str,
    filters: &[(&str, &str)],
    list: &ListArgs,
    columns: &[Column],
) -> Result<(), Failure> {
    let mut items: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    let most = list.limit as usize;
    while items.len() < most {
        let limit = PAGE.min(list.limit).to_string();
        let mut query = filters.to_vec();
        query.push(("limit", &limit));
        if let Some(cursor) = &cursor {
            query.push(("cursor", cursor));
        }
        let page = api.call(Method::GET, path, &query, None).await?;
        items.extend(page["items"].as_array().into_iter().flatten().cloned());
        cursor = page["next_cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            break;
        }
    }
    items.truncate(most);
    if list.json {
        print_line(format_args!("{:#}", Value::Array(items)));
    } else {
        print::table(&items, columns);
    }
    Ok(())
}

/// An identifier as a segment of a path: what is no identifier leads nowhere else.
fn segment(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_settings_are_numbers_or_words() {
        assert_eq!(typed("40"), json!(40));
        assert_eq!(typed("threshold"), json!("threshold"));
        assert_eq!(typed("[1]"), json!("[1]"));
    }

    #[test]
    fn comments_are_no_seeds() {
        assert_eq!(seed_of(" https://a.example/#top \r"), Some("https://a.example/#top"));
        assert_eq!((seed_of(""), seed_of(" # mine")), (None, None));
    }

    #[test]
    fn an_identifier_stays_one_segment() {
        assert_eq!(segment("agt_12"), "agt_12");
        assert_eq!(segment("../policy?x"), "---policy-x");
    }
}
