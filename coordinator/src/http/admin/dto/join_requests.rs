//! Requests to host an agent as the API shows them.

use model::{JoinRequestId, JoinRequestState};
use serde::{Deserialize, Serialize};
use store::join_requests;
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::agents::AgentRef;
use crate::http::timestamp::Timestamp;

/// A request of a partner to host an agent.
#[derive(Debug, Serialize, ToSchema)]
pub struct JoinRequest {
    /// Identifier of the request.
    #[schema(value_type = String, example = "jrq_3")]
    pub id: JoinRequestId,
    /// What the admins decided.
    pub state: JoinRequestState,
    /// Person, organisation or machine.
    pub name: String,
    /// Mail address or web page of the partner.
    pub contact: String,
    /// City of the machine, as the partner wrote it; may be empty.
    pub place: String,
    /// IANA time zone of the spans.
    pub zone: String,
    /// Hours in which the agent may work; none means always.
    pub spans: Vec<String>,
    /// What else the partner wrote; may be empty.
    pub message: String,
    /// IPv4 address or IPv6 /64 that it came from.
    pub network: String,
    /// Time at which it arrived.
    pub created_at: Timestamp,
    /// Time of the last decision; null before one.
    #[schema(required = true)]
    pub decided_at: Option<Timestamp>,
    /// Name of the admin who decided; null before.
    #[schema(required = true)]
    pub decided_by: Option<String>,
    /// Time at which the one-time link expires; null without one.
    #[schema(required = true)]
    pub invitation_expires_at: Option<Timestamp>,
    /// Time at which the link was used; null before.
    #[schema(required = true)]
    pub opened_at: Option<Timestamp>,
    /// The agent that joined; null before.
    #[schema(required = true)]
    pub agent: Option<AgentRef>,
}

impl From<join_requests::JoinRequest> for JoinRequest {
    fn from(request: join_requests::JoinRequest) -> Self {
        let (decided_at, decided_by) = request.decision.unzip();
        Self {
            id: request.id,
            state: request.state,
            name: request.name,
            contact: request.contact,
            place: request.place,
            zone: request.zone,
            spans: request.spans,
            message: request.message,
            network: request.network.to_string(),
            created_at: request.created_at.into(),
            decided_at: decided_at.map(Into::into),
            decided_by,
            invitation_expires_at: request.invitation_expires_at.map(Into::into),
            opened_at: request.opened_at.map(Into::into),
            agent: request.agent.map(|(id, name)| AgentRef { id, name }),
        }
    }
}

/// Which requests are listed.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct JoinRequestQuery {
    /// Only requests in this state.
    #[param(inline)]
    pub state: Option<JoinRequestState>,
    /// Most items in the response; 50 by default.
    #[param(minimum = 1, maximum = 500)]
    pub limit: Option<i64>,
    /// `next_cursor` of the previous page; absent for the first page.
    #[param(max_length = 64)]
    pub cursor: Option<String>,
}

/// The state of a request that the caller decides about.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ShownState {
    /// The state in which the caller knows the request; in another one nothing happens, and the
    /// answer is 409. Absent, the request is decided whatever its state.
    #[param(inline)]
    pub shown: Option<JoinRequestState>,
}

/// A request that was accepted, with its link. No other response contains the link's secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct AcceptedJoinRequest {
    /// The request as it is now.
    pub request: JoinRequest,
    /// Path of the one-time link below the coordinator's URL, with its secret: send it to the
    /// partner's contact.
    #[schema(example = "/invitation#0JmVxv4V6Xb0v1o6")]
    pub path: String,
}
