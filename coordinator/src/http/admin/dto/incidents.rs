//! Subnets whose pages became slower.

use model::IncidentState;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::timestamp::Moment;

/// A subnet whose pages became slower, and what came of it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Calibration {
    /// Number of the case.
    pub id: i64,
    /// The subnet: a CIDR, or `first - last` where it is none.
    #[schema(example = "41.0.0.0/16")]
    pub subnet: String,
    /// Who reported slower pages.
    pub agent: AgentRef,
    /// How many times as long as usual the page took that was reported last.
    pub ratio: f64,
    /// That page.
    #[schema(required = true)]
    pub url: Option<String>,
    /// Where the case stands.
    pub state: IncidentState,
    /// Who measured to tell a slow way from a slow server; null until then.
    #[schema(required = true)]
    pub control_probe: Option<AgentRef>,
    /// What the control probe measured when all was well, milliseconds.
    #[schema(required = true)]
    pub before_ms: Option<f64>,
    /// What it measured now, milliseconds.
    #[schema(required = true)]
    pub now_ms: Option<f64>,
    /// Who got the subnet; null while it stays.
    #[schema(required = true)]
    pub next_agent: Option<AgentRef>,
    /// When the suspicion arose.
    pub opened_at: Moment,
    /// When the subnet moved.
    #[schema(required = true)]
    pub moved_at: Option<Moment>,
    /// When it went back.
    #[schema(required = true)]
    pub returned_at: Option<Moment>,
    /// When the case was closed; null while it goes on.
    #[schema(required = true)]
    pub ended_at: Option<Moment>,
    /// All of it in one plain sentence.
    pub sentence: String,
}
