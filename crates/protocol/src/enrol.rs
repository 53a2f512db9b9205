//! Enrolment: a one-time join token introduces the agent's own key.

use serde::{Deserialize, Serialize};

use crate::{
    ProtocolVersion, key::AgentKey, key::KeyError, key::PublicKey, key::Purpose, key::Signature,
};
use model::{AgentId, AgentState, UnixMillis};

/// Description of the agent, from its owner's configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProfile {
    /// Name shown to admins; 1 to 100 characters.
    pub name: String,
    /// Web page or mail address where webmasters reach the owner.
    pub contact: String,
    /// Version of the agent's program.
    pub version: String,
    /// Most pages that the agent should be given per day.
    pub capacity_pages_per_day: u32,
    /// IANA name of the time zone of the spans.
    pub zone: String,
    /// Hours in which the agent may work, as the owner wrote them; empty means always.
    pub spans: Vec<String>,
}

/// Body of `POST /api/v1/agent/enrol`. A key that enrols again gets the same agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EnrolRequest {
    /// Protocol version of the agent.
    pub protocol: ProtocolVersion,
    /// One-time token that an admin gave the owner.
    pub join_token: String,
    /// Key that identifies the agent from now on.
    pub public_key: PublicKey,
    /// Description of the agent.
    pub profile: AgentProfile,
    /// The agent's clock when it sent the request.
    pub agent_time: UnixMillis,
    /// Signature by the key over time and token, checked by [`EnrolRequest::verify`]. The profile
    /// is not signed.
    pub signature: Signature,
}

impl EnrolRequest {
    /// Builds a request and signs it with `key`.
    pub fn new(
        key: &AgentKey,
        join_token: String,
        profile: AgentProfile,
        agent_time: UnixMillis,
    ) -> Self {
        let signature = key.sign(Purpose::Enrol, &signed_bytes(&join_token, agent_time));
        let public_key = key.public();
        Self {
            protocol: crate::version::CURRENT,
            join_token,
            public_key,
            profile,
            agent_time,
            signature,
        }
    }

    /// Checks that the sender owns the key that it presents.
    pub fn verify(&self) -> Result<(), KeyError> {
        let bytes = signed_bytes(&self.join_token, self.agent_time);
        self.public_key.verify(Purpose::Enrol, &bytes, &self.signature)
    }
}

fn signed_bytes(join_token: &str, agent_time: UnixMillis) -> Vec<u8> {
    format!("{}\n{join_token}", agent_time.0).into_bytes()
}

/// Answer to [`EnrolRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolResponse {
    /// Identifier of the agent from now on.
    pub agent: AgentId,
    /// State of the agent; [`AgentState::Pending`] until an admin approves it.
    pub state: AgentState,
    /// The coordinator's clock, for the agent to compare with its own.
    pub coordinator_time: UnixMillis,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn profile() -> AgentProfile {
        AgentProfile {
            name: "cs.example".into(),
            contact: "https://example.org/bot".into(),
            version: "0.1.0".into(),
            capacity_pages_per_day: 1_000,
            zone: "UTC".into(),
            spans: vec![],
        }
    }

    #[test]
    fn a_changed_token_or_key_is_noticed() {
        let key = AgentKey::from_seed([3; 32]);
        let request = EnrolRequest::new(&key, "token".into(), profile(), UnixMillis(5));
        assert_eq!(request.verify(), Ok(()));
        assert!(EnrolRequest { join_token: "other".into(), ..request.clone() }.verify().is_err());
        let stranger = AgentKey::from_seed([4; 32]).public();
        assert!(EnrolRequest { public_key: stranger, ..request }.verify().is_err());
    }
}
