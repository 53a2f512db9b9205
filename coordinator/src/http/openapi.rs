//! The API as an OpenAPI 3.1 document, generated from the handlers.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi as _};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::admin::{
    accounts, activity, agents, api_tokens, audit_findings, audit_log, balance, constraints,
    delegations, discovery, drains, errors, events, explanation, failed_packages, hidden_pages,
    hierarchy, hosts, incidents, inspection, join_requests as admin_join_requests, join_tokens,
    maps, overview, policy, regions, registry_data, seeds, session, tasks,
};
use crate::http::authentication;
use crate::http::problem::{FieldError, PROBLEM_JSON, ProblemDocument};
use crate::http::public::{downloads, health, invitations, join_requests, search};
use crate::http::state::ApiState;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "nearcrawl coordinator",
        description = "Search over the crawled pages, and administration of the crawl.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(ProblemDocument<'_>, FieldError)),
    modifiers(&SessionCookie, &ProblemResponses),
    tags(
        (name = "public search", description = "Search over the crawled pages, without a session."),
        (name = "session", description = "Sign-in and sign-out."),
        (name = "accounts", description = "People who may sign in, and the log of what they did."),
        (name = "overview", description = "Counts of everything, and a stream of changes."),
        (name = "agents", description = "Crawlers at partners, and tokens with which they join."),
        (name = "joining", description = "How partners ask to host an agent."),
        (name = "delegations", description = "Which agent crawls which subnet, and why."),
        (name = "constraints", description = "Pins, exclusions and overrides by admins."),
        (name = "balance", description = "Moves that spread the load over the agents."),
        (name = "hosts", description = "Web hosts, and what became of the fetches from them."),
        (name = "hierarchy", description = "Registry data and subnets."),
        (name = "maps", description = "Where agents, hosts and addresses are, and their distance."),
        (name = "seeds and policy", description = "Where the crawl starts, and its settings."),
        (name = "hiding", description = "Sites and pages that no search shows."),
        (name = "health", description = "Health checks and background tasks.")
    )
)]
struct Document;

/// Adds the session cookie as a security scheme.
struct SessionCookie;

impl Modify for SessionCookie {
    fn modify(&self, document: &mut OpenApi) {
        let description = format!(
            "set by POST /api/v1/session, or send an API token as `Authorization: Bearer \
             TOKEN`; `{}` unless the coordinator is reached over plain http \
             on loopback",
            authentication::SECURE_COOKIE
        );
        let cookie = ApiKeyValue::with_description(authentication::PLAIN_COOKIE, &description);
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    }
}

/// Adds a problem document as the default response of every operation.
struct ProblemResponses;

impl Modify for ProblemResponses {
    fn modify(&self, document: &mut OpenApi) {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let problem = ResponseBuilder::new()
            .description("Refused or failed: an RFC 9457 problem document")
            .content(PROBLEM_JSON, content)
            .build();
        for item in document.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                operation.responses.responses.insert("default".to_owned(), problem.clone().into());
            }
        }
    }
}

/// All documented routes with their handlers, and the document.
pub fn routes() -> (axum::Router<ApiState>, OpenApi) {
    let (router, mut document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(search::search))
        .routes(routes!(session::sign_in, session::get, session::sign_out))
        .routes(routes!(session::change_password))
        .routes(routes!(accounts::list, accounts::create))
        .routes(routes!(accounts::remove))
        .routes(routes!(accounts::set_role))
        .routes(routes!(accounts::reset_password))
        .routes(routes!(api_tokens::list, api_tokens::create))
        .routes(routes!(api_tokens::revoke))
        .routes(routes!(audit_log::list))
        .routes(routes!(overview::get))
        .merge(activity_routes())
        .routes(routes!(events::events))
        .merge(agent_routes())
        .merge(joining_routes())
        .routes(routes!(delegations::list))
        .routes(routes!(delegations::get))
        .routes(routes!(explanation::explain))
        .routes(routes!(incidents::list))
        .routes(routes!(constraints::override_delegation))
        .routes(routes!(constraints::list_pins, constraints::create_pin))
        .routes(routes!(constraints::remove_pin))
        .routes(routes!(constraints::list_exclusions, constraints::create_exclusion))
        .routes(routes!(constraints::remove_exclusion))
        .routes(routes!(balance::list_moves))
        .routes(routes!(balance::run))
        .routes(routes!(audit_findings::list))
        .routes(routes!(failed_packages::list))
        .routes(routes!(failed_packages::retry))
        .routes(routes!(hosts::list))
        .routes(routes!(hosts::get))
        .routes(routes!(errors::list))
        .routes(routes!(inspection::explain))
        .routes(routes!(hierarchy::locate))
        .routes(routes!(seeds::add))
        .routes(routes!(policy::get, policy::update))
        .routes(routes!(policy::defaults))
        .routes(routes!(hidden_pages::list, hidden_pages::hide))
        .routes(routes!(hidden_pages::lift))
        .routes(routes!(registry_data::refresh))
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz))
        .routes(routes!(health::version))
        .routes(routes!(tasks::list))
        .split_for_parts();
    // The modifiers of the document ran before the routes were added.
    ProblemResponses.modify(&mut document);
    (router, document)
}

/// The routes of agents and their regions.
fn agent_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(agents::list))
        .routes(routes!(agents::get))
        .routes(routes!(discovery::get))
        .routes(routes!(agents::approve))
        .routes(routes!(agents::pause))
        .routes(routes!(agents::resume))
        .routes(routes!(agents::revoke))
        .routes(routes!(agents::remove_pages))
        .routes(routes!(drains::start, drains::cancel))
        .routes(routes!(drains::takeover))
        .routes(routes!(drains::measured))
        .routes(routes!(regions::list))
}

/// The routes of charts and maps.
fn activity_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(activity::series))
        .routes(routes!(activity::progress))
        .routes(routes!(maps::world))
        .routes(routes!(maps::ipv4))
        .routes(routes!(maps::round_trips))
        .routes(routes!(maps::home_times))
        .routes(routes!(maps::locality))
}

/// The routes by which partners join.
fn joining_routes() -> OpenApiRouter<ApiState> {
    OpenApiRouter::new()
        .routes(routes!(join_tokens::create, join_tokens::list))
        .routes(routes!(join_tokens::revoke))
        .routes(routes!(join_requests::create, admin_join_requests::list))
        .routes(routes!(admin_join_requests::accept))
        .routes(routes!(admin_join_requests::decline))
        .routes(routes!(invitations::open))
        .routes(routes!(downloads::list))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The dashboard is typed from the committed file. To accept a change:
    /// `UPDATE_OPENAPI=1 cargo test -p coordinator openapi`.
    #[test]
    fn the_committed_openapi_document_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
        let generated = routes().1.to_pretty_json().unwrap() + "\n";
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::write(path, &generated).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            generated == committed,
            "openapi.json is outdated: run UPDATE_OPENAPI=1 cargo test -p coordinator openapi"
        );
    }
}
