//! Agents as the API shows them.

use hierarchy::Registry;
use model::{AgentId, AgentState, Presence};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::timestamp::Timestamp;

/// An agent by id and name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentRef {
    /// Identifier of the agent.
    #[schema(value_type = String, example = "agt_12")]
    pub id: AgentId,
    /// Name that its owner gave it.
    pub name: String,
}

/// A crawler at a partner.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Agent {
    /// Identifier of the agent.
    #[schema(value_type = String, example = "agt_12")]
    pub id: AgentId,
    /// Name that its owner gave it.
    pub name: String,
    /// What the admins decided about it.
    pub state: AgentState,
    /// Whether it can be reached now.
    pub presence: Presence,
    /// The address it enrolled from.
    #[schema(example = "192.0.2.7")]
    pub home: String,
    /// City of the home address; null when unknown.
    #[schema(required = true)]
    pub city: Option<String>,
    /// Registry of the home subnet; null when no registry data is loaded.
    #[schema(required = true)]
    pub registry: Option<Registry>,
    /// ISO 3166-1 country of the home subnet; null when unknown.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Company that holds the home subnet; null when unknown.
    #[schema(required = true)]
    pub company: Option<String>,
    /// How its owner can be reached.
    pub contact: String,
    /// Version of the agent program.
    pub version: String,
    /// Pages per day that its owner allows.
    pub capacity_pages_per_day: u64,
    /// Hours in which it may work, in its own time zone; empty means always.
    pub spans: Vec<String>,
    /// IANA time zone of the spans.
    pub zone: String,
    /// Time of its enrolment.
    pub enrolled_at: Timestamp,
    /// Time of its first approval; null before it.
    #[schema(required = true)]
    pub approved_at: Option<Timestamp>,
    /// Time of its last heartbeat; null before the first.
    #[schema(required = true)]
    pub last_heartbeat_at: Option<Timestamp>,
    /// End of the sleep that it announced; null when it announced none.
    #[schema(required = true)]
    pub asleep_until: Option<Timestamp>,
    /// Number of subnets delegated to it.
    pub delegations: u64,
    /// Number of hosts whose pages it fetches.
    pub hosts: u64,
    /// Number of pages ingested from its packages.
    pub pages: u64,
    /// Bytes it fetched from web hosts for those pages.
    pub bytes_fetched: u64,
    /// Bytes of its packages, compressed.
    pub bytes_shipped: u64,
    /// Why it does not work now, in one line; null while it works.
    #[schema(required = true)]
    pub idle_reason: Option<String>,
    /// How far its reports of round trips can be believed.
    pub reports: ReportTrust,
}

/// How far the reports of an agent can be believed, as far as other agents tell.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReportTrust {
    /// What follows for the next report.
    pub level: ReportLevel,
    /// Number of its reports on landmarks that other agents could judge.
    pub landmarks_judged: u32,
    /// Number of those that they contradict.
    pub landmarks_contradicted: u32,
    /// Number of searches in which it was fastest and other agents could judge that.
    pub wins_judged: u32,
    /// Number of those that they contradict.
    pub wins_contradicted: u32,
    /// When the coordinator paused it because of its reports; null otherwise.
    #[schema(required = true)]
    pub paused_at: Option<Timestamp>,
    /// Why, with the numbers; null otherwise.
    #[schema(required = true)]
    pub finding: Option<String>,
    /// Its newest contradicted reports, the newest last.
    pub contradictions: Vec<Contradiction>,
}

/// How much a report of an agent counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportLevel {
    /// A sample of the searches that it wins is checked.
    Trusted,
    /// Little is known: two others check the searches that it wins.
    New,
    /// Others contradict too many reports: three others check the searches that it wins, and
    /// implausible times are replaced.
    Doubted,
    /// Its reports are forged: the coordinator pauses it.
    Forging,
}

/// A report that other agents contradict.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Contradiction {
    /// The address that was measured; null when unknown.
    #[schema(required = true, example = "198.51.100.7")]
    pub target: Option<String>,
    /// Round trip that the agent reported, in milliseconds.
    pub reported_ms: f64,
    /// Least plausible round trip, in milliseconds.
    pub least_ms: f64,
    /// The agent whose measurement shows it; null where the report is implausible by itself.
    #[schema(required = true, value_type = Option<String>, example = "agt_3")]
    pub witness: Option<AgentId>,
    /// What that agent measured, in milliseconds.
    #[schema(required = true)]
    pub witness_ms: Option<f64>,
    /// Round trip between the two agents that the bound is based on, in milliseconds.
    #[schema(required = true)]
    pub apart_ms: Option<f64>,
    /// When the report was judged.
    pub judged_at: Timestamp,
}
