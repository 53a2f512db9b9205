//! Enrolment: a one-time join token introduces the agent's own key to the coordinator, and the
//! coordinator's key to the agent.

use serde::{Deserialize, Serialize};

use crate::{
    ProtocolVersion, join_token::Fingerprint, key::AgentKey, key::CoordinatorKey, key::KeyError,
    key::PublicKey, key::Purpose, key::Signature, signed::SignedFields,
};
use model::{AgentId, AgentState, PlaceClaim, UnixMillis};

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
    /// Where the agent is; none when its owner does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceClaim>,
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
    /// The agent's nonce, a random text, which the answer's signature covers.
    pub nonce: String,
    /// Signature by the key over everything else, checked by [`EnrolRequest::verify`].
    pub signature: Signature,
}

impl EnrolRequest {
    /// Builds a request and signs it with `key`.
    pub fn new(
        key: &AgentKey,
        join_token: String,
        profile: AgentProfile,
        agent_time: UnixMillis,
        nonce: String,
    ) -> Self {
        let protocol = crate::version::CURRENT;
        let public_key = key.public();
        let fields = request_fields(protocol, &join_token, &profile, agent_time, &nonce);
        let signature = key.sign(Purpose::Enrol, fields.as_bytes());
        Self { protocol, join_token, public_key, profile, agent_time, nonce, signature }
    }

    /// Checks that the sender owns the key that it presents and wrote this very request.
    pub fn verify(&self) -> Result<(), KeyError> {
        let Self { protocol, join_token, public_key, profile, agent_time, nonce, signature } = self;
        let fields = request_fields(*protocol, join_token, profile, *agent_time, nonce);
        public_key.verify(Purpose::Enrol, fields.as_bytes(), signature)
    }
}

fn request_fields(
    protocol: ProtocolVersion,
    join_token: &str,
    profile: &AgentProfile,
    agent_time: UnixMillis,
    nonce: &str,
) -> SignedFields {
    // The profile is destructured, so that a new field of it cannot be forgotten here.
    let AgentProfile { name, contact, version, capacity_pages_per_day, zone, spans, place } =
        profile;
    let fields = SignedFields::default()
        .number(protocol.0.into())
        .number(agent_time.0)
        .text(join_token)
        .text(nonce)
        .text(name)
        .text(contact)
        .text(version)
        .number((*capacity_pages_per_day).into())
        .text(zone)
        .texts(spans);
    match place {
        Some(place) => fields
            .number(place.latitude_mdeg().into())
            .number(place.longitude_mdeg().into())
            .text(place.city().unwrap_or_default())
            .text(place.country().unwrap_or_default()),
        None => fields,
    }
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
    /// Key of the coordinator, which the agent keeps. Its fingerprint is in the join token.
    pub coordinator_key: PublicKey,
    /// Signature by that key over everything else and the request, checked by
    /// [`EnrolResponse::verify`].
    pub signature: Signature,
}

impl EnrolResponse {
    /// Builds the answer to `request` and signs it with the coordinator's `key`.
    pub fn new(
        key: &CoordinatorKey,
        request: &EnrolRequest,
        agent: AgentId,
        state: AgentState,
        coordinator_time: UnixMillis,
    ) -> Self {
        let fields = answer_fields(request, agent, state, coordinator_time);
        let signature = key.sign(Purpose::EnrolResponse, fields.as_bytes());
        Self { agent, state, coordinator_time, coordinator_key: key.public(), signature }
    }

    /// Checks that the coordinator with this fingerprint, which the join token names, answered this
    /// very request.
    pub fn verify(&self, coordinator: Fingerprint, request: &EnrolRequest) -> Result<(), KeyError> {
        if Fingerprint::of(&self.coordinator_key) != coordinator {
            return Err(KeyError::Mismatch);
        }
        let fields = answer_fields(request, self.agent, self.state, self.coordinator_time);
        self.coordinator_key.verify(Purpose::EnrolResponse, fields.as_bytes(), &self.signature)
    }
}

fn answer_fields(
    request: &EnrolRequest,
    agent: AgentId,
    state: AgentState,
    coordinator_time: UnixMillis,
) -> SignedFields {
    SignedFields::default()
        .bytes(&request.public_key.to_bytes())
        .text(&request.nonce)
        .number(agent.get())
        .text(state.as_str())
        .number(coordinator_time.0)
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
            place: None,
        }
    }

    fn request() -> EnrolRequest {
        let key = AgentKey::from_seed([3; 32]);
        EnrolRequest::new(&key, "token".into(), profile(), UnixMillis(5), "nonce".into())
    }

    #[test]
    fn a_changed_token_or_key_is_noticed() {
        let request = request();
        assert_eq!(request.verify(), Ok(()));
        assert!(EnrolRequest { join_token: "other".into(), ..request.clone() }.verify().is_err());
        assert!(EnrolRequest { nonce: "other".into(), ..request.clone() }.verify().is_err());
        let stranger = AgentKey::from_seed([4; 32]).public();
        assert!(EnrolRequest { public_key: stranger, ..request }.verify().is_err());
    }

    #[test]
    fn a_changed_profile_is_noticed() {
        let changes: [fn(&mut AgentProfile); 7] = [
            |profile| profile.name.push('x'),
            |profile| profile.contact.push('x'),
            |profile| profile.version.push('x'),
            |profile| profile.capacity_pages_per_day += 1,
            |profile| profile.zone = "Europe/Nicosia".into(),
            |profile| profile.spans.push("daily 00:00-24:00".into()),
            |profile| profile.place = PlaceClaim::new(35.17, 33.36, None, None).ok(),
        ];
        for (n, change) in changes.iter().enumerate() {
            let mut request = request();
            change(&mut request.profile);
            assert_eq!(request.verify(), Err(KeyError::Mismatch), "change {n}");
        }
    }

    #[test]
    fn the_answer_is_bound_to_coordinator_and_request() {
        let request = request();
        let key = CoordinatorKey::from_seed([1; 32]);
        let token_of = Fingerprint::of(&key.public());
        let answer = |key| {
            let agent = AgentId::new(7);
            EnrolResponse::new(key, &request, agent, AgentState::Pending, UnixMillis(6))
        };
        let response = answer(&key);
        assert_eq!(response.verify(token_of, &request), Ok(()));
        let impostor = CoordinatorKey::from_seed([2; 32]);
        assert_eq!(answer(&impostor).verify(token_of, &request), Err(KeyError::Mismatch));
        let posing = EnrolResponse { coordinator_key: key.public(), ..answer(&impostor) };
        assert_eq!(posing.verify(token_of, &request), Err(KeyError::Mismatch));
        let other = EnrolRequest { nonce: "other".into(), ..request.clone() };
        assert_eq!(response.verify(token_of, &other), Err(KeyError::Mismatch), "a replay");
        let changed = EnrolResponse { agent: AgentId::new(8), ..response };
        assert_eq!(changed.verify(token_of, &request), Err(KeyError::Mismatch));
    }
}
