//! Map of the IPv4 space: who has which part of it.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;

use axum::extract::State;
use delegation::address_map::{self, AddressMap};
use hierarchy::Range;
use model::AgentId;
use store::agents;
use tokio::task::spawn_blocking;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::maps::{
    AgentAddresses, CellRunOnMap, DelegatedRange, Ipv4Map, Ipv4MapQuery,
};
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Bits of the number of a cell: 64 by 64 cells.
const CELL_BITS: u8 = 12;
/// Length of the longest prefix that is shown: its cells are single addresses.
const LONGEST: u8 = 20;
/// Prefixes are as long as a number of these.
const ZOOM_BITS: u8 = 4;
/// Delegations that are listed.
const LISTED: usize = 100;

/// Agents of a part of the IPv4 space, cell by cell.
#[utoipa::path(get, path = "/api/v1/maps/ipv4", operation_id = "get_ipv4_map", tag = "maps",
    params(Ipv4MapQuery), security(("session" = [])), responses((status = 200, body = Ipv4Map)))]
pub async fn ipv4(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(query): Query<Ipv4MapQuery>,
) -> Result<Json<Ipv4Map>, Problem> {
    let view = View::parse(query.prefix.as_deref().unwrap_or("0.0.0.0/0"))?;
    let delegated = state.core.delegated();
    // A large table takes some tenths of a second.
    let drawn = spawn_blocking(move || MapContents::of(view, delegated.as_ref())).await;
    let drawing = drawn.map_err(|error| Problem::internal(&error))?;
    let ids: Vec<AgentId> = drawing.map.addresses.iter().map(|(agent, _)| *agent).collect();
    let names = agents::names(&state.core.store, &ids).await?;
    Ok(Json(drawing.to_dto(view, &names)))
}

/// The part of the space that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct View {
    first: u32,
    length: u8,
}

impl View {
    fn parse(text: &str) -> Result<Self, Problem> {
        let refused = || {
            let rule = format!(
                "{text} is not an IPv4 prefix of 0, 4, 8, 12, 16 or 20 bits, like 192.0.0.0/8"
            );
            Problem::bad_parameter("prefix", rule)
        };
        let (address, length) = text.split_once('/').ok_or_else(refused)?;
        let address: Ipv4Addr = address.parse().map_err(|_| refused())?;
        let length: u8 = length.parse().map_err(|_| refused())?;
        let first = address.to_bits();
        let is_shown = length <= LONGEST && length.is_multiple_of(ZOOM_BITS);
        let below = u64::from(first) % (1 << (32 - u32::from(length.min(LONGEST))));
        if is_shown && below == 0 { Ok(Self { first, length }) } else { Err(refused()) }
    }

    fn last(self) -> u32 {
        let addresses = 1_u64 << (32 - u32::from(self.length));
        self.first + (addresses - 1) as u32
    }

    fn cell_length(self) -> u8 {
        self.length + CELL_BITS
    }

    fn range(self) -> Range {
        let address = |bits| IpAddr::V4(Ipv4Addr::from_bits(bits));
        Range::new(address(self.first), address(self.last())).unwrap_or(Range::V4)
    }
}

/// What is to be shown of a view.
#[derive(Default)]
struct MapContents {
    map: AddressMap,
    subnets: u64,
    listed: Vec<(Range, AgentId)>,
}

impl MapContents {
    fn of(view: View, delegated: Option<&Arc<DelegatedHierarchy>>) -> Self {
        let Some(delegated) = delegated else { return Self::default() };
        let table = delegated.delegation_table();
        let agents = table.agents();
        let subnets = address_map::delegated_in(delegated.hierarchy(), &table, &view.range());
        drop(table);
        let count = subnets.len();
        let listed = if count <= LISTED { subnets.clone() } else { Vec::new() };
        let segments = address_map::segments(subnets, view.first, view.last());
        let cell_bits = 32 - u32::from(view.cell_length());
        let mut map = address_map::draw(&segments, &agents, view.first, cell_bits);
        append_without_addresses(&mut map, &listed);
        Self { map, subnets: count as u64, listed }
    }

    fn to_dto(&self, view: View, names: &HashMap<AgentId, String>) -> Ipv4Map {
        let places: HashMap<AgentId, u32> =
            self.map.addresses.iter().zip(0..).map(|((agent, _), place)| (*agent, place)).collect();
        let place = |agent: AgentId| places.get(&agent).copied();
        let address = Ipv4Addr::from_bits(view.first);
        Ipv4Map {
            prefix: format!("{address}/{}", view.length),
            cell_length: view.cell_length(),
            agents: self
                .map
                .addresses
                .iter()
                .map(|(id, addresses)| AgentAddresses {
                    agent: AgentRef::named(*id, names),
                    addresses: *addresses,
                })
                .collect(),
            runs: self
                .map
                .runs
                .iter()
                .filter_map(|run| {
                    let agent = place(run.agent)?;
                    Some(CellRunOnMap { first: run.first, cells: run.cells, agent })
                })
                .collect(),
            subnets: self.subnets,
            delegations: self
                .listed
                .iter()
                .filter_map(|(range, agent)| {
                    Some(DelegatedRange { subnet: range.to_string(), agent: place(*agent)? })
                })
                .collect(),
        }
    }
}

/// Appends the agents of listed subnets all of whose addresses are in smaller subnets of others.
fn append_without_addresses(map: &mut AddressMap, listed: &[(Range, AgentId)]) {
    for (_, agent) in listed {
        if !map.addresses.iter().any(|(known, _)| known == agent) {
            map.addresses.push((*agent, 0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnet_is_listed_with_its_agent_where_smaller_subnets_have_all_its_addresses() {
        let held = |range: &str, agent| (range.parse().unwrap(), AgentId::new(agent));
        let listed = vec![held("0.0.0.0/29", 1), held("0.0.0.0/30", 2), held("0.0.0.4/30", 2)];
        let mut map = AddressMap { runs: Vec::new(), addresses: vec![(AgentId::new(2), 8)] };
        append_without_addresses(&mut map, &listed);
        let view = View::parse("0.0.0.0/0").unwrap();
        let shown = MapContents { map, subnets: 3, listed }.to_dto(view, &HashMap::new());
        let agents: Vec<_> =
            shown.agents.iter().map(|of| (of.agent.id.get(), of.addresses)).collect();
        assert_eq!(agents, [(2, 8), (1, 0)]);
        let places: Vec<_> = shown.delegations.iter().map(|range| range.agent).collect();
        assert_eq!(places, [1, 0, 0]);
    }

    #[test]
    fn views_are_prefixes_in_steps_of_four_bits() {
        let view = View::parse("192.16.0.0/12").unwrap();
        assert_eq!((view.last(), view.cell_length()), (0xc01f_ffff, 24));
        assert_eq!(View::parse("0.0.0.0/0").unwrap().last(), u32::MAX);
        let refused =
            ["", "::/0", "10.0.0.0", "10.0.0.0/9", "10.1.0.0/8", "10.0.0.0/24", "1.2.3/8"];
        for text in refused {
            assert!(View::parse(text).is_err(), "{text}");
        }
    }
}
