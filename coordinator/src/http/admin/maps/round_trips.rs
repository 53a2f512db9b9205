//! Round trips of agents to countries, as a heat map.

use std::collections::{BTreeMap, HashMap};

use axum::extract::State;
use hierarchy::Country;
use model::AgentId;
use store::agent_countries::{self, AgentCountry};
use store::agents;

use super::{mean_ms, most};
use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::maps::{RoundTripMap, RoundTripRow};
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Columns of the map: more are not read on a page.
const COUNTRIES: usize = 40;
/// Rows of the map.
const AGENTS: usize = 100;

/// Mean round trips from agents to countries, by probes and fetches.
///
/// The 100 agents and 40 countries with most measurements.
#[utoipa::path(get, path = "/api/v1/maps/round-trips", operation_id = "get_round_trip_map",
    tag = "maps", security(("session" = [])), responses((status = 200, body = RoundTripMap)))]
pub async fn round_trips(
    _viewer: Viewer,
    State(state): State<ApiState>,
) -> Result<Json<RoundTripMap>, Problem> {
    let store = &state.core.store;
    let table = Table::of(&agent_countries::list(store).await?);
    let names = agents::names(store, &table.agents).await?;
    let row = |agent: &AgentId| {
        let cell = |country: &Country| table.cells.get(&(*agent, *country)).copied();
        RoundTripRow {
            agent: AgentRef::named(*agent, &names),
            round_trips_ms: table.countries.iter().map(cell).collect(),
        }
    };
    Ok(Json(RoundTripMap {
        countries: table.countries.iter().map(|country| country.as_str().to_owned()).collect(),
        rows: table.agents.iter().map(row).collect(),
        all_countries: table.all_countries,
        all_agents: table.all_agents,
    }))
}

/// The agents and countries with most measurements, and their mean times in milliseconds.
struct Table {
    agents: Vec<AgentId>,
    countries: Vec<Country>,
    cells: HashMap<(AgentId, Country), f64>,
    all_agents: u64,
    all_countries: u64,
}

impl Table {
    fn of(counts: &[AgentCountry]) -> Self {
        let mut by_agent: BTreeMap<AgentId, u64> = BTreeMap::new();
        let mut by_country: BTreeMap<Country, u64> = BTreeMap::new();
        let mut cells = HashMap::new();
        for count in counts {
            let times = count.probes.saturating_add(count.timed_fetches);
            let sum_us = count.probe_us.saturating_add(count.round_trip_us);
            let Some(mean) = mean_ms(sum_us, times) else { continue };
            cells.insert((count.agent, count.country), mean);
            let of_agent = by_agent.entry(count.agent).or_default();
            *of_agent = of_agent.saturating_add(times);
            let of_country = by_country.entry(count.country).or_default();
            *of_country = of_country.saturating_add(times);
        }
        Self {
            all_agents: by_agent.len() as u64,
            all_countries: by_country.len() as u64,
            agents: most(by_agent, AGENTS),
            countries: most(by_country, COUNTRIES),
            cells,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_means_over_probes_and_connections() {
        let count = |agent, country: &str, probes, timed_fetches| AgentCountry {
            agent: AgentId::new(agent),
            country: country.parse().unwrap(),
            hosts: 1,
            fetches: 9,
            timed_fetches,
            round_trip_us: 10_000 * timed_fetches,
            probes,
            probe_us: 40_000 * probes,
        };
        let counts = [count(1, "CY", 1, 2), count(2, "CY", 0, 0), count(2, "DE", 5, 0)];
        let table = Table::of(&counts);
        assert_eq!(table.agents, [AgentId::new(2), AgentId::new(1)], "most measurements first");
        assert_eq!((table.all_agents, table.all_countries), (2, 2));
        let cell = |agent, country: &str| {
            table.cells.get(&(AgentId::new(agent), country.parse().unwrap())).copied()
        };
        assert_eq!(cell(1, "CY"), Some(20.0));
        assert_eq!(cell(2, "CY"), None, "nothing was measured");
        assert_eq!(cell(2, "DE"), Some(40.0));
    }
}
