//! Maps as the API shows them.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::agents::AgentRef;

/// Agents, and hosts by country, with their round trips.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct WorldMap {
    /// All approved agents.
    pub agents: Vec<AgentOnMap>,
    /// Countries of hosts that were fetched from, most hosts first.
    pub countries: Vec<CountryOnMap>,
}

/// An agent with its place.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentOnMap {
    /// Identifier and name of the agent.
    pub agent: AgentRef,
    /// City, or the country where nothing better is known; null when nothing is known.
    #[schema(required = true)]
    pub place: Option<String>,
    /// Whether the place is the word of the owner; else it is the country of the home subnet.
    pub is_claimed: bool,
    /// Degrees north; null when the place is unknown.
    #[schema(required = true)]
    pub latitude: Option<f64>,
    /// Degrees east; null when the place is unknown.
    #[schema(required = true)]
    pub longitude: Option<f64>,
    /// Fetches of the last 30 days.
    pub fetches: u64,
    /// Mean round trip of their connections, in milliseconds; null without any.
    #[schema(required = true)]
    pub round_trip_ms: Option<f64>,
}

/// Hosts of a country.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct CountryOnMap {
    /// ISO 3166-1 code by the registry data.
    #[schema(example = "CY")]
    pub country: String,
    /// Degrees north of its largest city; null for a code without one.
    #[schema(required = true)]
    pub latitude: Option<f64>,
    /// Degrees east of its largest city; null for a code without one.
    #[schema(required = true)]
    pub longitude: Option<f64>,
    /// Hosts that were fetched from.
    pub hosts: u64,
    /// Fetches from them.
    pub fetches: u64,
    /// Mean round trip from the agents that crawl them, in milliseconds; null when unknown.
    #[schema(required = true)]
    pub round_trip_ms: Option<f64>,
}

/// Round trips of agents to countries.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RoundTripMap {
    /// The countries with most measurements, which are the columns.
    pub countries: Vec<String>,
    /// The agents with most measurements, which are the rows.
    pub rows: Vec<RoundTripRow>,
    /// Number of all countries with measurements.
    pub all_countries: u64,
    /// Number of all agents with measurements.
    pub all_agents: u64,
}

/// Round trips of one agent, a row of a map.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RoundTripRow {
    /// Identifier and name of the agent.
    pub agent: AgentRef,
    /// Its round trips in milliseconds, in the order of the columns; null where it measured
    /// nothing. To countries, they are means of its probes and of the connections of its fetches.
    pub round_trips_ms: Vec<Option<f64>>,
}

/// Round trips among agents.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HomeTimeMap {
    /// The agents with most measurements, whose home addresses are the columns.
    pub agents: Vec<AgentRef>,
    /// The same agents as those that measured.
    pub rows: Vec<RoundTripRow>,
    /// Number of all agents with measurements.
    pub all_agents: u64,
}

/// Which part of the IPv4 space to show.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct Ipv4MapQuery {
    /// A prefix of 0, 4, 8, 12, 16 or 20 bits; all of IPv4 by default.
    #[param(example = "192.0.0.0/8")]
    pub prefix: Option<String>,
}

/// Agents of a part of the IPv4 space.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Ipv4Map {
    /// The part that is shown.
    #[schema(example = "192.0.0.0/8")]
    pub prefix: String,
    /// Length of the prefix of a cell: 4,096 cells in the order of their addresses.
    pub cell_length: u8,
    /// Agents with delegated addresses here, most addresses first; those of listed subnets whose
    /// addresses are all in smaller subnets have none.
    pub agents: Vec<AgentAddresses>,
    /// Runs of cells in which the same agent has most of the delegated addresses.
    pub runs: Vec<CellRunOnMap>,
    /// Number of delegated subnets here.
    pub subnets: u64,
    /// The delegated subnets, where there are at most 100.
    pub delegations: Vec<DelegatedRange>,
}

/// Addresses of an agent.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AgentAddresses {
    /// Identifier and name of the agent.
    pub agent: AgentRef,
    /// Delegated addresses in the part that is shown.
    pub addresses: u64,
}

/// Neighbouring cells of one agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct CellRunOnMap {
    /// The first of them, from 0.
    pub first: u32,
    /// Number of cells.
    pub cells: u32,
    /// Place of the agent in the list of agents.
    pub agent: u32,
}

/// A delegated subnet.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DelegatedRange {
    /// Range of the subnet.
    #[schema(example = "192.0.2.0/24")]
    pub subnet: String,
    /// Place of its agent in the list of agents.
    pub agent: u32,
}

/// What locality saves, by the fetches of the last 30 days.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Locality {
    /// Fetches that count.
    pub fetches: u64,
    /// One round trip for each of them, as measured, in seconds; null without fetches or choice.
    #[schema(required = true)]
    pub spent_s: Option<f64>,
    /// The same if each host had a random one of the approved agents, estimated, in seconds.
    #[schema(required = true)]
    pub random_s: Option<f64>,
    /// Approved agents whose place is not known, which the estimate leaves out.
    pub agents_without_place: u64,
}
