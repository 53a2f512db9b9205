//! Agents as the API shows them.

use std::collections::HashMap;

use hierarchy::Registry;
use model::{AgentId, AgentState, Presence};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::drains::Drain;
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

impl AgentRef {
    /// The agent with its name, or its identifier where `names` lacks it.
    pub fn named(id: AgentId, names: &HashMap<AgentId, String>) -> Self {
        Self { id, name: names.get(&id).cloned().unwrap_or_else(|| id.to_string()) }
    }
}

/// Filter and order of the list of agents.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AgentQuery {
    /// Only agents in this state.
    #[param(inline)]
    pub state: Option<AgentState>,
    /// Only approved agents with this presence.
    #[param(inline)]
    pub presence: Option<Presence>,
    /// A part of the name, identifier, contact, country or company, or the begin of the home
    /// address.
    #[param(max_length = 200)]
    pub q: Option<String>,
    /// Order of the list; revoked agents are after the rest.
    #[param(inline)]
    pub sort: Option<AgentSort>,
}

/// Order of a list of agents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum AgentSort {
    /// The newest first.
    #[default]
    Newest,
    /// In alphabetical order of the names.
    Name,
    /// Most subnets first.
    Delegations,
    /// Most hosts first.
    Hosts,
    /// Most pages first.
    Pages,
    /// Most bytes shipped first.
    Shipped,
    /// The longest without a heartbeat first.
    Silent,
}

/// A page of the list of agents, with counts.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentList {
    /// The agents in the order of the list.
    pub items: Vec<Agent>,
    /// Give it as `cursor` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
    /// Number of agents that pass the filter.
    pub total: u64,
    /// Agents by state; the filter by state is ignored.
    pub states: Vec<AgentStateCount>,
    /// Approved agents by presence; the filter by presence is ignored.
    pub presences: Vec<AgentPresenceCount>,
}

/// Agents in one state.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct AgentStateCount {
    /// State that they share.
    pub state: AgentState,
    /// Number of agents.
    pub agents: u64,
}

/// Approved agents with one presence.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct AgentPresenceCount {
    /// Presence that they share.
    pub presence: Presence,
    /// Number of agents.
    pub agents: u64,
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
    /// Its home address: where its heartbeats usually come from.
    #[schema(example = "192.0.2.7")]
    pub home: String,
    /// The other address that its heartbeats come from, which becomes its home after a day; null
    /// while they come from there.
    #[schema(required = true, example = "198.51.100.4")]
    pub source: Option<String>,
    /// Since when they come from there.
    #[schema(required = true)]
    pub source_since: Option<Timestamp>,
    /// City in which its owner says it is; null when the owner names none.
    #[schema(required = true)]
    pub city: Option<String>,
    /// Degrees north of the place where its owner says it is; null when the owner says nothing.
    #[schema(required = true, example = 35.17)]
    pub latitude: Option<f64>,
    /// Degrees east of that place.
    #[schema(required = true, example = 33.36)]
    pub longitude: Option<f64>,
    /// Registry of the home subnet; null when no registry data is loaded.
    #[schema(required = true)]
    pub registry: Option<Registry>,
    /// ISO 3166-1 country of the home subnet; null when unknown.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Company that holds the home subnet; null when unknown.
    #[schema(required = true)]
    pub company: Option<String>,
    /// Fingerprint of its key, as `nearcrawl-agent status` shows it to its owner.
    #[schema(example = "mzxw6ytboi4dk5tfojqwyy3pnq")]
    pub key_fingerprint: String,
    /// For whom the join token was made with which it enrolled; null when that is not known.
    #[schema(required = true)]
    pub join_token: Option<String>,
    /// Time at which its owner ended it: it hands its hosts over from then on; null otherwise.
    #[schema(required = true)]
    pub leaving_at: Option<Timestamp>,
    /// Time at which it had left; null otherwise.
    #[schema(required = true)]
    pub left_at: Option<Timestamp>,
    /// When an admin had all its pages removed from the search; null before.
    #[schema(required = true)]
    pub pages_removed_at: Option<Timestamp>,
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
    /// Seconds by which its clock was ahead at the last heartbeat, or behind if negative; null
    /// while it is right to ten minutes.
    #[schema(required = true)]
    pub clock_off_s: Option<i64>,
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
    /// Its drain; null while no admin drains it.
    #[schema(required = true)]
    pub drain: Option<Drain>,
}

/// How far the reports of an agent can be believed, as far as other agents tell.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct ReportTrust {
    /// What follows for the next report.
    pub level: ReportLevel,
    /// Number of its reports on the home addresses of other agents that these could judge.
    pub homes_judged: u32,
    /// Number of those that they contradict.
    pub homes_contradicted: u32,
    /// Number of searches in which it was fastest and other agents could judge that.
    pub wins_judged: u32,
    /// Number of those that they contradict.
    pub wins_contradicted: u32,
    /// Number of targets of others' searches that it was asked for while it was doubted.
    pub examinations_judged: u32,
    /// Number of those of its reports that they contradict.
    pub examinations_contradicted: u32,
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
    /// Others contradict too many reports: it wins no searches while others can, and is asked for
    /// targets that others measured.
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
    #[schema(required = true)]
    pub witness: Option<AgentRef>,
    /// What that agent measured, in milliseconds.
    #[schema(required = true)]
    pub witness_ms: Option<f64>,
    /// Round trip between the two agents that the bound is based on, in milliseconds.
    #[schema(required = true)]
    pub apart_ms: Option<f64>,
    /// When the report was judged.
    pub judged_at: Timestamp,
}
