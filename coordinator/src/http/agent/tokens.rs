//! Nonces and session tokens: nothing is stored, everything is signed.
//!
//! Both are `payload | HMAC-SHA-256(secret, kind | payload)` in base64url. The secret lives in
//! Postgres, so that a session outlives a restart of the coordinator. A nonce is good for one
//! minute and for one use: used ones are remembered until they expire, and those made before this
//! coordinator started are refused, since it cannot know whether they were used. The time of the
//! start is computed from how long the coordinator has been running: otherwise, after the clock was
//! set back, new nonces would seem to be older than the start.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use data_encoding::BASE64URL_NOPAD;
use hmac::{Hmac, KeyInit, Mac};
use model::{AgentId, UnixMillis};
use protocol::limits;
use sha2::{Digest as _, Sha256};

/// How long a nonce may be signed, in milliseconds.
const NONCE_MS: i64 = 60_000;
/// Agent, time and salt, 8 bytes each.
const PAYLOAD_BYTES: usize = 24;

/// Why a nonce or token is not taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not made here, or changed on the way.
    #[error("it was not issued by this coordinator")]
    Forged,
    /// Made for another agent.
    #[error("it was issued to another agent")]
    Foreign,
    /// Its time is over.
    #[error("it has expired")]
    Expired,
    /// A nonce that was shown before.
    #[error("it was used before")]
    Used,
}

/// Issues and checks nonces and session tokens.
pub struct Tokens {
    secret: [u8; 32],
    started: Instant,
    used: Mutex<HashMap<[u8; PAYLOAD_BYTES], UnixMillis>>,
}

impl Tokens {
    /// With the deployment's secret, at the start of this coordinator.
    pub fn new(secret: [u8; 32]) -> Self {
        Self { secret, started: Instant::now(), used: Mutex::default() }
    }

    /// A fresh nonce for an agent to sign.
    pub fn nonce(&self, agent: AgentId, now: UnixMillis, salt: u64) -> String {
        self.sign("nonce", agent, now, salt)
    }

    /// Takes a nonce, once.
    pub fn spend(&self, nonce: &str, agent: AgentId, now: UnixMillis) -> Result<(), TokenError> {
        self.spend_after(self.started.elapsed(), nonce, agent, now)
    }

    /// Takes a nonce after this coordinator has been running for some time.
    fn spend_after(
        &self,
        uptime: Duration,
        nonce: &str,
        agent: AgentId,
        now: UnixMillis,
    ) -> Result<(), TokenError> {
        let payload = self.verify("nonce", nonce)?;
        let issued = check_owner(&payload, agent)?;
        let uptime_ms = i64::try_from(uptime.as_millis()).unwrap_or(i64::MAX);
        let since = UnixMillis(now.0.saturating_sub(uptime_ms));
        if issued < since || issued.plus_ms(NONCE_MS) <= now || issued > now.plus_ms(NONCE_MS) {
            return Err(TokenError::Expired);
        }
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, issued| issued.plus_ms(NONCE_MS) > now);
        match used.insert(payload, issued) {
            None => Ok(()),
            Some(_) => Err(TokenError::Used),
        }
    }

    /// A session token; good for [`limits::SESSION_SECONDS`].
    pub fn session(&self, agent: AgentId, now: UnixMillis, salt: u64) -> String {
        self.sign("session", agent, now.plus_ms(i64::from(limits::SESSION_SECONDS) * 1_000), salt)
    }

    /// Whose session it is.
    pub fn owner(&self, session: &str, now: UnixMillis) -> Result<AgentId, TokenError> {
        let (agent, expires) = parts(&self.verify("session", session)?);
        if expires > now { Ok(agent) } else { Err(TokenError::Expired) }
    }

    fn sign(&self, kind: &str, agent: AgentId, time: UnixMillis, salt: u64) -> String {
        let payload =
            [agent.get().to_be_bytes(), time.0.to_be_bytes(), salt.to_be_bytes()].concat();
        let signature = self.mac(kind, &payload).finalize().into_bytes();
        BASE64URL_NOPAD.encode(&[payload.as_slice(), &signature].concat())
    }

    fn verify(&self, kind: &str, text: &str) -> Result<[u8; PAYLOAD_BYTES], TokenError> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| TokenError::Forged)?;
        let (payload, signature) =
            bytes.split_first_chunk::<PAYLOAD_BYTES>().ok_or(TokenError::Forged)?;
        self.mac(kind, payload).verify_slice(signature).map_err(|_| TokenError::Forged)?;
        Ok(*payload)
    }

    fn mac(&self, kind: &str, payload: &[u8]) -> Hmac<Sha256> {
        // `Hmac::new` takes a key of exactly one block and cannot fail. The zeros after the secret
        // are the padding that HMAC prescribes for shorter keys.
        let mut block = [0_u8; 64];
        block[..32].copy_from_slice(&self.secret);
        let mut mac = Hmac::<Sha256>::new(&block.into());
        mac.update(kind.as_bytes());
        mac.update(&[0]);
        mac.update(payload);
        mac
    }
}

fn parts(payload: &[u8; PAYLOAD_BYTES]) -> (AgentId, UnixMillis) {
    let number =
        |at: usize| payload[at..].first_chunk::<8>().map_or(0, |bytes| i64::from_be_bytes(*bytes));
    (AgentId::new(number(0)), UnixMillis(number(8)))
}

fn check_owner(payload: &[u8; PAYLOAD_BYTES], agent: AgentId) -> Result<UnixMillis, TokenError> {
    let (owner, time) = parts(payload);
    if owner == agent { Ok(time) } else { Err(TokenError::Foreign) }
}

/// What is stored of a join token: SHA-256. The token has enough entropy to need no salt.
pub fn join_token_hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.trim().as_bytes()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const AGENT: AgentId = AgentId::new(7);
    const START: UnixMillis = UnixMillis(1_000_000);
    const UPTIME: Duration = Duration::from_mins(10);

    fn tokens() -> Tokens {
        Tokens::new([5; 32])
    }

    #[test]
    fn a_nonce_is_good_once_for_its_agent_for_a_minute() {
        let tokens = tokens();
        let nonce = tokens.nonce(AGENT, START, 1);
        let spend = |agent, now| tokens.spend_after(UPTIME, &nonce, agent, now);
        assert_eq!(spend(AgentId::new(8), START), Err(TokenError::Foreign));
        assert_eq!(spend(AGENT, START.plus_ms(NONCE_MS)), Err(TokenError::Expired));
        assert_eq!(spend(AGENT, START.plus_ms(5)), Ok(()));
        assert_eq!(spend(AGENT, START.plus_ms(6)), Err(TokenError::Used));
    }

    #[test]
    fn a_nonce_from_before_the_start_is_refused() {
        let before = tokens().nonce(AGENT, START, 1);
        let restarted = Tokens::new([5; 32]);
        let ten_ms = Duration::from_millis(10);
        let spent = restarted.spend_after(ten_ms, &before, AGENT, START.plus_ms(20));
        assert_eq!(spent, Err(TokenError::Expired));
    }

    #[test]
    fn a_nonce_is_good_after_the_clock_was_set_back() {
        let tokens = tokens();
        let earlier = START.plus_ms(-7_200_000);
        let nonce = tokens.nonce(AGENT, earlier, 1);
        assert_eq!(tokens.spend_after(UPTIME, &nonce, AGENT, earlier.plus_ms(20)), Ok(()));
    }

    #[test]
    fn a_session_outlives_a_restart_but_not_its_time() {
        let session = tokens().session(AGENT, START, 1);
        let restarted = Tokens::new([5; 32]);
        assert_eq!(restarted.owner(&session, START.plus_ms(20)), Ok(AGENT));
        assert_eq!(restarted.owner(&session, START.plus_ms(600_000)), Err(TokenError::Expired));
    }

    #[test]
    fn a_changed_or_foreign_text_is_refused() {
        let tokens = tokens();
        let session = tokens.session(AGENT, START, 1);
        let mut changed = session.clone().into_bytes();
        changed[3] ^= 1;
        let changed = String::from_utf8_lossy(&changed).into_owned();
        for text in [changed.as_str(), "", "nonsense", &tokens.nonce(AGENT, START, 1)] {
            assert_eq!(tokens.owner(text, START), Err(TokenError::Forged), "{text}");
        }
        assert_eq!(Tokens::new([6; 32]).owner(&session, START), Err(TokenError::Forged));
    }
}
