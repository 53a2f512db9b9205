//! Learning from a finished search: its trail belongs to the few places where its subnet may be.

use model::AgentId;

use super::access_time::PerAccess;
use super::distance_table::PlaceIndex;
use super::posterior::{Hypothesis, Posterior};
use super::{Levels, PlaceModel};

/// Places to which the times of one subnet are attributed.
const MOST_PLACES: usize = 4;
/// Probability below which times are not attributed to a place.
const MIN_ATTRIBUTED: f32 = 0.03;
/// Probability below which a place does not count for the prior.
const MIN_COUNTED: f32 = 1e-3;

/// What was measured of one subnet, and where it turned out to be.
#[derive(Debug, Clone)]
pub(super) struct LearnedTrail {
    pub(super) levels: Levels,
    /// Round trips in milliseconds.
    pub(super) times: Vec<(AgentId, f32)>,
    pub(super) location: SubnetLocation,
}

/// Where a subnet turned out to be.
#[derive(Debug, Clone, Default)]
pub(super) struct SubnetLocation {
    /// The places that learn from its times.
    attributed: Vec<Attribution>,
    /// Places with their probabilities, for the prior.
    pub(super) counted: Vec<(PlaceIndex, f32)>,
}

#[derive(Debug, Clone)]
struct Attribution {
    place: PlaceIndex,
    weight: f32,
    /// Probabilities of the access times, if the subnet is there.
    access: PerAccess,
}

impl SubnetLocation {
    /// The likely places of a posterior.
    pub(super) fn of(posterior: &Posterior<'_>) -> Self {
        let total: f32 = posterior.hypotheses().iter().map(Hypothesis::total).sum();
        let mut attributed = Vec::new();
        let mut counted = Vec::new();
        for hypothesis in posterior.hypotheses() {
            let place = hypothesis.place;
            let here = hypothesis.total();
            let weight = here / total;
            if weight > MIN_COUNTED {
                counted.push((place, weight));
            }
            if weight > MIN_ATTRIBUTED {
                let access = hypothesis.weights.map(|part| part / here);
                attributed.push(Attribution { place, weight, access });
            }
        }
        attributed.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        attributed.truncate(MOST_PLACES);
        Self { attributed, counted }
    }

    /// The places that learn from the subnet's times, with their weights.
    pub(super) fn places(&self) -> impl Iterator<Item = (PlaceIndex, f32)> + '_ {
        self.attributed.iter().map(|one| (one.place, one.weight))
    }
}

impl PlaceModel {
    /// Adds a trail to the counts and cells. Expectations follow with a refresh.
    ///
    /// Without a country it takes many probes to tell places apart, so that counts of such subnets
    /// confirm themselves; without a globe their times say little of any place, too.
    pub(super) fn absorb(&mut self, trail: &LearnedTrail) {
        let has_country = trail.levels.country.is_some();
        if has_country {
            self.prior.count(trail.levels, &trail.location.counted);
        }
        if !has_country && self.positions.is_empty() {
            return;
        }
        let route_variance = self.route.variance();
        for one in &trail.location.attributed {
            self.access.count(&one.access, one.weight);
            let cells = &mut self.cells[one.place];
            cells.visit(one.weight);
            for (agent, rtt_ms) in &trail.times {
                let Some(column) = self.map.column(*agent) else { continue };
                let (log, variance) = self.access.mean_network(*rtt_ms, &one.access);
                cells.observe(column, (log, variance + route_variance), one.weight);
            }
        }
    }
}
