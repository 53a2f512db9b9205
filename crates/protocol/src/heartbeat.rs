//! The heartbeat: the agent reports its status and asks for work. It is a long poll: the
//! coordinator answers at once when it has news, else when the hold time is over.

use model::{AgentState, CrawlPolicy, HostTask, PlaceClaim, ProbeId, UnixMillis};
use serde::{Deserialize, Deserializer, Serialize, de::IgnoredAny};

use crate::{ProbeOrder, ProtocolVersion, enrol::AgentProfile, host_status::UrlStatus};

/// Whether the agent works now, by its owner's rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "presence")]
pub enum Presence {
    /// Inside a span.
    Awake,
    /// Outside the spans: no heartbeats are sent until then.
    Asleep {
        /// When the next span starts, by the agent's clock.
        until: UnixMillis,
    },
}

/// Status of the agent in each heartbeat.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkStatus {
    /// Whether the agent works now.
    #[serde(flatten)]
    pub presence: Presence,
    /// URLs that are known and not fetched yet.
    pub queued: u64,
    /// Reason for which the agent is not crawling, in one line; none when it is.
    pub idle_reason: Option<String>,
}

impl WorkStatus {
    /// Reduces the counter to what a reader can hold ([`crate::limits::COUNTER`]).
    #[must_use]
    pub fn bounded(self) -> Self {
        Self { queued: self.queued.min(crate::limits::COUNTER), ..self }
    }
}

/// Body of `POST /api/v1/agent/heartbeat`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatRequest {
    /// Protocol version of the agent.
    pub protocol: ProtocolVersion,
    /// The agent's clock when it sent the request.
    pub agent_time: UnixMillis,
    /// Time for which the coordinator may hold the answer back, in milliseconds; at most
    /// [`crate::limits::HEARTBEAT_HOLD_MS`].
    pub hold_ms: u32,
    /// Every route up to this number is stored durably; the coordinator may forget them.
    pub routes_after: u64,
    /// State that the agent knows; the coordinator answers at once if the state has changed.
    pub state: AgentState,
    /// Probe orders that are accepted and not reported yet, so that they are not sent again.
    pub probes_accepted: Vec<ProbeId>,
    /// [`HostOrder`]s that are executed, with all results of their hosts acknowledged; repeated
    /// until an answer no longer names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders_done: Vec<u64>,
    /// [`HostOrder`]s that are accepted: no request to a host that is to be released begins any
    /// more. An answer does not repeat those that are not executed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders_accepted: Vec<u64>,
    /// Numbers of [`BundleOffer`]s that were taken; repeated until an answer no longer names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bundles_taken: Vec<u64>,
    /// Settings that the agent obeys; the coordinator answers at once if they have changed. If
    /// there are none, they are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<CrawlPolicy>,
    /// Answers to the questions of the last answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub url_statuses: Vec<UrlStatus>,
    /// Whether the agent carries out probe orders now. If not, it drops those that it has, and the
    /// coordinator takes them back.
    pub takes_probes: bool,
    /// Whether the owner wants the agent to be in a region.
    pub wants_region: bool,
    /// Where the agent is, as in its profile. Its owner may change it after enrolment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceClaim>,
    /// The profile of the owner's present configuration, sent until the first answer to this
    /// process, because it may have changed since enrolment. None also where it cannot be read.
    #[serde(default, deserialize_with = "readable", skip_serializing_if = "Option::is_none")]
    pub profile: Option<AgentProfile>,
    /// Status of the agent.
    pub status: WorkStatus,
}

/// A profile if it can be read. The profile of another version must not make heartbeats fail.
fn readable<'de, D: Deserializer<'de>>(from: D) -> Result<Option<AgentProfile>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Profile(AgentProfile),
        Other(IgnoredAny),
    }
    Ok(match Either::deserialize(from)? {
        Either::Profile(profile) => Some(profile),
        Either::Other(_) => None,
    })
}

/// Answer to [`HeartbeatRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatResponse {
    /// The coordinator's clock.
    pub coordinator_time: UnixMillis,
    pub state: AgentState,
    /// URLs to crawl, by rising number, all above `routes_after`; at most
    /// [`crate::limits::ROUTES_PER_HEARTBEAT`].
    pub routes: Vec<Route>,
    /// Round trips to measure.
    pub probes: Vec<ProbeOrder>,
    /// Orders about hosts; executed after the routes of the same answer are stored, and repeated
    /// until the agent confirms them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_orders: Vec<HostOrder>,
    /// What former agents knew of hosts that are this agent's now; taken before the routes of the
    /// same answer are stored, and repeated until the agent says that it took them. At most
    /// [`crate::limits::BUNDLES_PER_HEARTBEAT`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bundles: Vec<BundleOffer>,
    /// Length of the lease in milliseconds, counted from the moment when the agent sent the
    /// request. After its end the agent stops fetching until the next answer, because its hosts may
    /// have been given to others. 0 means that more orders must be sent first.
    pub lease_ms: u64,
    /// Settings of the operator, within the owner's limits.
    pub policy: CrawlPolicy,
    /// What the agent sent of pages before this moment may be lost, because the coordinator was
    /// restored from a backup. The next visit of each such page fetches and sends it whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contents_lost_before: Option<UnixMillis>,
    /// URLs whose status an admin asks for; at most [`crate::limits::QUESTIONS_PER_HEARTBEAT`]. The
    /// next request answers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<String>,
}

/// A URL on its way to the agent that owns its host. The host is the agent's from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Number in the agent's sequence of routes, from 1. A gap means that a route was taken back.
    pub seq: u64,
    /// Absolute http or https URL.
    pub url: String,
    /// Number of redirects that led to this URL, at most [`crate::page::MAX_REDIRECTS`].
    pub redirects: u8,
}

/// An order about a host. What the agent knows of a host that it releases is sent as a bundle
/// before the order is confirmed, with `PUT /api/v1/agent/bundles/{number}`. Of a host that is too
/// large for one all URLs are handed back with the results.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostOrder {
    /// Number of the order, unique for ever.
    pub number: u64,
    /// Scheme and authority, as in `http://a.example:8080`.
    pub host: String,
    /// What to do with the host. Where the host is not the agent's, there is nothing to do and the
    /// order counts as executed.
    pub task: HostTask,
}

/// What the former agent of a host knew of it, to be read with
/// `GET /api/v1/agent/bundles/{number}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BundleOffer {
    /// Number of the order with which the former agent released the host.
    pub number: u64,
    /// Scheme and authority, as in [`HostOrder`].
    pub host: String,
    /// Whether the times of the pages count for this agent: its round trip to the host's subnet is
    /// about that of the former agent.
    pub keeps_times: bool,
    /// Whether the host was taken from the former agent before its last results came. They did not
    /// count, so that this agent fetches again what the former one fetched.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_late: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn request(profile: Value) -> HeartbeatRequest {
        let mut body = json!({
            "protocol": 10, "agent_time": 0, "hold_ms": 0, "routes_after": 0, "state": "approved",
            "probes_accepted": [], "takes_probes": true, "wants_region": true,
            "status": { "presence": "awake", "queued": 0, "idle_reason": null },
        });
        if !profile.is_null() {
            body["profile"] = profile;
        }
        serde_json::from_value(body).unwrap()
    }

    #[test]
    fn a_profile_that_cannot_be_read_is_left_out() {
        let mut profile = json!({
            "name": "a", "contact": "https://a.example/", "version": "1",
            "capacity_pages_per_day": 7, "zone": "UTC", "spans": ["daily 01:00-02:00"],
        });
        let read = request(profile.clone());
        assert_eq!(read.profile.as_ref().unwrap().capacity_pages_per_day, 7);
        assert_eq!(serde_json::to_value(&read).unwrap()["profile"], profile);
        profile["of a later version"] = json!(true);
        for other in [profile, json!("a"), json!({ "name": 5 }), Value::Null] {
            assert_eq!(request(other.clone()).profile, None, "{other}");
        }
    }
}
