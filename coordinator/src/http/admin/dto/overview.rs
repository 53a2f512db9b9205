//! The numbers of the dashboard's first room.

use serde::Serialize;
use utoipa::ToSchema;

use crate::http::timestamp::Moment;

/// One loaded registry file.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Source {
    /// Whose file.
    pub registry: String,
    /// Its name.
    pub file: String,
    /// Records taken from it.
    pub records: u64,
    /// Its date as the registry wrote it, ISO 8601.
    #[schema(required = true)]
    pub date: Option<String>,
    /// Days since that date; since it was loaded, where it has none.
    pub age_days: u64,
    /// Whether it is older than the age at which it should have been fetched anew.
    pub outdated: bool,
}

/// The loaded version of the hierarchy.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Generation {
    /// Its number.
    pub id: u64,
    /// Subnets in it.
    pub subnets: u64,
    /// Companies in it.
    pub companies: u64,
    /// Milliseconds its build took.
    pub build_ms: u64,
    /// When it became the current one.
    pub loaded_at: Moment,
    /// The files it was made of.
    pub sources: Vec<Source>,
}

/// Agents by state, and approved ones by presence.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct AgentCounts {
    /// Waiting for an admin.
    pub pending: u64,
    /// Approved.
    pub approved: u64,
    /// Paused.
    pub paused: u64,
    /// Shut out.
    pub revoked: u64,
    /// Approved and beating.
    pub awake: u64,
    /// Approved and asleep.
    pub asleep: u64,
    /// Approved, should heartbeat, does not.
    pub unreachable: u64,
}

/// Delegations by reason.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ReasonCounts {
    /// Own home subnet of an agent.
    pub home: u64,
    /// Agent of the same company near enough.
    pub company: u64,
    /// Agent from the hierarchy near enough.
    pub threshold: u64,
    /// Nearest measured.
    pub lowest: u64,
    /// Nobody else likely to be nearer.
    pub predicted: u64,
    /// Given by an admin.
    pub pinned: u64,
    /// Given by an admin, once.
    pub r#override: u64,
    /// Given to spread the load.
    pub balanced: u64,
}

/// Delegations.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct DelegationCounts {
    /// All.
    pub total: u64,
    /// Those that may still improve.
    pub provisional: u64,
    /// By reason.
    pub by_reason: ReasonCounts,
}

/// Searches for an agent.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct SearchCounts {
    /// Under way.
    pub open: u64,
    /// Over.
    pub decided: u64,
}

/// Probes.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct ProbeCounts {
    /// Asked for by searches so far.
    pub total: u64,
    /// Mean number of searches that led to a delegation; null before the first.
    #[schema(required = true)]
    pub per_search_mean: Option<f64>,
}

/// Hosts on their road to an agent.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct HostCounts {
    /// All.
    pub known: u64,
    /// With an address.
    pub resolved: u64,
    /// With an agent.
    pub delegated: u64,
    /// Given up: the name does not resolve, or nobody gets an answer.
    pub failed: u64,
}

/// URLs that the coordinator passes on.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct UrlCounts {
    /// Waiting for an agent.
    pub pending: u64,
    /// Handed to one.
    pub routed: u64,
}

/// Packages from agents.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PackageCounts {
    /// Stored.
    pub received: u64,
    /// Integrated, each once.
    pub integrated: u64,
    /// Bytes as shipped.
    pub bytes: u64,
    /// Bytes when unpacked.
    pub plain_bytes: u64,
}

/// Pages.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct PageCounts {
    /// Page results integrated from packages.
    pub integrated: u64,
    /// Documents that the index can find.
    pub indexed: u64,
    /// Bytes that agents fetched from web hosts for them.
    pub bytes_fetched: u64,
}

/// The process that answers.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct CoordinatorFacts {
    /// Its version.
    pub version: String,
    /// When it started.
    pub started_at: Moment,
    /// Its memory in bytes; null where the system does not tell.
    #[schema(required = true)]
    pub rss_bytes: Option<u64>,
}

/// Everything at a glance.
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Overview {
    /// The loaded hierarchy; null before the first load.
    #[schema(required = true)]
    pub generation: Option<Generation>,
    /// Agents.
    pub agents: AgentCounts,
    /// Delegations.
    pub delegations: DelegationCounts,
    /// Searches.
    pub searches: SearchCounts,
    /// Probes.
    pub probes: ProbeCounts,
    /// Hosts.
    pub hosts: HostCounts,
    /// URLs.
    pub urls: UrlCounts,
    /// Packages.
    pub packages: PackageCounts,
    /// Pages.
    pub pages: PageCounts,
    /// The process.
    pub coordinator: CoordinatorFacts,
}
