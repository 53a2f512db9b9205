//! What locality saves: round trips by the present delegations, and with hosts dealt at random.

use std::collections::HashMap;

use axum::extract::State;
use delegation::places::{FetchCost, round_trip_sums};
use model::AgentId;
use store::activity::{self, AgentRoundTrips};
use store::agents::{self, AgentSite};

use super::{mean_ms, places, since};
use crate::http::admin::dto::maps::Locality;
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// What locality saves: round trips spent, and those of a random assignment.
///
/// By the fetches of the last 30 days. The times of a random assignment are estimated from the
/// places of agents.
#[utoipa::path(get, path = "/api/v1/locality", operation_id = "get_locality", tag = "maps",
    security(("session" = [])), responses((status = 200, body = Locality)))]
pub async fn locality(
    _viewer: Viewer,
    State(state): State<ApiState>,
) -> Result<Json<Locality>, Problem> {
    let store = &state.core.store;
    let sites = agents::sites(store).await?;
    let work = activity::round_trips_since(store, since(state.core.now())).await?;
    let costs = costs(&sites, &work, state.core.delegated().as_deref());
    let sums = round_trip_sums(&costs);
    Ok(Json(Locality {
        fetches: costs.iter().map(|cost| cost.fetches).fold(0, u64::saturating_add),
        spent_s: sums.map(|sums| sums.spent_s),
        random_s: sums.map(|sums| sums.random_s),
        agents_without_place: (sites.len() - costs.len()) as u64,
    }))
}

/// The agents whose place is known, with their fetches.
fn costs(
    sites: &[AgentSite],
    work: &[AgentRoundTrips],
    delegated: Option<&DelegatedHierarchy>,
) -> Vec<FetchCost> {
    let work: HashMap<AgentId, &AgentRoundTrips> =
        work.iter().map(|work| (work.agent, work)).collect();
    let cost = |site: &AgentSite| {
        let place = places::of_agent(site.claim.as_ref(), site.home, delegated);
        let position = place.position?;
        let measured = work.get(&site.agent).and_then(|work| {
            Some((work.fetches, mean_ms(work.round_trip_us, work.timed_fetches)? as f32))
        });
        let (fetches, mean_ms) = measured.unwrap_or((0, 0.0));
        Some(FetchCost { position, fetches, mean_ms })
    };
    sites.iter().filter_map(cost).collect()
}
