//! Who asks?

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use data_encoding::BASE64URL_NOPAD;
use model::Role;
use sha2::{Digest as _, Sha256};
use store::admins;

use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Name of the session cookie.
pub const COOKIE: &str = "nearcrawl_session";

const TOKEN_BYTES: usize = 32;

/// The secret in a session cookie. Only its hash is stored.
#[derive(Clone)]
pub struct SessionToken([u8; TOKEN_BYTES]);

impl SessionToken {
    /// A new one.
    pub fn new(random: [u8; TOKEN_BYTES]) -> Self {
        Self(random)
    }

    /// As the cookie carries it.
    pub fn text(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0)
    }

    /// As the store knows it.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }

    /// The one that a request carries.
    pub fn of(headers: &HeaderMap) -> Option<Self> {
        let cookies =
            headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let (_, text) = pairs.find(|(name, _)| *name == COOKIE)?;
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }
}

/// Somebody who is signed in and may look.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// Their name.
    pub name: String,
    /// What they may do.
    pub role: Role,
}

/// Somebody who is signed in and may change things.
#[derive(Clone, Debug)]
pub struct Admin {
    /// Their name.
    pub name: String,
}

/// Whose session the request carries.
pub async fn signed_in(headers: &HeaderMap, state: &ApiState) -> Result<Option<Viewer>, Problem> {
    let Some(token) = SessionToken::of(headers) else { return Ok(None) };
    let found = admins::session(&state.core.store, &token.sha256(), state.core.now()).await?;
    Ok(found.map(|found| Viewer { name: found.name, role: found.role }))
}

impl FromRequestParts<ApiState> for Viewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        signed_in(&parts.headers, state).await?.ok_or_else(Problem::unauthorized)
    }
}

impl OptionalFromRequestParts<ApiState> for SessionToken {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        _: &ApiState,
    ) -> Result<Option<Self>, Self::Rejection> {
        Ok(Self::of(&parts.headers))
    }
}

impl FromRequestParts<ApiState> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let viewer =
            <Viewer as FromRequestParts<ApiState>>::from_request_parts(parts, state).await?;
        match viewer.role {
            Role::Admin => Ok(Self { name: viewer.name }),
            Role::Viewer => {
                let detail = "You may look but not change anything; ask an admin.";
                Err(Problem::new(StatusCode::FORBIDDEN, "not-an-admin", detail))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token_in(cookies: &[&'static str]) -> Option<SessionToken> {
        let mut headers = HeaderMap::new();
        for cookie in cookies {
            headers.append(header::COOKIE, cookie.parse().unwrap());
        }
        SessionToken::of(&headers)
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let text = SessionToken::new([7; 32]).text();
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, format!("a=b; {COOKIE}={text}; c").parse().unwrap());
        assert_eq!(
            SessionToken::of(&headers).unwrap().sha256(),
            SessionToken::new([7; 32]).sha256()
        );
    }

    #[test]
    fn what_is_no_token_is_none() {
        for cookies in [
            &[][..],
            &["nearcrawl_session="],
            &["nearcrawl_session=AAAA"],
            &["nearcrawl_session=*"],
            &["x"],
        ] {
            assert!(token_in(cookies).is_none(), "{cookies:?}");
        }
    }
}
