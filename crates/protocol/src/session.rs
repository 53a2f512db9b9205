//! Sessions: an agent exchanges a signature over the coordinator's nonce for a bearer token that is
//! valid for ten minutes.
//!
//! A nonce instead of a time stamp makes replays worthless, so that a wrong clock does not lock an
//! agent out. The agent sends a nonce as well, and the coordinator's signature over it shows that
//! the coordinator of the enrolment answers.

use serde::{Deserialize, Serialize};

use crate::{
    key::AgentKey, key::CoordinatorKey, key::KeyError, key::PublicKey, key::Purpose,
    key::Signature, signed::SignedFields,
};
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
    /// The agent's nonce, a random text, which the answer's signature covers.
    pub agent_nonce: String,
    /// Signature by the agent's key over agent and nonce of the challenge.
    pub signature: Signature,
}

impl SessionRequest {
    /// Builds a request and signs it with `key`.
    pub fn new(key: &AgentKey, agent: AgentId, nonce: String, agent_nonce: String) -> Self {
        let signature = key.sign(Purpose::Session, &signed_bytes(agent, &nonce));
        Self { agent, nonce, agent_nonce, signature }
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
    /// Signature by the coordinator's key over both fields and the request, checked by
    /// [`Session::verify`].
    pub signature: Signature,
}

impl Session {
    /// Builds the answer to `request` and signs it with the coordinator's `key`.
    pub fn new(
        key: &CoordinatorKey,
        request: &SessionRequest,
        token: String,
        expires_in_s: u32,
    ) -> Self {
        let fields = answer_fields(request, &token, expires_in_s);
        let signature = key.sign(Purpose::SessionResponse, fields.as_bytes());
        Self { token, expires_in_s, signature }
    }

    /// Checks that the coordinator with this key answered this very request.
    pub fn verify(&self, key: &PublicKey, request: &SessionRequest) -> Result<(), KeyError> {
        let fields = answer_fields(request, &self.token, self.expires_in_s);
        key.verify(Purpose::SessionResponse, fields.as_bytes(), &self.signature)
    }
}

fn answer_fields(request: &SessionRequest, token: &str, expires_in_s: u32) -> SignedFields {
    SignedFields::default()
        .number(request.agent.get())
        .text(&request.agent_nonce)
        .text(token)
        .number(expires_in_s.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_binds_agent_and_nonce() {
        let key = AgentKey::from_seed([9; 32]);
        let request = SessionRequest::new(&key, AgentId::new(1), "n".into(), "a".into());
        assert_eq!(request.verify(&key.public()), Ok(()));
        assert!(
            SessionRequest { agent: AgentId::new(2), ..request.clone() }
                .verify(&key.public())
                .is_err()
        );
        assert!(SessionRequest { nonce: "m".into(), ..request }.verify(&key.public()).is_err());
    }

    #[test]
    fn the_answer_is_bound_to_coordinator_and_request() {
        let agent = AgentKey::from_seed([9; 32]);
        let request = SessionRequest::new(&agent, AgentId::new(1), "n".into(), "a".into());
        let key = CoordinatorKey::from_seed([1; 32]);
        let session = Session::new(&key, &request, "t".into(), 600);
        assert_eq!(session.verify(&key.public(), &request), Ok(()));
        let impostor = CoordinatorKey::from_seed([2; 32]).public();
        assert_eq!(session.verify(&impostor, &request), Err(KeyError::Mismatch));
        let later = SessionRequest::new(&agent, AgentId::new(1), "n".into(), "b".into());
        assert_eq!(session.verify(&key.public(), &later), Err(KeyError::Mismatch), "a replay");
        let changed = Session { token: "u".into(), ..session };
        assert_eq!(changed.verify(&key.public(), &request), Err(KeyError::Mismatch));
    }
}
