//! Counts of everything, as the overview shows them.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::timestamp::Timestamp;

/// Counts of everything, and the state of the process.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Overview {
    /// The loaded generation of the hierarchy; null before the first load.
    #[schema(required = true)]
    pub generation: Option<HierarchyGeneration>,
    /// Agents by state and presence.
    pub agents: AgentCounts,
    /// Delegations by reason.
    pub delegations: DelegationCounts,
    /// Searches for the agent of a subnet.
    pub delegation_searches: DelegationSearchCounts,
    /// Probes that delegation searches asked for.
    pub probes: ProbeCounts,
    /// Known hosts by state.
    pub hosts: HostCounts,
    /// URLs that the coordinator routes to agents.
    pub urls: UrlCounts,
    /// Packages received from agents.
    pub packages: PackageCounts,
    /// Pages ingested and indexed.
    pub pages: PageCounts,
    /// The coordinator process that answers.
    pub coordinator: CoordinatorInfo,
}

/// One loaded registry file.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct RegistrySource {
    /// The registry that publishes the file.
    pub registry: String,
    /// Name of the file.
    pub file: String,
    /// Number of records taken from it.
    pub records: u64,
    /// Date that the registry wrote into it, or of the last change of the file, ISO 8601; null when
    /// neither is known.
    #[schema(required = true)]
    pub date: Option<String>,
    /// Days since that date, or since the load where it is not known.
    pub age_days: u64,
    /// True when the file is older than the refresh period.
    pub outdated: bool,
}

/// The loaded version of the hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct HierarchyGeneration {
    /// Number of the generation.
    pub id: u64,
    /// Number of subnets in it.
    pub subnets: u64,
    /// Number of companies in it.
    pub companies: u64,
    /// Duration of its build, in milliseconds.
    pub build_ms: u64,
    /// Time at which the coordinator started to use it.
    pub loaded_at: Timestamp,
    /// The registry files it was made of.
    pub sources: Vec<RegistrySource>,
}

/// Agents by state, and approved agents by presence.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct AgentCounts {
    /// Agents that wait for approval.
    pub pending: u64,
    /// Agents that may work.
    pub approved: u64,
    /// Agents that an admin paused.
    pub paused: u64,
    /// Agents that an admin revoked.
    pub revoked: u64,
    /// Approved agents that send heartbeats.
    pub awake: u64,
    /// Approved agents outside their spans.
    pub asleep: u64,
    /// Approved agents whose heartbeats stay away.
    pub unreachable: u64,
}

/// Delegations by reason.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ReasonCounts {
    /// Home subnets of agents.
    pub home: u64,
    /// Delegations to an agent of the same company under the threshold.
    pub company: u64,
    /// Delegations to an agent of the hierarchy under the threshold.
    pub threshold: u64,
    /// Delegations to the lowest round trip measured.
    pub lowest: u64,
    /// Delegations after which no other agent was likely to be nearer.
    pub predicted: u64,
    /// Delegations that a pin holds.
    pub pinned: u64,
    /// Delegations that an admin reassigned once.
    pub r#override: u64,
    /// Delegations that balance moved.
    pub balanced: u64,
    /// Delegations whose former agent is drained.
    pub drained: u64,
    /// Delegations that members of a region took over from a dead member.
    pub takeover: u64,
}

/// Delegations that apply.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DelegationCounts {
    /// Number of all delegations.
    pub total: u64,
    /// Number of delegations that their search may still improve.
    pub provisional: u64,
    /// Number of delegations for each reason.
    pub by_reason: ReasonCounts,
}

/// Searches for the agent of a subnet.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DelegationSearchCounts {
    /// Searches that are under way.
    pub open: u64,
    /// Searches that are over, without those that no agent got an answer for.
    pub decided: u64,
}

/// Probes that delegation searches asked for, and those by which agents know where they are.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ProbeCounts {
    /// Number of all probes of searches so far.
    pub total: u64,
    /// Home addresses of agents that another agent measured. Each pair counts once, though it is
    /// measured again every week.
    pub homes: u64,
    /// Mean over the searches that led to a delegation; null before the first.
    #[schema(required = true)]
    pub per_search_mean: Option<f64>,
}

/// Known hosts by state.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct HostCounts {
    /// Number of all hosts.
    pub known: u64,
    /// Hosts that have an address.
    pub resolved: u64,
    /// Hosts that have an agent.
    pub delegated: u64,
    /// Hosts that were given up: the name does not resolve, or no agent gets an answer.
    pub failed: u64,
}

/// URLs that the coordinator routes to agents.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct UrlCounts {
    /// URLs that wait for an agent.
    pub pending: u64,
    /// URLs that were routed to an agent.
    pub routed: u64,
}

/// Packages received from agents.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PackageCounts {
    /// Packages that were stored.
    pub received: u64,
    /// Packages that were ingested, each once.
    pub ingested: u64,
    /// Compressed size in bytes.
    pub bytes: u64,
    /// Uncompressed size in bytes.
    pub plain_bytes: u64,
}

/// Pages ingested and indexed.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PageCounts {
    /// Page results ingested from packages.
    pub ingested: u64,
    /// Documents that the index can find.
    pub indexed: u64,
    /// Bytes that agents fetched from web hosts for them.
    pub bytes_fetched: u64,
}

/// The coordinator process that answers.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CoordinatorInfo {
    /// Version of the coordinator program.
    pub version: String,
    /// Time at which the process started.
    pub started_at: Timestamp,
    /// Resident memory in bytes; null where the system does not report it.
    #[schema(required = true)]
    pub rss_bytes: Option<u64>,
}
