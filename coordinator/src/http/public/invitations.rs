//! The one-time link that an accepted partner gets. The link's secret is after the `#` of its
//! address, a part that browsers never send; the page posts it here once the partner wants to join.

use axum::extract::State;
use protocol::join_token::JoinToken;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use store::join_requests::{self, LinkUse, NewSecret};
use utoipa::ToSchema;

use crate::http::agent::tokens::join_token_hash;
use crate::http::extract::{Json, PUBLIC_BODY_MAX, Validate};
use crate::http::problem::{FieldError, Problem};
use crate::http::state::ApiState;
use crate::http::timestamp::Timestamp;
use crate::runtime::coordinator_key;

/// Lifetime of the join token that a link makes, in milliseconds: a day.
const TOKEN_MS: i64 = 24 * 60 * 60 * 1_000;

/// The secret of a link.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InvitationSecret {
    /// What is behind the `#` of the link.
    #[schema(min_length = 1, max_length = 100)]
    pub secret: String,
}

impl Validate for InvitationSecret {
    const MOST_BYTES: Option<usize> = Some(PUBLIC_BODY_MAX);

    fn errors(&self) -> Vec<FieldError> {
        let is_usable = (1..=100).contains(&self.secret.len());
        let rule = "give what is behind the # of the link";
        (!is_usable).then(|| FieldError::new("secret", rule)).into_iter().collect()
    }
}

/// What a partner needs to run an agent. No other response contains the token.
#[derive(Debug, Serialize, ToSchema)]
pub struct OpenedInvitation {
    /// One-time token with which the agent enrols.
    pub join_token: String,
    /// Time at which the token expires.
    pub expires_at: Timestamp,
    /// Name of the agent, as the partner wrote it.
    pub name: String,
    /// Contact, as the partner wrote it.
    pub contact: String,
    /// City of the machine, as the partner wrote it; may be empty.
    pub place: String,
    /// IANA time zone of the spans.
    pub zone: String,
    /// Hours in which the agent may work; none means always.
    pub spans: Vec<String>,
}

/// SHA-256 of a link's secret. It has enough entropy to need no salt.
pub fn secret_hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.trim().as_bytes()).into()
}

/// Use a one-time link up: makes the join token of an accepted request.
#[utoipa::path(post, path = "/api/v1/invitations/open", operation_id = "open_invitation",
    tag = "joining", request_body = InvitationSecret,
    responses((status = 200, body = OpenedInvitation)))]
pub async fn open(
    State(state): State<ApiState>,
    Json(link): Json<InvitationSecret>,
) -> Result<Json<OpenedInvitation>, Problem> {
    let core = &state.core;
    let key = coordinator_key::load(&core.store).await?;
    let token = JoinToken::new(rand::random(), &key.public());
    let sha256 = join_token_hash(token.as_str());
    let expires_at = core.now().plus_ms(TOKEN_MS);
    let made = NewSecret { sha256: &sha256, expires_at };
    let secret = secret_hash(&link.secret);
    let opened = join_requests::open(&core.store, &secret, made, core.now()).await?;
    let id = match opened {
        LinkUse::Now(id) => id,
        other => return Err(refusal(&other)),
    };
    let request = join_requests::find(&core.store, id).await?;
    let request = request.ok_or_else(|| Problem::not_found("The request was removed."))?;
    Ok(Json(OpenedInvitation {
        join_token: token.as_str().to_owned(),
        expires_at: expires_at.into(),
        name: request.name,
        contact: request.contact,
        place: request.place,
        zone: request.zone,
        spans: request.spans,
    }))
}

fn refusal(opened: &LinkUse) -> Problem {
    match opened {
        LinkUse::Before(at) => Problem::conflict(format!(
            "This link was used on {}. It works once: if that was not you, tell the operator; if \
             the page was lost, ask the operator for another link.",
            Timestamp(*at).to_minute()
        )),
        LinkUse::Expired => {
            Problem::conflict("This link has expired; ask the operator for another one.")
        }
        LinkUse::Now(_) | LinkUse::Unknown => Problem::not_found(
            "This link is not valid: it was cut off, or a newer one replaced it. Copy all of it, \
             or ask the operator for another one.",
        ),
    }
}
