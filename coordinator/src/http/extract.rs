//! Here is a request: its path, query and body as checked values, or a problem.
//!
//! axum's own extractors refuse in plain text; these refuse as RFC 9457 problems.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::http::problem::{FieldError, Problem};

/// A body that knows its own rules.
pub trait Checked {
    /// Every rule the value breaks; empty when it may be used.
    fn broken_rules(&self) -> Vec<FieldError>;
}

/// A JSON body, in and out.
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Checked> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let axum::Json(body) = axum::Json::<T>::from_request(request, state)
            .await
            .map_err(|refusal| unreadable_body(&refusal))?;
        let broken = body.broken_rules();
        if broken.is_empty() { Ok(Self(body)) } else { Err(Problem::invalid(broken)) }
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        ([(header::CACHE_CONTROL, "no-store")], axum::Json(self.0)).into_response()
    }
}

fn unreadable_body(refusal: &JsonRejection) -> Problem {
    let slug = match refusal.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "not-json",
        StatusCode::PAYLOAD_TOO_LARGE => "body-too-large",
        StatusCode::UNPROCESSABLE_ENTITY => "invalid-fields",
        _ => "bad-request",
    };
    Problem::new(refusal.status(), slug, sentence(&refusal.body_text()))
}

/// The query string.
pub struct Query<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        axum::extract::Query::<T>::from_request_parts(parts, state)
            .await
            .map(|query| Self(query.0))
            .map_err(|refusal: QueryRejection| Problem::bad_request(sentence(&refusal.body_text())))
    }
}

/// The variables of the path. One that cannot be read names nothing: 404.
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        axum::extract::Path::<T>::from_request_parts(parts, state)
            .await
            .map(|path| Self(path.0))
            .map_err(|refusal: PathRejection| Problem::not_found(sentence(&refusal.body_text())))
    }
}

fn sentence(text: &str) -> String {
    let text = text.trim_end_matches('.');
    format!("{text}.")
}
