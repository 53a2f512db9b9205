//! Router of everything that people and their browsers may request.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use tower::ServiceBuilder;
use tower_http::compression::CompressionLayer;
use tower_http::csrf::{CsrfLayer, ProtectionError};
use tower_http::set_header::SetResponseHeaderLayer;

use crate::http::openapi;
use crate::http::problem::Problem;
use crate::http::public::{dashboard, downloads};
use crate::http::state::ApiState;
use crate::tasks::coordinator::Coordinator;

/// Largest body of a request, in bytes, where its type says nothing else.
const BODY_MAX: usize = 4 << 20;

/// Scripts and styles come from this origin and from files only, and no other site may put the
/// dashboard into a frame.
const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
     img-src 'self'; font-src 'self'; connect-src 'self'; manifest-src 'self'; base-uri 'none'; \
     form-action 'self'; frame-ancestors 'none'";

/// The API for people, its OpenAPI document and the dashboard.
///
/// The server must provide the peer's address as `ConnectInfo`, and must wrap the router in
/// [`crate::http::problem::complete_problems`].
pub fn router(core: Arc<Coordinator>) -> Router {
    let (api, document) = openapi::routes();
    let document = document.to_json().unwrap_or_default();
    let document = move || async move { ([(header::CONTENT_TYPE, "application/json")], document) };
    let layers = ServiceBuilder::new()
        .layer(CompressionLayer::new())
        .layer(header_layer(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY))
        .layer(header_layer(header::X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header_layer(header::REFERRER_POLICY, "no-referrer"))
        .layer(CsrfLayer::new().with_rejection_response(cross_site));
    api.route("/api/v1/openapi.json", get(document))
        .route("/downloads/{name}", get(downloads::get))
        .fallback(dashboard::serve)
        .layer(DefaultBodyLimit::max(BODY_MAX))
        .layer(layers)
        .with_state(ApiState::new(core))
}

/// Sets a header where a response has none of its own.
pub(super) fn header_layer(
    name: HeaderName,
    value: &'static str,
) -> SetResponseHeaderLayer<HeaderValue> {
    SetResponseHeaderLayer::if_not_present(name, HeaderValue::from_static(value))
}

fn cross_site(_: ProtectionError) -> Response {
    let detail = "Another site requested this change; open the dashboard itself and repeat it.";
    Problem::new(axum::http::StatusCode::FORBIDDEN, "cross-site", detail).into_response()
}
