//! Landmarks, as admins see them.

use model::LandmarkId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::timestamp::Moment;

/// A subnet that every agent measures now and then.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Landmark {
    /// The landmark's id.
    #[schema(value_type = String, example = "lmk_3")]
    pub id: LandmarkId,
    /// The subnet it stands for.
    #[schema(example = "41.0.0.0/16")]
    pub subnet: String,
    /// The address that is probed.
    pub address: String,
    /// A web host there.
    pub host: String,
    /// Company that holds the subnet.
    #[schema(required = true)]
    pub company: Option<String>,
    /// Two-letter country.
    #[schema(required = true)]
    pub country: Option<String>,
    /// When it was chosen.
    pub chosen_at: Moment,
    /// Agents that measured it from where they live.
    pub measured: u32,
    /// Agents that got no answer from it.
    pub unanswered: u32,
    /// The latest report; null before the first.
    #[schema(required = true)]
    pub measured_at: Option<Moment>,
}

/// The landmarks in use, and how far the agents are with them.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Landmarks {
    /// Landmarks in use.
    pub total: u64,
    /// Agents that may work; each measures all of them.
    pub agents: u64,
    /// Reports there are, at most one for each landmark and agent.
    pub reports: u64,
    /// Places that the latest survey tells apart; null while searches cannot predict.
    #[schema(required = true)]
    pub places: Option<u64>,
    /// The landmarks, the oldest first.
    pub items: Vec<Landmark>,
    /// Give it as `cursor` to get what follows; null at the end.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}
