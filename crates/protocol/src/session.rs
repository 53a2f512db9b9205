//! Sessions: an agent exchanges a signature over the coordinator's nonce for a bearer token that is
//! valid for ten minutes.
//!
//! A nonce instead of a time stamp makes replays worthless, so that a wrong clock does not lock an
//! agent out.

use serde::{Deserialize, Serialize};

use crate::{key::AgentKey, key::KeyError, key::PublicKey, key::Purpose, key::Signature};
use model::AgentId;

/// Body of `POST /api/v1/agent/challenge`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChallengeRequest {
    /// Agent that opens a session.
    pub agent: AgentId,
}

/// Answer to [`ChallengeRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    /// Opaque text to be signed; valid for one minute.
    pub nonce: String,
}

/// Body of `POST /api/v1/agent/session`.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SessionRequest {
    /// Agent that opens a session.
    pub agent: AgentId,
    /// Nonce of the challenge.
    pub nonce: String,
    /// Signature by the agent's key over agent and nonce.
    pub signature: Signature,
}

impl SessionRequest {
    /// Builds a request and signs it with `key`.
    pub fn new(key: &AgentKey, agent: AgentId, nonce: String) -> Self {
        let signature = key.sign(Purpose::Session, &signed_bytes(agent, &nonce));
        Self { agent, nonce, signature }
    }

    /// Checks that the request was signed with the secret key of `key`.
    pub fn verify(&self, key: &PublicKey) -> Result<(), KeyError> {
        key.verify(Purpose::Session, &signed_bytes(self.agent, &self.nonce), &self.signature)
    }
}

fn signed_bytes(agent: AgentId, nonce: &str) -> Vec<u8> {
    format!("{agent}\n{nonce}").into_bytes()
}

/// Answer to [`SessionRequest`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Session {
    /// Bearer token for the rest of the agent API.
    pub token: String,
    /// Remaining lifetime of the token, in seconds.
    pub expires_in_s: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_binds_agent_and_nonce() {
        let key = AgentKey::from_seed([9; 32]);
        let request = SessionRequest::new(&key, AgentId::new(1), "n".into());
        assert_eq!(request.verify(&key.public()), Ok(()));
        assert!(
            SessionRequest { agent: AgentId::new(2), ..request.clone() }
                .verify(&key.public())
                .is_err()
        );
        assert!(SessionRequest { nonce: "m".into(), ..request }.verify(&key.public()).is_err());
    }
}
