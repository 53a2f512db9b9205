//! What an agent and the coordinator exchange about a region, encoded by `postcard`.
//!
//! One call serves three purposes: the agent says that it wants to be a member and where it
//! listens, asks for roster and loan, and leaves and collects envelopes. The coordinator may hold
//! the answer back until it has news.

use model::{AgentId, CrawlUrl, RegionId};
use protocol::bounded::at_most;
use serde::{Deserialize, Serialize};

use crate::envelope::{Envelope, MESSAGE_BYTES};
use crate::message::Lane;
use crate::ownership::SignedView;
use crate::roster::Version;
use crate::settings::Settings;

/// Largest request or answer, in bytes.
pub const RELAY_BYTES: usize = MESSAGE_BYTES + (1 << 20);
/// Bytes of envelopes from which on no further one is added to a request or an answer.
pub const RELAY_FILL: usize = 1 << 20;

/// Most addresses of a request that are read; the coordinator takes fewer.
const MAX_ADDRESSES: usize = 100;
/// Most members of a report.
const MAX_AGENTS: usize = 1_000;
/// Most envelopes of a request. Each is more than a hundred bytes of [`RELAY_FILL`].
const MAX_ENVELOPES: usize = 20_000;

/// What an agent sends to the coordinator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayRequest {
    /// Time for which the answer may be held back, in milliseconds.
    pub hold_ms: u32,
    /// Base URLs at which the agent listens for peers.
    #[serde(deserialize_with = "at_most::<MAX_ADDRESSES, _, _>")]
    pub addresses: Vec<String>,
    /// Name of the region that the owner asks for; none leaves it to the coordinator.
    pub label: Option<String>,
    /// Region of the agent, and the newest version that it knows; none if it is in no region.
    pub known: Option<(RegionId, Version)>,
    /// Whether the agent asks for a loan of the region's hosts.
    pub wants_loan: bool,
    /// What the agent knows of the region; none while it is in none.
    pub report: Option<MemberReport>,
    /// Lane of the envelopes in the answer.
    pub lane: Lane,
    /// Envelopes to the coordinator, and to other agents that this one cannot reach.
    #[serde(deserialize_with = "at_most::<MAX_ENVELOPES, _, _>")]
    pub envelopes: Vec<Envelope>,
}

/// State of a member, for the operator and for the coordinator's delegations.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberReport {
    /// Whether a majority of voters lets it fetch.
    pub has_lease: bool,
    /// Members whose hosts others fetch, as far as it knows.
    #[serde(deserialize_with = "at_most::<MAX_AGENTS, _, _>")]
    pub replaced: Vec<AgentId>,
    /// Hosts of the region that it knows.
    pub hosts: u64,
    /// URLs that wait for other agents.
    pub waiting: u64,
    /// URLs sent to other agents since the start of its process.
    pub sent: u64,
    /// URLs received from other agents since the start of its process.
    pub received: u64,
    /// Envelopes, messages and parts of messages that it refused since the start of its process.
    pub refused: u64,
}

/// What the coordinator answers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelayAnswer {
    /// Settings of the agent's region; none while it is in no region.
    pub settings: Option<Settings>,
    /// Roster and deltas, if the agent knows an older version or another region. They come with
    /// the lane of other messages than bundles.
    pub view: Option<SignedView>,
    /// Term of the loan in milliseconds from the moment of the request, if one was asked for.
    pub loan_ms: Option<u64>,
    /// Envelopes to the agent.
    pub envelopes: Vec<Envelope>,
}

/// Whether an agent may announce this as an address of its listener: an http or https URL to which
/// paths can be appended. Other members post to it, so it must not choose their whole request.
pub fn is_listener_url(text: &str) -> bool {
    !text.contains(['?', '#', '@']) && CrawlUrl::parse(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_has_a_url_to_which_paths_can_be_appended() {
        for good in ["https://a.example:8430", "http://192.0.2.1/", "https://a.example/agent/"] {
            assert!(is_listener_url(good), "{good}");
        }
        let query = "http://a.example/send?to=all&text=";
        for bad in [query, "http://a.example/#", "http://ada@a.example/", "ftp://a.example/", ""] {
            assert!(!is_listener_url(bad), "{bad}");
        }
    }

    fn read(request: &RelayRequest) -> Result<RelayRequest, postcard::Error> {
        postcard::from_bytes(&postcard::to_allocvec(request).unwrap())
    }

    #[test]
    fn requests_with_endless_lists_are_refused() {
        let report =
            MemberReport { replaced: vec![AgentId::new(1); MAX_AGENTS], ..Default::default() };
        let mut request = RelayRequest { report: Some(report), ..Default::default() };
        assert_eq!(read(&request).as_ref(), Ok(&request));
        request.addresses = vec![String::new(); MAX_ADDRESSES + 1];
        assert!(read(&request).is_err());
        let report =
            MemberReport { replaced: vec![AgentId::new(1); MAX_AGENTS + 1], ..Default::default() };
        assert!(read(&RelayRequest { report: Some(report), ..Default::default() }).is_err());
    }
}
