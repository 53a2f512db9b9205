//! Hosts and errors as the API shows them.

use model::{AgentId, DelegationId, ErrorKind, FetchOutcome, HostId, HostSort, HostState};
use serde::{Deserialize, Serialize};
use store::host_tally::RecentFetch;
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::lists::BoundedCount;
use crate::http::timestamp::Timestamp;

/// Filter and order of the list of hosts.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct HostQuery {
    /// Only hosts in this state.
    #[param(inline)]
    pub state: Option<HostState>,
    /// Only hosts of this agent; the slowest are those from which it was the last to fetch.
    #[param(value_type = Option<String>, example = "agt_12")]
    pub agent: Option<AgentId>,
    /// An address or subnet in which the host lies, or the begin of its name.
    #[param(max_length = 253)]
    pub q: Option<String>,
    /// Only hosts of this subnet, not those of subnets within it.
    #[param(max_length = 100, example = "192.0.2.0/24")]
    pub subnet: Option<String>,
    /// `true`: only hosts that seeds named.
    pub seeded: Option<bool>,
    /// Order of the list.
    #[param(inline)]
    pub sort: Option<HostSort>,
    /// `true`: with counts.
    pub counts: Option<bool>,
}

/// A page of the list of hosts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HostList {
    /// The hosts in the order of the list.
    pub items: Vec<Host>,
    /// Give it as `cursor` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
    /// Counts of the hosts that pass the filter; null unless the request asks for them.
    #[schema(required = true)]
    pub counts: Option<HostListCounts>,
}

/// How many hosts pass a filter.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HostListCounts {
    /// All that pass it. Orders that leave hosts out are not considered.
    pub total: BoundedCount,
    /// Hosts by state; the filter by state is ignored.
    pub states: Vec<HostStateCount>,
}

/// Hosts in one state.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct HostStateCount {
    /// State that they share.
    pub state: HostState,
    /// Number of hosts.
    pub hosts: BoundedCount,
}

/// A web host: scheme and authority.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Host {
    /// Identifier of the host.
    #[schema(value_type = String, example = "hst_7")]
    pub id: HostId,
    /// Scheme and authority.
    #[schema(example = "https://example.org")]
    pub name: String,
    /// Where it stands on its way to an agent.
    pub state: HostState,
    /// Its address; null until it is resolved.
    #[schema(required = true, example = "198.51.100.7")]
    pub address: Option<String>,
    /// Its subnet; null until it has one.
    #[schema(required = true, example = "198.51.100.0/24")]
    pub subnet: Option<String>,
    /// ISO 3166-1 country of the subnet; null when unknown.
    #[schema(required = true)]
    pub country: Option<String>,
    /// The agent that crawls it; null while it has none.
    #[schema(required = true)]
    pub agent: Option<AgentRef>,
    /// Number of pages that were ingested.
    pub pages: u64,
    /// Fetches, whatever their outcome.
    pub fetches: u64,
    /// Fetches that failed.
    pub errors: u64,
    /// URLs that robots rules forbid.
    pub disallowed: u64,
    /// Bytes of bodies as fetched.
    pub bytes_fetched: u64,
    /// Mean time of a fetch in milliseconds; null before the first.
    #[schema(required = true)]
    pub mean_ms: Option<u64>,
    /// Time of its last fetch; null before the first.
    #[schema(required = true)]
    pub fetched_at: Option<Timestamp>,
    /// Why it could not be resolved or placed; null when nothing failed.
    #[schema(required = true)]
    pub reason: Option<String>,
    /// When it was first seen.
    pub found_at: Timestamp,
}

/// A host with its last fetches and errors.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HostDetails {
    /// The host as lists show it.
    pub host: Host,
    /// The agent that reported the first link to it; null for a seed.
    #[schema(required = true)]
    pub found_by: Option<AgentRef>,
    /// Delegation of its subnet; null while there is none.
    #[schema(required = true, value_type = Option<String>, example = "dlg_7")]
    pub delegation: Option<DelegationId>,
    /// Its last fetches, the newest first.
    pub recent: Vec<RecentFetchInfo>,
    /// Time of the last fetch with an answer; null before one is known.
    #[schema(required = true)]
    pub answered_at: Option<Timestamp>,
    /// Time of the first fetch without an answer after that; null while the host answers.
    #[schema(required = true)]
    pub unanswered_since: Option<Timestamp>,
    /// Whether searches leave its pages out, because no fetch has been answered for thirty days.
    pub is_silent: bool,
    /// Its errors on the last days, by day and kind, the newest day first.
    pub errors: Vec<HostErrorCount>,
}

/// A fetch with its outcome.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RecentFetchInfo {
    /// URL that was fetched.
    pub url: String,
    /// Time of the fetch, by the agent's clock.
    pub at: Timestamp,
    /// What became of it.
    pub outcome: FetchOutcome,
    /// Reason, status or target in one line; empty where the outcome says everything.
    pub detail: String,
    /// How long it took, in milliseconds; null when nothing was sent.
    #[schema(required = true)]
    pub ms: Option<u64>,
    /// Bytes of the body as fetched.
    pub bytes: u64,
}

impl From<RecentFetch> for RecentFetchInfo {
    fn from(fetch: RecentFetch) -> Self {
        let RecentFetch { url, at, outcome, detail, ms, bytes } = fetch;
        Self { url, at: at.into(), outcome, detail, ms, bytes }
    }
}

/// Errors of a host of one kind on one day.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HostErrorCount {
    /// Host on which they happened.
    #[schema(value_type = String, example = "hst_7")]
    pub host: HostId,
    /// Its scheme and authority.
    #[schema(example = "https://example.org")]
    pub name: String,
    /// Days from then to today (UTC).
    pub days_ago: u32,
    /// Cause that they share.
    pub kind: ErrorKind,
    /// Number of errors.
    pub errors: u64,
    /// The agent that reported the last one.
    pub agent: AgentRef,
    /// URL of the last one.
    pub url: String,
    /// Its reason or HTTP status.
    pub detail: String,
    /// Its time, by the agent's clock.
    pub at: Timestamp,
}

/// Filter of the errors of a day.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ErrorQuery {
    /// Which day (UTC): 0 is today; 0 by default.
    #[param(minimum = 0, maximum = 6)]
    pub days_ago: Option<i32>,
    /// Only errors with this cause.
    #[param(inline)]
    pub kind: Option<ErrorKind>,
    /// Only errors that this agent reported.
    #[param(value_type = Option<String>, example = "agt_12")]
    pub agent: Option<AgentId>,
    /// Most hosts in the response; 50 by default.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
}

/// Errors of one day.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ErrorsOfDay {
    /// Which day (UTC): 0 is today.
    pub days_ago: i32,
    /// All errors of the day by cause, most first; of one agent where the filter names it.
    pub kinds: Vec<ErrorKindCount>,
    /// Errors by agent, most first; of one cause where the filter names it.
    pub agents: Vec<AgentErrorCount>,
    /// Hosts with most errors that pass the filter.
    pub hosts: Vec<HostErrorCount>,
}

/// Errors with one cause.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ErrorKindCount {
    /// Cause that they share.
    pub kind: ErrorKind,
    /// Number of errors.
    pub errors: u64,
}

/// Errors that one agent reported.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentErrorCount {
    /// Agent that reported them.
    pub agent: AgentRef,
    /// Number of errors.
    pub errors: u64,
}
