//! What became of a URL or another thing, step by step, as the API shows it.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::timestamp::Timestamp;

/// What to explain.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct InspectionQuery {
    /// A URL, a host, an address, a subnet, or the name of an agent or a company.
    #[param(max_length = 2048, example = "https://example.org/page")]
    pub q: String,
}

/// Kind of the thing that is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum InspectedKind {
    /// A URL; of a host, the URL of its front page.
    Url,
    /// An IPv4 or IPv6 address.
    Address,
    /// A subnet of the hierarchy.
    Subnet,
    /// A company that holds subnets.
    Company,
    /// An agent of a partner.
    Agent,
}

/// What became of a thing, step by step.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Inspection {
    /// Kind of the thing.
    pub kind: InspectedKind,
    /// The thing in its normal spelling.
    pub subject: String,
    /// The most important step in one sentence: where it is stuck, else the last one.
    pub conclusion: String,
    /// The steps in the order in which a URL passes them.
    pub steps: Vec<InspectionStep>,
    /// Whether an agent was asked and may still answer; then repeat the request in a few seconds.
    pub is_asking: bool,
}

/// A step on the way from a link to the index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepName {
    /// A seed or a link brought it.
    Found,
    /// Its name has an address.
    Dns,
    /// Its address lies in a subnet.
    Subnet,
    /// The subnet is delegated to an agent.
    Delegation,
    /// The agent works.
    Agent,
    /// robots.txt allows it.
    Robots,
    /// Its place in the queue.
    Queue,
    /// The last fetch.
    Fetch,
    /// Whether searches find it.
    Index,
    /// Hosts that belong to it.
    Hosts,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum StepState {
    /// It is done.
    Done,
    /// It goes on by itself.
    Waiting,
    /// It does not go on by itself.
    Stuck,
    /// It has not been reached, or nothing is known of it.
    Open,
}

/// One step in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct InspectionStep {
    /// The step that it is about.
    pub step: StepName,
    /// How far it is.
    pub state: StepState,
    /// What happened, or what it waits for.
    pub sentence: String,
    /// When that happened; null when unknown.
    #[schema(required = true)]
    pub at: Option<Timestamp>,
    /// What to do about it; null when nothing is to be done.
    #[schema(required = true)]
    pub advice: Option<String>,
    /// Path of the dashboard's page with more; null when there is none.
    #[schema(required = true, example = "/agents/agt_12")]
    pub link: Option<String>,
}

impl InspectionStep {
    /// A step with nothing but its sentence.
    pub fn new(step: StepName, state: StepState, sentence: impl Into<String>) -> Self {
        let sentence = sentence.into();
        Self { step, state, sentence, at: None, advice: None, link: None }
    }

    /// The step with its time.
    #[must_use]
    pub fn at(self, at: impl Into<Timestamp>) -> Self {
        Self { at: Some(at.into()), ..self }
    }

    /// The step with advice.
    #[must_use]
    pub fn advice(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }

    /// The step with a link.
    #[must_use]
    pub fn link(self, link: impl Into<String>) -> Self {
        Self { link: Some(link.into()), ..self }
    }
}
