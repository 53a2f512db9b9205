//! Enrolment: a one-time join token and the agent's own key.

use serde::{Deserialize, Serialize};

use crate::{
    ProtocolVersion, key::AgentKey, key::KeyError, key::PublicKey, key::Purpose, key::Signature,
};
use model::{AgentId, AgentState, UnixMillis};

/// What the owner says about the machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentProfile {
    /// Name shown to admins; 1 to 100 characters.
    pub name: String,
    /// Page or address where webmasters reach the owner.
    pub contact: String,
    /// Version of the agent's program.
    pub version: String,
    /// Pages a day that the owner offers.
    pub capacity_pages_per_day: u32,
    /// IANA time zone in which the spans are meant.
    pub zone: String,
    /// Hours in which the agent may work, as the owner wrote them; none means always.
    pub spans: Vec<String>,
}

/// `POST /api/v1/agent/enrol`. The same key may enrol again: the answer is then the same agent.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EnrolRequest {
    /// The dialect that the agent speaks.
    pub protocol: ProtocolVersion,
    /// One-time token that an admin handed to the owner.
    pub join_token: String,
    /// The agent's key; it is the identity from now on.
    pub public_key: PublicKey,
    /// Who asks.
    pub profile: AgentProfile,
    /// The agent's clock when it asked.
    pub agent_time: UnixMillis,
    /// By the key, over time and token; see [`EnrolRequest::verify`].
    pub signature: Signature,
}

impl EnrolRequest {
    /// A request signed by `key`.
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

    /// Whether the sender owns the key it shows.
    pub fn verify(&self) -> Result<(), KeyError> {
        let bytes = signed_bytes(&self.join_token, self.agent_time);
        self.public_key.verify(Purpose::Enrol, &bytes, &self.signature)
    }
}

fn signed_bytes(join_token: &str, agent_time: UnixMillis) -> Vec<u8> {
    format!("{}\n{join_token}", agent_time.0).into_bytes()
}

/// The coordinator's answer to [`EnrolRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EnrolResponse {
    /// The name of the agent from now on.
    pub agent: AgentId,
    /// Usually [`AgentState::Pending`]: an admin has yet to approve.
    pub state: AgentState,
    /// The coordinator's clock.
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
