//! Landmarks as the API shows them.

use model::LandmarkId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::timestamp::Timestamp;

/// A subnet that every agent measures periodically.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Landmark {
    /// Identifier of the landmark.
    #[schema(value_type = String, example = "lmk_3")]
    pub id: LandmarkId,
    /// The subnet: a CIDR, or `first - last` where it is none.
    #[schema(example = "41.0.0.0/16")]
    pub subnet: String,
    /// Address that the agents probe.
    pub address: String,
    /// Web host at that address.
    pub host: String,
    /// Company that holds the subnet; null when unknown.
    #[schema(required = true)]
    pub company: Option<String>,
    /// ISO 3166-1 country of the subnet; null when unknown.
    #[schema(required = true)]
    pub country: Option<String>,
    /// Time at which it became a landmark.
    pub chosen_at: Timestamp,
    /// Number of agents that measured it from their present home.
    pub measured: u32,
    /// Number of agents that got no answer from it.
    pub unanswered: u32,
    /// Time of the latest report; null before the first.
    #[schema(required = true)]
    pub measured_at: Option<Timestamp>,
}

/// A page of landmarks, and how far the agents have measured all of them.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Landmarks {
    /// Number of landmarks in use.
    pub total: u64,
    /// Number of approved agents; each measures all landmarks.
    pub agents: u64,
    /// Number of reports, at most one for each landmark and agent.
    pub reports: u64,
    /// Number of clusters in the latest model fit; null while searches cannot predict.
    #[schema(required = true)]
    pub clusters: Option<u64>,
    /// The landmarks, the oldest first.
    pub items: Vec<Landmark>,
    /// Give it as `cursor` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}
