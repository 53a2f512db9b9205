//! The API as an OpenAPI 3.1 document, made from the handlers themselves.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi, Ref, ResponseBuilder};
use utoipa::{Modify, OpenApi as _};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::http::admin::{
    agents, audit_findings as findings, balance, constraints, delegations, events,
    explanation as why, hierarchy, incidents as calibrations, join_tokens, landmarks, overview,
    policy, registry_data, seeds, session, tasks,
};
use crate::http::authentication as auth;
use crate::http::problem::{FieldError, PROBLEM_JSON, ProblemDocument};
use crate::http::public::{health, search};
use crate::http::state::ApiState;

#[derive(utoipa::OpenApi)]
#[openapi(
    info(
        title = "nearcrawl coordinator",
        description = "Each page fetched by the machine that is nearest to it: what admins and searchers may ask.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0")
    ),
    components(schemas(ProblemDocument<'_>, FieldError)),
    modifiers(&SignIn, &Refusals),
    tags(
        (name = "search", description = "For everybody."),
        (name = "session", description = "Signing in and out."),
        (name = "watch", description = "What goes on."),
        (name = "agents", description = "Crawlers at partners."),
        (name = "delegations", description = "Who crawls what, and why."),
        (name = "work", description = "Seeds and policy."),
        (name = "health", description = "For probes and people who operate it.")
    )
)]
struct Document;

/// Adds the session cookie as a way to sign in.
struct SignIn;

impl Modify for SignIn {
    fn modify(&self, document: &mut OpenApi) {
        let cookie = ApiKeyValue::with_description(auth::COOKIE, "set by POST /api/v1/session");
        document
            .components
            .get_or_insert_default()
            .add_security_scheme("session", SecurityScheme::ApiKey(ApiKey::Cookie(cookie)));
    }
}

/// Says once for every operation that refusals are problems.
struct Refusals;

impl Modify for Refusals {
    fn modify(&self, document: &mut OpenApi) {
        let content = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        let refusal = ResponseBuilder::new()
            .description("Refused or failed: an RFC 9457 problem")
            .content(PROBLEM_JSON, content)
            .build();
        for item in document.paths.paths.values_mut() {
            let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete];
            for operation in operations.into_iter().flatten() {
                operation.responses.responses.insert("default".to_owned(), refusal.clone().into());
            }
        }
    }
}

/// Every documented route with its handler, and the document of them.
pub fn routes() -> (axum::Router<ApiState>, OpenApi) {
    let (router, mut document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(search::search))
        .routes(routes!(session::sign_in, session::who, session::sign_out))
        .routes(routes!(overview::overview))
        .routes(routes!(events::events))
        .routes(routes!(agents::list))
        .routes(routes!(agents::one))
        .routes(routes!(agents::approve))
        .routes(routes!(agents::pause))
        .routes(routes!(agents::resume))
        .routes(routes!(agents::revoke))
        .routes(routes!(join_tokens::create, join_tokens::list))
        .routes(routes!(delegations::list))
        .routes(routes!(delegations::one))
        .routes(routes!(why::why))
        .routes(routes!(calibrations::list))
        .routes(routes!(constraints::override_delegation))
        .routes(routes!(constraints::pins, constraints::pin))
        .routes(routes!(constraints::unpin))
        .routes(routes!(constraints::exclusions, constraints::exclude))
        .routes(routes!(constraints::readmit))
        .routes(routes!(balance::list))
        .routes(routes!(balance::now))
        .routes(routes!(findings::findings))
        .routes(routes!(hierarchy::locate))
        .routes(routes!(landmarks::list))
        .routes(routes!(seeds::add_seeds))
        .routes(routes!(policy::read, policy::write))
        .routes(routes!(registry_data::refresh))
        .routes(routes!(health::livez))
        .routes(routes!(health::readyz))
        .routes(routes!(health::version))
        .routes(routes!(tasks::tasks))
        .split_for_parts();
    // The routes came after the document's own modifiers had run.
    Refusals.modify(&mut document);
    (router, document)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The web pages are typed from the committed file: it changes only on purpose. To accept a
    /// change: `UPDATE_OPENAPI=1 cargo test -p coordinator openapi`.
    #[test]
    fn the_committed_openapi_document_is_this_one() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/openapi.json");
        let now = routes().1.to_pretty_json().unwrap() + "\n";
        if std::env::var_os("UPDATE_OPENAPI").is_some() {
            std::fs::write(path, &now).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            now == committed,
            "openapi.json is behind: run UPDATE_OPENAPI=1 cargo test -p coordinator openapi"
        );
    }
}
