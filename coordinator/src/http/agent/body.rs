//! JSON bodies of the agent protocol.

use axum::extract::{FromRequest, Request};
use axum::http::StatusCode;
use protocol::ProtocolVersion;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::http::agent::refusal;
use crate::http::extract::receive;
use crate::http::nul;
use crate::http::problem::{FieldError, Problem};

/// A JSON body. If it names a protocol version that this coordinator does not speak, it is refused
/// for that before anything else is read, because another version may have other fields.
pub(super) struct ProtocolBody<T>(pub(super) T);

#[derive(Deserialize)]
struct VersionField {
    protocol: Option<ProtocolVersion>,
}

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for ProtocolBody<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let bytes = receive(request, state).await?;
        if let Ok(VersionField { protocol: Some(version) }) = serde_json::from_slice(&bytes) {
            version.supported().map_err(refusal::version)?;
        }
        if let Some(field) = nul::field_of_json(&bytes) {
            return Err(Problem::invalid(vec![FieldError::new(field, nul::RULE)]));
        }
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            Problem::new(
                StatusCode::UNPROCESSABLE_ENTITY,
                "body",
                format!("The body cannot be read: {error}."),
            )
        })
    }
}
