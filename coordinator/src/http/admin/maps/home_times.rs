//! Round trips from agents to each other's home addresses, as a heat map.

use std::collections::{BTreeMap, HashMap};

use axum::extract::State;
use model::AgentId;
use store::agents;
use store::home_times::{self, HomeTime};

use super::{mean_ms, most};
use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::maps::{HomeTimeMap, RoundTripRow};
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Rows and columns of the map: more are not read on a page.
const AGENTS: usize = 40;

/// Round trips from agents to the home addresses of other agents, as last measured.
///
/// The 40 agents with most measurements.
#[utoipa::path(get, path = "/api/v1/maps/agents", operation_id = "get_home_time_map",
    tag = "maps", security(("session" = [])), responses((status = 200, body = HomeTimeMap)))]
pub async fn home_times(
    _viewer: Viewer,
    State(state): State<ApiState>,
) -> Result<Json<HomeTimeMap>, Problem> {
    let store = &state.core.store;
    let table = Table::of(&home_times::list(store).await?);
    let names = agents::names(store, &table.agents).await?;
    let agents: Vec<AgentRef> =
        table.agents.iter().map(|id| AgentRef::named(*id, &names)).collect();
    let row = |witness: &AgentRef| RoundTripRow {
        agent: witness.clone(),
        round_trips_ms: agents
            .iter()
            .map(|agent| table.cells.get(&(witness.id, agent.id)).copied())
            .collect(),
    };
    let rows = agents.iter().map(row).collect();
    Ok(Json(HomeTimeMap { rows, agents, all_agents: table.all_agents }))
}

/// The agents with most measurements, and the times in milliseconds by witness and agent.
struct Table {
    agents: Vec<AgentId>,
    cells: HashMap<(AgentId, AgentId), f64>,
    all_agents: u64,
}

impl Table {
    fn of(times: &[HomeTime]) -> Self {
        let mut measurements: BTreeMap<AgentId, u64> = BTreeMap::new();
        let mut cells = HashMap::new();
        for time in times {
            // An address that did not answer says nothing about how far it is.
            let Some(ms) = time.rtt_us.and_then(|us| mean_ms(us.into(), 1)) else { continue };
            cells.insert((time.witness, time.agent), ms);
            *measurements.entry(time.witness).or_default() += 1;
            *measurements.entry(time.agent).or_default() += 1;
        }
        let all_agents = measurements.len() as u64;
        Self { agents: most(measurements, AGENTS), cells, all_agents }
    }
}

#[cfg(test)]
mod tests {
    use model::UnixMillis;

    use super::*;

    #[test]
    fn agents_with_most_measurements_come_first() {
        let time = |witness, agent, rtt_us| HomeTime {
            agent: AgentId::new(agent),
            witness: AgentId::new(witness),
            rtt_us,
            measured_at: UnixMillis(0),
        };
        let times = [time(1, 3, Some(2_500)), time(2, 3, Some(40_000)), time(3, 4, None)];
        let table = Table::of(&times);
        assert_eq!(table.agents, [3, 1, 2].map(AgentId::new));
        assert_eq!(table.all_agents, 3, "an agent that nobody reached is left out");
        let cell = |witness, agent| {
            table.cells.get(&(AgentId::new(witness), AgentId::new(agent))).copied()
        };
        assert_eq!(cell(1, 3), Some(2.5));
        assert_eq!(cell(3, 1), None, "the way back was not measured");
    }
}
