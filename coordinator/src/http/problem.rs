//! Here is what went wrong: how is it said to the caller?
//!
//! Every answer of status 4xx or 5xx is an RFC 9457 problem document. A handler returns
//! [`Problem`]; [`speak_in_problems`] (the outermost layer) adds the path and the request's id, and
//! turns the bare refusals of the framework (405, 413, 404) into the same form.

use std::borrow::Cow;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

/// Media type of a problem document (RFC 9457 section 6.1).
pub const PROBLEM_JSON: &str = "application/problem+json";

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// One field of a request that was refused, and why.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// Name of the body field or parameter.
    pub field: String,
    /// What is wrong and what would be right.
    pub message: String,
}

impl FieldError {
    /// `field` is refused because of `message`.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> Self {
        Self { field: field.into(), message: message.into() }
    }
}

/// Why a request is refused or failed.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The HTTP status, 400 to 599.
    pub status: StatusCode,
    /// Names the kind of problem, in kebab case; stable across versions.
    pub slug: Cow<'static, str>,
    /// One sentence: what was wrong and what to do.
    pub detail: String,
    /// The refused fields, where the request had several.
    pub errors: Vec<FieldError>,
    /// Seconds to wait before another try makes sense; sent as `Retry-After`.
    pub retry_after_s: Option<u64>,
}

/// An RFC 9457 problem document.
#[derive(Serialize, ToSchema)]
#[schema(as = Problem)]
pub struct ProblemDocument<'a> {
    /// A URN that names the kind of problem, stable across versions.
    #[serde(rename = "type")]
    kind: String,
    /// The status in words.
    title: &'a str,
    /// The HTTP status.
    #[schema(minimum = 400, maximum = 599)]
    status: u16,
    /// One sentence: what was wrong and what to do.
    detail: &'a str,
    /// The path that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<&'a str>,
    /// The id under which the coordinator's log knows this request.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
    /// The refused fields, where the request had several.
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

    /// 401: nobody is signed in.
    pub fn unauthorized() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "not-signed-in", "Sign in first: POST /api/v1/session.")
    }

    /// 404: no such thing.
    pub fn not_found(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not-found", detail)
    }

    /// 409: the thing is in a state that does not allow this.
    pub fn conflict(detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, "conflict", detail)
    }

    /// 422: the body can be read but breaks the rules named in `errors`.
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

    /// 429: too many tries; the next is welcome after `retry_after_s` seconds.
    pub fn too_many(detail: impl Into<String>, retry_after_s: u64) -> Self {
        let problem = Self::new(StatusCode::TOO_MANY_REQUESTS, "too-many-tries", detail);
        Self { retry_after_s: Some(retry_after_s), ..problem }
    }

    /// 503: a part the answer needs is away for now.
    pub fn unavailable(detail: impl Into<String>) -> Self {
        let problem = Self::new(StatusCode::SERVICE_UNAVAILABLE, "unavailable", detail);
        Self { retry_after_s: Some(5), ..problem }
    }

    /// 500: our fault. The cause goes to the log, never to the caller.
    pub fn internal(cause: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(error = cause, "a request failed inside");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "Something failed inside; the coordinator's log has the cause under this request id.",
        )
    }

    /// The problem behind a bare status of the framework.
    fn of_status(status: StatusCode) -> Self {
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
            kind: format!("urn:nearcrawl:problem:{}", self.slug),
            title: self.status.canonical_reason().unwrap_or("Problem"),
            status: self.status.as_u16(),
            detail: &self.detail,
            instance,
            request_id,
            errors: &self.errors,
        }
    }

    fn answer(self, instance: Option<&str>, request_id: Option<&str>) -> Response {
        let body = serde_json::to_vec(&self.document(instance, request_id)).unwrap_or_default();
        let mut response =
            (self.status, [(header::CONTENT_TYPE, PROBLEM_JSON)], body).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(Told(self));
        response
    }
}

/// The problem behind a response, for [`speak_in_problems`] to complete.
#[derive(Clone)]
struct Told(Problem);

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        self.answer(None, None)
    }
}

/// Outermost layer: gives the request an id and every refusal the form of a problem.
pub async fn speak_in_problems(request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let id = format!("req_{:016x}", rand::random::<u64>());
    let span = tracing::info_span!("request", id, method = %request.method(), path);
    let response = tracing::Instrument::instrument(next.run(request), span).await;
    let mut response = reworded(response, &path, &id);
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    response
}

/// `response` itself when it is no refusal, else the same refusal as a full problem document.
fn reworded(mut response: Response, path: &str, id: &str) -> Response {
    let status = response.status();
    if !status.is_client_error() && !status.is_server_error() {
        return response;
    }
    let told = response.extensions_mut().remove::<Told>();
    if told.is_none() && is_problem(&response) {
        return response;
    }
    let problem = told.map_or_else(|| Problem::of_status(status), |told| told.0);
    let mut answer = problem.answer(Some(path), Some(id));
    // Allow, Set-Cookie and the like stay; what described the old body goes. Its encoding above
    // all: the new body is plain, and a browser that is told otherwise cannot read it at all.
    for (name, value) in response.headers() {
        let of_old_body = [header::CONTENT_LENGTH, header::CONTENT_ENCODING].contains(name);
        if !answer.headers().contains_key(name) && !of_old_body {
            answer.headers_mut().append(name, value.clone());
        }
    }
    answer
}

fn is_problem(response: &Response) -> bool {
    response.headers().get(header::CONTENT_TYPE).is_some_and(|value| value == PROBLEM_JSON)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once every refusal was unreadable to browsers: the compressed body had been replaced, its
    /// encoding had not.
    #[test]
    fn a_reworded_refusal_is_not_called_compressed() {
        let mut packed = Problem::not_found("There is no such thing.").into_response();
        packed.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        packed.headers_mut().insert(header::ALLOW, HeaderValue::from_static("GET"));
        let answer = reworded(packed, "/nowhere", "req_1");
        assert_eq!(answer.headers().get(header::CONTENT_ENCODING), None);
        assert!(answer.headers().contains_key(header::ALLOW));
    }
}
