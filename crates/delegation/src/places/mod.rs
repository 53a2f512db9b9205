//! Prediction by places: where a subnet probably is, and which agent is nearest to it then.
//!
//! The model of a round trip from agent *a* to a subnet at place *k*:
//!
//! `ln(round trip − access) = map(distance) + slowness of a + slowness of k + residual of (a, k) +
//! route`
//!
//! Nothing has to be measured in advance: the list of places and registry data are the prior, and
//! the model learns the rest from the trails of searches. In reading order:
//!
//! 1. [`listed_places`]: populated places, where subnets may be. [`Position`]: a point on the
//!    globe.
//! 2. [`travel_time`]: the round trip that is usual over a distance.
//! 3. [`claim_test`]: the odds that an agent is elsewhere than it claims. [`agent_placement`]:
//!    which agents measure each other to find that out. [`springs`]: the map for agents without
//!    positions. [`agent_map`]: which of the two it is.
//! 4. [`distance_table`]: places and agents with their distances.
//! 5. [`cells`]: what is known of the time from each agent to each place.
//! 6. [`prior`]: where subnets of this registry, country and company tend to be.
//! 7. [`Posterior`]: the prior after the probes of a search; [`access_time`] and [`route`]: the
//!    other parts of a round trip.
//! 8. [`agent_value`] and [`nearest`]: which agent to ask next; [`next_step`]: the search.
//! 9. [`trail`] and [`refit`]: learning from finished searches.
//! 10. [`forecast`]: what the model says of single agents. [`anycast`]: subnets that are in several
//!     places.
//! 11. [`locality`]: what the delegations save beside a random assignment.
//!
//! Wanted: every probe pays for itself, from the first subnet on; a step is computed from the trail
//! and the model alone; the same agents and trails give the same model.

mod access_time;
mod agent_map;
mod agent_placement;
mod agent_value;
mod anycast;
mod cells;
mod claim_test;
mod distance_table;
mod forecast;
mod levels;
mod locality;
mod mutual_times;
mod nearest;
mod next_step;
mod place_list;
mod position;
mod posterior;
mod prior;
mod refit;
mod route;
mod springs;
mod trail;
mod travel_time;

use std::ops::Range;

use hierarchy::Country;
use model::AgentId;

use access_time::AccessTimes;
use cells::PlaceCells;
use distance_table::{Column, DistanceTable};
use nearest::Nearest;
use prior::Prior;
use route::RouteDeviation;
use trail::{LearnedTrail, SubnetLocation};

pub use agent_map::{AgentClaim, AgentMap, MappedAgents, map_agents};
pub use levels::Levels;
pub use locality::{FetchCost, RoundTripSums, round_trip_sums};
pub use mutual_times::MutualTimes;
pub use next_step::next_step;
pub use place_list::{CityError, ListedPlace, city, largest_place, listed_places};
pub use position::Position;
pub use posterior::Posterior;
pub use springs::Embedding;

/// Where an agent is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentPlace {
    pub agent: AgentId,
    pub position: Position,
    /// Country of its home subnet.
    pub country: Option<Country>,
    /// Whether measurements fit another position better than the claimed one.
    pub is_doubtful: bool,
}

/// Everything that is known of places, agents and subnets.
#[derive(Debug, Clone)]
pub struct PlaceModel {
    map: DistanceTable,
    /// Positions of the agents, by column; empty without a globe.
    positions: Vec<Position>,
    /// Agents whose position may be wrong.
    doubtful: Vec<Column>,
    /// By how much each agent is slower than the map, by column.
    slowness: Vec<f32>,
    /// Times from all agents, by place.
    cells: Vec<PlaceCells>,
    /// The agents that may be nearest, by place.
    nearest: Vec<Vec<Nearest>>,
    prior: Prior,
    access: AccessTimes,
    route: RouteDeviation,
    trails: Vec<LearnedTrail>,
    /// Number of trails at the last refit.
    refitted_at: usize,
}

impl PlaceModel {
    /// The model before the first search, for agents with positions.
    pub(crate) fn on_globe(mut agents: Vec<AgentPlace>) -> Self {
        agents.sort_by_key(|agent| agent.agent);
        let positions = agents.iter().map(|agent| agent.position).collect();
        let columns = agents.iter().enumerate();
        let doubtful = columns.filter(|(_, agent)| agent.is_doubtful).map(|(n, _)| n).collect();
        Self::new(DistanceTable::of_globe(&agents), AccessTimes::on_globe(), positions, doubtful)
    }

    /// The model before the first search, for agents that only measured each other; sorted.
    pub(crate) fn on_embedding(agents: Vec<AgentId>, embedding: &Embedding) -> Self {
        let map = DistanceTable::of_embedding(agents, embedding);
        Self::new(map, AccessTimes::on_springs(), Vec::new(), Vec::new())
    }

    fn new(
        map: DistanceTable,
        access: AccessTimes,
        positions: Vec<Position>,
        doubtful: Vec<Column>,
    ) -> Self {
        let slowness = vec![0.0; map.agents().len()];
        let cells = (0..map.len()).map(|place| PlaceCells::new(map.km(place), &slowness)).collect();
        let nearest = vec![Vec::new(); map.len()];
        let mut model = Self {
            map,
            positions,
            doubtful,
            slowness,
            cells,
            nearest,
            prior: Prior::default(),
            access,
            route: RouteDeviation::default(),
            trails: Vec::new(),
            refitted_at: 0,
        };
        model.refresh_places(0..model.map.len());
        model
    }

    /// Learns from a finished search: round trips in milliseconds, in the order of asking.
    pub fn learn(&mut self, levels: Levels, times_ms: &[(AgentId, f64)]) {
        let times: Vec<(AgentId, f32)> =
            times_ms.iter().map(|(agent, ms)| (*agent, *ms as f32)).collect();
        let column = |(agent, ms): &(AgentId, f32)| Some((self.map.column(*agent)?, *ms));
        let known: Vec<(Column, f32)> = times.iter().filter_map(column).collect();
        if known.is_empty() {
            return;
        }
        self.judge_route(levels, &known);
        let mut posterior = Posterior::new(self, levels);
        for (column, rtt_ms) in &known {
            posterior.observe_column(*column, *rtt_ms);
        }
        let location = SubnetLocation::of(&posterior);
        let trail = LearnedTrail { levels, times, location };
        self.absorb(&trail);
        for (place, _) in trail.location.places() {
            self.refresh_places(place..place + 1);
        }
        self.trails.push(trail);
        if self.is_refit_due() {
            self.refit();
        }
    }

    /// Number of searches that were learned from.
    pub fn trails(&self) -> usize {
        self.trails.len()
    }

    /// The agents that the model knows.
    pub fn agents(&self) -> &[AgentId] {
        self.map.agents()
    }

    /// The posterior of a subnet before any probe.
    pub fn posterior(&self, levels: Levels) -> Posterior<'_> {
        Posterior::new(self, levels)
    }

    /// Computes the expectations of these places from what was measured.
    fn refresh_places(&mut self, places: Range<usize>) {
        let route_variance = self.route.variance();
        for place in places {
            let cells = &mut self.cells[place];
            cells.refresh(self.map.km(place), &self.slowness);
            self.nearest[place] = nearest::nearest(cells.expected(), route_variance);
        }
    }
}
