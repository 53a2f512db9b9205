//! Problem documents: every response of status 4xx or 5xx is one (RFC 9457).
//!
//! A handler returns [`Problem`]. The outermost layer, [`complete_problems`], adds the path and the
//! request id, and converts the bare responses of the framework (404, 405, 413) to the same form.

use std::borrow::Cow;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use store::StoreError;
use utoipa::ToSchema;

use crate::runtime::coordinator_key::CoordinatorKeyError;
use crate::runtime::failure::chain;

/// Media type of a problem document (RFC 9457 section 6.1).
pub const PROBLEM_JSON: &str = protocol::problem::MEDIA_TYPE;

/// Seconds after which a restarted Postgres usually answers again.
const DATABASE_RETRY_S: u64 = 2;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// One refused field of a request.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// Name of the body field or parameter.
    pub field: String,
    /// The rule that the value breaks.
    pub message: String,
}

impl FieldError {
    /// An error for `field` that states the broken rule.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }

    /// An error unless `text` is one line of `least` to `most` characters.
    pub fn of_line(field: &str, text: &str, least: usize, most: usize) -> Option<Self> {
        let length = text.trim().chars().count();
        let is_line = (least..=most).contains(&length) && !text.chars().any(char::is_control);
        let rule = format!("give {least} to {most} characters in one line");
        (!is_line).then(|| Self::new(field, rule))
    }
}

/// Why a request is refused or failed.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The HTTP status, 400 to 599.
    pub status: StatusCode,
    /// Kind of problem in kebab case, stable across versions.
    pub slug: Cow<'static, str>,
    /// What was wrong and what to do, as a sentence.
    pub detail: String,
    /// The refused fields; empty when the problem is not about fields.
    pub errors: Vec<FieldError>,
    /// Seconds to wait before another try makes sense; sent as `Retry-After`.
    pub retry_after_s: Option<u64>,
}

/// An RFC 9457 problem document.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument<'a> {
    /// URN of the kind of problem, stable across versions.
    #[serde(rename = "type")]
    kind: String,
    /// The status in words.
    title: &'a str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// What was wrong and what to do, as a sentence.
    detail: &'a str,
    /// Path of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
    /// Identifier of this request in the coordinator's log.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    /// The refused fields; empty when the problem is not about fields.
    #[serde(skip_serializing_if = "<[FieldError]>::is_empty")]
    #[schema(required = false)]
    errors: &'a [FieldError],
}

impl Problem {
    /// A problem of `status`, named `slug` (kebab case), explained by `detail`.
    pub fn new(
        status: StatusCode,
        slug: impl Into<Cow<'static, str>>,
        detail: impl Into<String>,
    ) -> Self {
        Self {
            status,
            slug: slug.into(),
            detail: detail.into(),
            errors: Vec::new(),
            retry_after_s: None,
        }
    }

    /// 400: a parameter or the body cannot be read.
    pub fn bad_request(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "bad-request", detail)
    }

    /// 400: one parameter is out of its range.
    pub fn bad_parameter(field: &str, message: impl Into<String>) -> Self {
        let message = message.into();
        let mut problem = Self::bad_request(format!("{field}: {message}."));
        problem.errors.push(FieldError::new(field, message));
        problem
    }

    /// 401: the request carries no valid session.
    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "not-signed-in", "Sign in first: POST /api/v1/session.")
    }

    /// 404: the requested object does not exist.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// 409: the object is in a state that does not allow the change.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", detail)
    }

    /// 422: the body is readable but breaks the rules named in `errors`.
    pub fn invalid(errors: Vec<FieldError>) -> Self {
        let detail = errors
            .iter()
            .map(|error| format!("{}: {}", error.field, error.message))
            .collect::<Vec<_>>()
            .join("; ");
        let mut problem =
            Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid-fields", format!("{detail}."));
        problem.errors = errors;
        problem
    }

    /// 429: too many attempts; another one is allowed after `retry_after_s` seconds.
    pub fn too_many(detail: impl Into<String>, retry_after_s: u64) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many-tries", detail);
        Self { retry_after_s: Some(retry_after_s), ..problem }
    }

    /// 503: something that the response needs is unavailable for now.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail);
        Self { retry_after_s: Some(5), ..problem }
    }

    /// 500: an internal failure. The cause goes to the log, never to the caller.
    pub fn internal(cause: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error = cause, "a request failed");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "The request failed; the coordinator's log has the cause under this request id.",
        )
    }

    /// The problem for a bare status of the framework.
    fn from_status(status: StatusCode) -> Self {
        match status {
            StatusCode::NOT_FOUND => Self::not_found("There is nothing at this path."),
            StatusCode::METHOD_NOT_ALLOWED => Self::new(
                status,
                "method-not-allowed",
                "This path exists but not for this method; see Allow.",
            ),
            StatusCode::PAYLOAD_TOO_LARGE => {
                Self::new(status, "body-too-large", "The body is larger than this endpoint takes.")
            }
            _ => {
                let words = status.canonical_reason().unwrap_or("The request failed");
                Self::new(status, "http", format!("{words}."))
            }
        }
    }

    fn document<'a>(
        &'a self,
        instance: Option<&'a str>,
        request_id: Option<&'a str>,
    ) -> ProblemDocument<'a> {
        ProblemDocument {
            kind: format!("{}{}", protocol::problem::TYPE_PREFIX, self.slug),
            title: self.status.canonical_reason().unwrap_or("Problem"),
            status: self.status.as_u16(),
            detail: &self.detail,
            instance,
            request_id,
            errors: &self.errors,
        }
    }

    fn response(self, instance: Option<&str>, request_id: Option<&str>) -> Response {
        let body = serde_json::to_vec(&self.document(instance, request_id)).unwrap_or_default();
        let mut response =
            (self.status, [(header::CONTENT_TYPE, PROBLEM_JSON)], body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(Original(self));
        response
    }
}

/// The problem behind a response, for [`complete_problems`].
#[derive(Clone)]
struct Original(Problem);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.response(None, None)
    }
}

impl From<CoordinatorKeyError> for Problem {
    fn from(error: CoordinatorKeyError) -> Self {
        match error {
            CoordinatorKeyError::Store(error) => error.into(),
            damaged @ CoordinatorKeyError::Damaged => Self::internal(&damaged),
        }
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if error.is_transient() {
            tracing::warn!(error = chain(&error), "the database is unavailable");
            let detail = "The coordinator's database is unavailable for a moment; try again.";
            return Self { retry_after_s: Some(DATABASE_RETRY_S), ..Self::unavailable(detail) };
        }
        if error.is_disk_full() {
            tracing::error!(error = chain(&error), "the disk of the database is full");
            let detail = "The disk of the coordinator's database is full; try again later.";
            let problem = Self::new(StatusCode::INSUFFICIENT_STORAGE, "disk-full", detail);
            return Self { retry_after_s: Some(60), ..problem };
        }
        match error {
            StoreError::Conflict { what } => Self::conflict(format!("{what}.")),
            other => Self::internal(&other),
        }
    }
}

/// Outermost layer: gives the request an id and completes problem documents.
pub async fn complete_problems(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let id = format!("req_{:016x}", rand::random::<u64>());
    let span = tracing::info_span!("request", id, method = %request.method(), path);
    let response = tracing::Instrument::instrument(next.run(request), span).await;
    let mut response = completed(response, &path, &id);
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    response
}

/// Replaces an error response by a complete problem document; returns any other response as it is.
fn completed(mut response: Response, path: &str, id: &str) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let original = response.extensions_mut().remove::<Original>();
    if original.is_none() && (is_problem(&response) || is_page(&response)) {
        return response;
    }
    let problem = original.map_or_else(|| Problem::from_status(status), |original| original.0);
    let mut complete = problem.response(Some(path), Some(id));
    // Allow, Set-Cookie and the like stay; headers that describe the old body go. Above all its
    // encoding: the new body is not compressed, and a browser that expects gzip cannot read it.
    for (name, value) in response.headers() {
        let describes_body = [header::CONTENT_LENGTH, header::CONTENT_ENCODING].contains(name);
        if !complete.headers().contains_key(name) && !describes_body {
            complete.headers_mut().append(name, value.clone());
        }
    }
    complete
}

fn is_problem(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value == PROBLEM_JSON)
}

/// Whether people are shown a page that says what is wrong.
fn is_page(response: &Response) -> bool {
    let media_type = response.headers().get(header::CONTENT_TYPE);
    media_type.is_some_and(|value| value.as_bytes().starts_with(b"text/html"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A replaced body that kept the encoding of the old one was unreadable to browsers.
    #[test]
    fn a_completed_problem_drops_the_encoding_of_the_old_body() {
        let mut compressed = Problem::not_found("There is no such thing.").into_response();
        compressed.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        compressed.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
        let complete = completed(compressed, "/nowhere", "req_1");
        assert_eq!(complete.headers().get(header::CONTENT_ENCODING), None);
        assert!(complete.headers().contains_key(header::ALLOW));
    }
}
