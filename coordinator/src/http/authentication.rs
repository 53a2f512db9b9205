//! Authentication of signed-in people: the session cookie and the extractors that require it.

use axum::extract::{FromRequestParts, OptionalFromRequestParts};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use data_encoding::BASE64URL_NOPAD;
use model::Role;
use sha2::{Digest as _, Sha256};
use store::admins::{self, SessionUse};
use store::api_tokens;

use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::config::Config;

/// Name of the session cookie over plain http, which only loopback has.
pub const PLAIN_COOKIE: &str = "nearcrawl_session";

/// Name of the session cookie otherwise. Browsers accept the prefix only over TLS, for this host
/// alone, so that no other host of the domain can plant a session.
pub const SECURE_COOKIE: &str = "__Host-nearcrawl_session";

/// Name of the session cookie under a configuration.
pub fn cookie_name(config: &Config) -> &'static str {
    if config.has_secure_cookies() { SECURE_COOKIE } else { PLAIN_COOKIE }
}

/// Header of requests that an open page sends by itself: they do not keep the session alive.
const BACKGROUND: &str = "nearcrawl-background";

const TOKEN_BYTES: usize = 32;

/// Secret in the session cookie; the database stores only its hash.
#[derive(Clone)]
pub struct SessionToken([u8; TOKEN_BYTES]);

impl SessionToken {
    /// A token of 32 random bytes.
    pub fn new(random: [u8; TOKEN_BYTES]) -> Self {
        Self(random)
    }

    /// The value of the cookie.
    pub fn text(&self) -> String {
        BASE64URL_NOPAD.encode(&self.0)
    }

    /// The hash under which the database knows the session.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.0).into()
    }

    /// The token in the cookie of this name in a request.
    pub fn from_headers(headers: &HeaderMap, cookie: &str) -> Option<Self> {
        let cookies =
            headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies
            .flat_map(|value| value.split(';'))
            .filter_map(|pair| pair.trim().split_once('='));
        let (_, text) = pairs.find(|(name, _)| *name == cookie)?;
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        bytes.try_into().ok().map(Self)
    }
}

/// Secret that a script sends as a bearer token; the database stores only its hash.
#[derive(Clone)]
pub struct ApiToken(String);

impl ApiToken {
    /// The token with this text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// The text, as it is sent behind `Bearer`.
    pub fn text(&self) -> &str {
        &self.0
    }

    /// The hash under which the database knows the token. It has enough entropy to need no salt.
    pub fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.0.as_bytes()).into()
    }

    /// The token in the Authorization header of a request.
    fn from_headers(headers: &HeaderMap) -> Option<Self> {
        bearer(headers).map(|token| Self(token.to_owned()))
    }
}

/// The token behind `Bearer` in the Authorization header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// A person who signed in with a password, not a script with an API token.
#[derive(Clone, Debug)]
pub struct Person {
    /// Name of the account.
    pub name: String,
    /// What the account permits.
    pub role: Role,
}

/// A signed-in person, or a script with an API token, who may read.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// Name with which the person signed in; for a script, with the name of its token.
    pub name: String,
    /// Name of the account.
    pub account: String,
    /// What the person may do.
    pub role: Role,
}

/// A signed-in person, or a script with an API token, who may change things.
#[derive(Clone, Debug)]
pub struct Admin {
    /// Name with which the person signed in; for a script, with the name of its token.
    pub name: String,
}

/// A signed-in person who may change things. Scripts may not administer accounts: with a leaked
/// token, an attacker could set a password.
#[derive(Clone, Debug)]
pub struct AdminInPerson {
    /// Name of the account.
    pub name: String,
}

/// The person whose session the request carries, or the script whose API token; none without a
/// valid one. An open page sent the request and not the person, so it does not extend the session.
pub async fn viewer_in_background(
    headers: &HeaderMap,
    state: &ApiState,
) -> Result<Option<Viewer>, Problem> {
    viewer(headers, state, SessionUse::InBackground).await
}

/// The person whose session the request carries, or the script whose API token; none without a
/// valid one.
async fn viewer(
    headers: &HeaderMap,
    state: &ApiState,
    session_use: SessionUse,
) -> Result<Option<Viewer>, Problem> {
    if let Some(token) = ApiToken::from_headers(headers) {
        let found = api_tokens::user(&state.core.store, &token.sha256(), state.core.now()).await?;
        return Ok(found.map(|user| Viewer {
            name: format!("{} (token {})", user.account, user.token),
            account: user.account,
            role: user.role,
        }));
    }
    let person = person(headers, state, session_use).await?;
    Ok(person.map(|Person { name, role }| Viewer { account: name.clone(), name, role }))
}

/// The person whose session the request carries; none without a valid session.
async fn person(
    headers: &HeaderMap,
    state: &ApiState,
    session_use: SessionUse,
) -> Result<Option<Person>, Problem> {
    let cookie = cookie_name(&state.core.config);
    let Some(token) = SessionToken::from_headers(headers, cookie) else { return Ok(None) };
    let store = &state.core.store;
    let found = admins::session(store, &token.sha256(), session_use, state.core.now()).await?;
    Ok(found.map(|found| Person { name: found.name, role: found.role }))
}

/// Whether a person sent the request, or an open page by itself.
fn use_by(headers: &HeaderMap) -> SessionUse {
    if headers.contains_key(BACKGROUND) { SessionUse::InBackground } else { SessionUse::ByPerson }
}

impl FromRequestParts<ApiState> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let found = person(&parts.headers, state, use_by(&parts.headers)).await?;
        found.ok_or_else(Problem::unauthorized)
    }
}

impl FromRequestParts<ApiState> for Viewer {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let found = viewer(&parts.headers, state, use_by(&parts.headers)).await?;
        found.ok_or_else(Problem::unauthorized)
    }
}

impl OptionalFromRequestParts<ApiState> for SessionToken {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(
        parts: &mut Parts,
        state: &ApiState,
    ) -> Result<Option<Self>, Self::Rejection> {
        Ok(Self::from_headers(&parts.headers, cookie_name(&state.core.config)))
    }
}

impl FromRequestParts<ApiState> for Admin {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        let viewer =
            <Viewer as FromRequestParts<ApiState>>::from_request_parts(parts, state).await?;
        admin(viewer.role)?;
        Ok(Self { name: viewer.name })
    }
}

impl FromRequestParts<ApiState> for AdminInPerson {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &ApiState) -> Result<Self, Problem> {
        if ApiToken::from_headers(&parts.headers).is_some() {
            let detail = "An API token cannot change accounts; sign in as an admin.";
            return Err(Problem::new(StatusCode::FORBIDDEN, "not-in-person", detail));
        }
        let person =
            <Person as FromRequestParts<ApiState>>::from_request_parts(parts, state).await?;
        admin(person.role)?;
        Ok(Self { name: person.name })
    }
}

/// Refuses a caller that may not change anything.
fn admin(role: Role) -> Result<(), Problem> {
    match role {
        Role::Admin => Ok(()),
        Role::Viewer => {
            let detail = "Your account may read but not change anything; ask an admin.";
            Err(Problem::new(StatusCode::FORBIDDEN, "not-an-admin", detail))
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
        SessionToken::from_headers(&headers, PLAIN_COOKIE)
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let text = SessionToken::new([7; 32]).text();
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, format!("a=b; {SECURE_COOKIE}={text}; c").parse().unwrap());
        assert_eq!(
            SessionToken::from_headers(&headers, SECURE_COOKIE).unwrap().sha256(),
            SessionToken::new([7; 32]).sha256()
        );
        assert!(SessionToken::from_headers(&headers, PLAIN_COOKIE).is_none());
    }

    #[test]
    fn other_values_are_no_token() {
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
