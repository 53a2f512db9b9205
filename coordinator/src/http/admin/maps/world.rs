//! World map: agents, and hosts by country with the round trip from their agents.

use std::collections::{BTreeMap, HashMap};

use axum::extract::State;
use delegation::places::Position;
use hierarchy::Country;
use model::AgentId;
use store::activity::{self, AgentRoundTrips};
use store::agent_countries::{self, AgentCountry};
use store::agents::{self, AgentSite};

use super::{mean_ms, places, since};
use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::maps::{AgentOnMap, CountryOnMap, WorldMap};
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Agents, and hosts by country, with their round trips.
#[utoipa::path(get, path = "/api/v1/maps/world", operation_id = "get_world_map", tag = "maps",
    security(("session" = [])), responses((status = 200, body = WorldMap)))]
pub async fn world(
    _viewer: Viewer,
    State(state): State<ApiState>,
) -> Result<Json<WorldMap>, Problem> {
    let store = &state.core.store;
    let sites = agents::sites(store).await?;
    let ids: Vec<AgentId> = sites.iter().map(|site| site.agent).collect();
    let names = agents::names(store, &ids).await?;
    let work = activity::round_trips_since(store, since(state.core.now())).await?;
    let work: HashMap<AgentId, AgentRoundTrips> =
        work.into_iter().map(|work| (work.agent, work)).collect();
    let delegated = state.core.delegated();
    let on_map = |site: AgentSite| {
        let name = names.get(&site.agent).cloned().unwrap_or_default();
        agent_on_map(&site, name, work.get(&site.agent), delegated.as_deref())
    };
    let counts = agent_countries::list(store).await?;
    Ok(Json(WorldMap {
        agents: sites.into_iter().map(on_map).collect(),
        countries: countries(&counts),
    }))
}

fn agent_on_map(
    site: &AgentSite,
    name: String,
    work: Option<&AgentRoundTrips>,
    delegated: Option<&DelegatedHierarchy>,
) -> AgentOnMap {
    let place = places::of_agent(site.claim.as_ref(), site.home, delegated);
    let (latitude, longitude) = degrees(place.position);
    AgentOnMap {
        agent: AgentRef { id: site.agent, name },
        place: place.name,
        is_claimed: place.is_claimed,
        latitude,
        longitude,
        fetches: work.map_or(0, |work| work.fetches),
        round_trip_ms: work.and_then(|work| mean_ms(work.round_trip_us, work.timed_fetches)),
    }
}

/// Sums by country, most hosts first.
fn countries(counts: &[AgentCountry]) -> Vec<CountryOnMap> {
    let mut sums: BTreeMap<Country, Sum> = BTreeMap::new();
    for count in counts.iter().filter(|count| count.fetches > 0) {
        let sum = sums.entry(count.country).or_default();
        sum.hosts = sum.hosts.saturating_add(count.hosts);
        sum.fetches = sum.fetches.saturating_add(count.fetches);
        sum.timed_fetches = sum.timed_fetches.saturating_add(count.timed_fetches);
        sum.round_trip_us = sum.round_trip_us.saturating_add(count.round_trip_us);
    }
    let mut countries: Vec<CountryOnMap> = sums.into_iter().map(Sum::on_map).collect();
    countries.sort_by_key(|country| std::cmp::Reverse((country.hosts, country.fetches)));
    countries
}

#[derive(Default)]
struct Sum {
    hosts: u64,
    fetches: u64,
    timed_fetches: u64,
    round_trip_us: u64,
}

impl Sum {
    fn on_map((country, sum): (Country, Self)) -> CountryOnMap {
        let (latitude, longitude) = degrees(places::of_country(country));
        CountryOnMap {
            country: country.as_str().to_owned(),
            latitude,
            longitude,
            hosts: sum.hosts,
            fetches: sum.fetches,
            round_trip_ms: mean_ms(sum.round_trip_us, sum.timed_fetches),
        }
    }
}

fn degrees(position: Option<Position>) -> (Option<f64>, Option<f64>) {
    position.map(Position::degrees).map_or((None, None), |(lat, lon)| {
        // Thousandths of a degree are exact enough for a map.
        let rounded = |degrees: f32| (f64::from(degrees) * 1_000.0).round() / 1_000.0;
        (Some(rounded(lat)), Some(rounded(lon)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(
        agent: i64,
        country: &str,
        hosts: u64,
        timed_fetches: u64,
        round_trip_us: u64,
    ) -> AgentCountry {
        AgentCountry {
            agent: AgentId::new(agent),
            country: country.parse().unwrap(),
            hosts,
            fetches: 10 * hosts,
            timed_fetches,
            round_trip_us,
            probes: 4,
            probe_us: 9_000_000,
        }
    }

    #[test]
    fn countries_are_summed_over_agents_without_their_probes() {
        let counts = [
            count(1, "CY", 2, 1, 4_000),
            count(1, "DE", 5, 0, 0),
            count(2, "CY", 7, 3, 20_000),
            count(2, "JP", 0, 0, 0),
        ];
        let found = countries(&counts);
        let seen: Vec<_> = found
            .iter()
            .map(|country| (country.country.as_str(), country.hosts, country.round_trip_ms))
            .collect();
        assert_eq!(seen, [("CY", 9, Some(6.0)), ("DE", 5, None)]);
    }
}
