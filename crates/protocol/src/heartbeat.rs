//! The heartbeat: the agent asks, again and again, what there is to do. It is a long poll: the
//! coordinator answers at once when it has something new, else when the hold time is over.

use serde::{Deserialize, Serialize};

use crate::{ProbeOrder, ProtocolVersion};
use model::{AgentState, CrawlPolicy, HostTask, UnixMillis};

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

/// What the agent says of itself in each heartbeat. All counts are since it first started, and survive
/// restarts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkStatus {
    /// Awake or asleep.
    #[serde(flatten)]
    pub presence: Presence,
    /// Hosts that the agent crawls.
    pub hosts: u64,
    /// URLs known and not yet fetched.
    pub queued: u64,
    /// Fetches that are going on.
    pub in_flight: u32,
    /// Fetches that ended, whatever their outcome.
    pub fetched: u64,
    /// Bytes of bodies received, as they came over the wire.
    pub wire_bytes: u64,
    /// Packages that wait to be acknowledged, or results that wait to be packed.
    pub unshipped: u64,
    /// Why the agent is not crawling, in one line; none when it is.
    pub idle_reason: Option<String>,
}

/// `POST /api/v1/agent/heartbeat`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatRequest {
    /// The dialect that the agent speaks.
    pub protocol: ProtocolVersion,
    /// The agent's clock.
    pub agent_time: UnixMillis,
    /// How long the coordinator may hold the answer back, in milliseconds; at most
    /// [`crate::limits::HEARTBEAT_HOLD_MS`].
    pub hold_ms: u32,
    /// Every route up to this number is stored durably; the coordinator forgets them.
    pub routes_after: u64,
    /// The state that the agent believes it is in; a different one is answered at once.
    pub state: AgentState,
    /// Orders taken that are not reported yet, so that they are not handed out again.
    pub probes_taken: Vec<model::ProbeId>,
    /// [`HostOrder`]s that are carried out, with everything shipped that belongs to it; repeated
    /// until the answer does not name them any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders_done: Vec<u64>,
    /// [`HostOrder`]s that are being carried out; they alone are no reason to answer at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub orders_taken: Vec<u64>,
    /// The settings that the agent goes by; different ones are answered at once. None: as it is
    /// (before protocol 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<CrawlPolicy>,
    /// How it goes.
    pub status: WorkStatus,
}

/// The answer to [`HeartbeatRequest`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeartbeatResponse {
    /// The coordinator's clock.
    pub coordinator_time: UnixMillis,
    /// Where the agent stands now.
    pub state: AgentState,
    /// URLs to crawl, by rising number, all above `routes_after`.
    pub routes: Vec<Route>,
    /// Measurements to take.
    pub probes: Vec<ProbeOrder>,
    /// What to do with hosts that the agent has; carried out after the routes of the same answer
    /// are stored, and repeated until the agent says that it is done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub host_orders: Vec<HostOrder>,
    /// How long after sending this heartbeat's request the agent may go on fetching, in milliseconds;
    /// then it waits for the next answer, since its hosts may have gone to others. 0: not yet,
    /// there are more orders to come. None: without an end (coordinators before protocol 2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease_ms: Option<u64>,
    /// Settings of the operator; the owner's own limits stand above them.
    pub policy: CrawlPolicy,
}

/// A URL that the agent shall crawl; its host is the agent's from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// Position in the agent's list of routes: rising, from 1, without gaps but for routes that
    /// were taken back.
    pub seq: u64,
    /// Absolute http or https URL.
    pub url: String,
    /// Redirects followed on the way to this URL; see [`crate::page::MAX_REDIRECTS`].
    pub redirects: u8,
}

/// Something to do with a host that the agent has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostOrder {
    /// Names the order; never used again.
    pub number: u64,
    /// Scheme and authority, as in `http://a.example:8080`.
    pub host: String,
    /// What to do. It is done at once where the host is not the agent's.
    pub task: HostTask,
}
