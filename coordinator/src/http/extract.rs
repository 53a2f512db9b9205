//! Extractors for path, query and body. axum's own extractors refuse in plain text; these refuse as
//! RFC 9457 problems and validate the body.

use axum::extract::rejection::{JsonRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::http::problem::{FieldError, Problem};

/// A request body that can check its own fields.
pub trait Validate {
    /// One entry for each rule that the value breaks; empty when it may be used.
    fn errors(&self) -> Vec<FieldError>;
}

/// A JSON body. As an extractor it validates; as a response it forbids caching.
pub struct Json<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Validate> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
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

fn unreadable_body(rejection: &JsonRejection) -> Problem {
    let slug = match rejection.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => "not-json",
        StatusCode::PAYLOAD_TOO_LARGE => "body-too-large",
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
        axum::extract::Query::<T>::from_request_parts(parts, state)
            .await
            .map(|query| Self(query.0))
            .map_err(|rejection: QueryRejection| {
                Problem::bad_request(sentence(&rejection.body_text()))
            })
    }
}

/// The variables of the path. A variable that cannot be parsed names nothing, hence 404.
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
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
