//! Incidents of calibration as the API shows them.

use model::IncidentState;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::timestamp::Timestamp;

/// A subnet whose path or pages became slower, and what was done about it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Incident {
    /// Number of the incident.
    pub id: i64,
    /// The subnet: a CIDR, or `first - last` where it is none.
    #[schema(example = "41.0.0.0/16")]
    pub subnet: String,
    /// The agent that had the subnet then.
    pub agent: AgentRef,
    /// Recent round trip, or time of the last reported page, divided by the usual one.
    pub slowdown_ratio: f64,
    /// Address of the last reported page; null when the path became slower.
    #[schema(required = true)]
    pub url: Option<String>,
    /// How far the incident has come.
    pub state: IncidentState,
    /// The agent whose control probe separates a slow path from a slow server; null before it.
    #[schema(required = true)]
    pub control_agent: Option<AgentRef>,
    /// Round trip of the control agent before the incident, in milliseconds.
    #[schema(required = true)]
    pub control_before_ms: Option<f64>,
    /// Round trip of the control probe, in milliseconds.
    #[schema(required = true)]
    pub control_now_ms: Option<f64>,
    /// The agent that got the subnet; null while it stays.
    #[schema(required = true)]
    pub next_agent: Option<AgentRef>,
    /// Time at which the incident was opened.
    pub opened_at: Timestamp,
    /// Time at which the subnet moved; null while it stays.
    #[schema(required = true)]
    pub moved_at: Option<Timestamp>,
    /// Time of the failback; null before it.
    #[schema(required = true)]
    pub returned_at: Option<Timestamp>,
    /// Time at which the incident was closed; null while it is open.
    #[schema(required = true)]
    pub closed_at: Option<Timestamp>,
    /// The incident in plain sentences.
    pub summary: String,
}
