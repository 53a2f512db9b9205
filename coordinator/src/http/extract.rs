//! Extractors for path, query and body. axum's own extractors refuse in plain text; these refuse as
//! RFC 9457 problems, validate the body, and let no text pass that the database cannot hold.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::rejection::{BytesRejection, JsonRejection, PathRejection, QueryRejection};
use axum::extract::{DefaultBodyLimit, FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::http::nul;
use crate::http::problem::{FieldError, Problem};

/// How long a body may take to arrive.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Most bytes of a body that a stranger may send.
pub const PUBLIC_BODY_MAX: usize = 32 << 10;

/// A request body that can check its own fields.
pub trait Validate {
    /// Most bytes of the body; the server's limit where it is none.
    const MOST_BYTES: Option<usize> = None;

    /// One entry for each rule that the value breaks; empty when it may be used.
    fn errors(&self) -> Vec<FieldError>;
}

/// A JSON body. As an extractor it validates; as a response it forbids caching.
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Validate> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(mut request: Request, state: &S) -> Result<Self, Problem> {
        if let Some(most) = T::MOST_BYTES {
            DefaultBodyLimit::max(most).apply(&mut request);
        }
        let (parts, body) = request.into_parts();
        let bytes = receive(Request::from_parts(parts.clone(), body), state).await?;
        if let Some(field) = nul::field_of_json(&bytes) {
            return Err(Problem::invalid(vec![FieldError::new(field, nul::RULE)]));
        }
        let request = Request::from_parts(parts, Body::from(bytes));
        let axum::Json(body) = axum::Json::<T>::from_request(request, state)
            .await
            .map_err(|rejection| unreadable_body(&rejection))?;
        let errors = body.errors();
        if errors.is_empty() { Ok(Self(body)) } else { Err(Problem::invalid(errors)) }
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        ([(header::CACHE_CONTROL, "no-store")], axum::Json(self.0)).into_response()
    }
}

/// Reads the body within [`BODY_TIMEOUT`], so that a slow sender does not keep its connection.
pub(super) async fn receive<S: Send + Sync>(request: Request, state: &S) -> Result<Bytes, Problem> {
    let arrival = tokio::time::timeout(BODY_TIMEOUT, Bytes::from_request(request, state)).await;
    let arrived = arrival.map_err(|_| {
        let detail = "The body took longer than half a minute to arrive; send it again.";
        Problem::new(StatusCode::REQUEST_TIMEOUT, "slow-body", detail)
    })?;
    arrived.map_err(|rejection: BytesRejection| unread_body(&rejection))
}

/// The problem of a body that did not arrive whole, or is too long.
fn unread_body(rejection: &BytesRejection) -> Problem {
    let slug = match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => "body-too-large",
        _ => "bad-request",
    };
    Problem::new(rejection.status(), slug, sentence(&rejection.body_text()))
}

fn unreadable_body(rejection: &JsonRejection) -> Problem {
    let slug = match rejection.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "not-json",
        StatusCode::UNPROCESSABLE_ENTITY => "invalid-fields",
        _ => "bad-request",
    };
    Problem::new(rejection.status(), slug, sentence(&rejection.body_text()))
}

/// The query string.
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        if let Some(name) = parts.uri.query().and_then(nul::parameter_of_query) {
            return Err(Problem::bad_parameter(&name, nul::RULE));
        }
        axum::extract::Query::<T>::from_request_parts(parts, state)
            .await
            .map(|query| Self(query.0))
            .map_err(|rejection: QueryRejection| {
                Problem::bad_request(sentence(&rejection.body_text()))
            })
    }
}

/// The variables of the path. A variable that cannot be parsed names nothing, so the answer is 404.
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        if nul::is_in_path(parts.uri.path()) {
            return Err(Problem::not_found("Nothing has the character U+0000 in its name."));
        }
        axum::extract::Path::<T>::from_request_parts(parts, state)
            .await
            .map(|path| Self(path.0))
            .map_err(|rejection: PathRejection| {
                Problem::not_found(sentence(&rejection.body_text()))
            })
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    format!("{text}.")
}
