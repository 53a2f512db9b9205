//! Where the agents are, as far as their owners, registry data and measurements tell.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use delegation::places::{AgentClaim, ListedPlace, MutualTimes, Position, largest_places};
use delegation::plausibility::{self, LEAST_MS};
use hierarchy::{Country, Hierarchy};
use model::{AgentId, PlaceClaim};
use store::agents::{self, AgentSite};
use store::home_times::{self, HomeTime};
use store::{Store, StoreError};

use crate::predictor::observation::millis;

/// Where most networks of a country are, for agents whose owners say nothing.
static LARGEST: LazyLock<HashMap<Country, ListedPlace>> = LazyLock::new(largest_places);

/// What the map of agents is made from, and what their reports are judged by; the same input gives
/// the same.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KnownAgents {
    /// Sorted by agent.
    pub(super) claims: Vec<AgentClaim>,
    pub(super) times: MutualTimes,
    /// What agents measured to the homes of others.
    pub(super) homes: Vec<plausibility::HomeTime>,
}

impl KnownAgents {
    pub(super) async fn read(store: &Store, hierarchy: &Hierarchy) -> Result<Self, StoreError> {
        let sites = agents::sites(store).await?;
        let claims = sites.iter().map(|site| claim(hierarchy, site)).collect();
        let known = home_times::list(store).await?;
        Ok(Self { claims, times: mutual_times(&known), homes: measured_homes(&known) })
    }
}

fn claim(hierarchy: &Hierarchy, site: &AgentSite) -> AgentClaim {
    let country = hierarchy.country_at(site.home);
    let by_owner = site.claim.as_ref().and_then(claimed_position);
    let largest = country.and_then(|country| LARGEST.get(&country));
    AgentClaim {
        agent: site.agent,
        position: by_owner.or(largest.map(|place| place.position)),
        is_by_owner: by_owner.is_some(),
        country,
    }
}

fn claimed_position(claim: &PlaceClaim) -> Option<Position> {
    Position::new(claim.latitude() as f32, claim.longitude() as f32)
}

/// The measurements that got an answer.
pub(super) fn measured_homes(homes: &[HomeTime]) -> Vec<plausibility::HomeTime> {
    let measured = |home: &HomeTime| {
        let HomeTime { agent, witness, rtt_us, .. } = *home;
        Some(plausibility::HomeTime { agent, witness, ms: millis(rtt_us?) })
    };
    homes.iter().filter_map(measured).collect()
}

/// The times of pairs. A pair counts as unanswered when neither has got an answer from the other's
/// home address; while only one has tried, the other may.
fn mutual_times(homes: &[HomeTime]) -> MutualTimes {
    let tried: BTreeSet<(AgentId, AgentId)> =
        homes.iter().map(|home| (home.agent, home.witness)).collect();
    let mut times = MutualTimes::default();
    for home in homes {
        let HomeTime { agent, witness, rtt_us, .. } = *home;
        // A time that no network stack reaches says nothing of the distance.
        let is_possible = rtt_us.is_none_or(|rtt_us| millis(rtt_us) >= LEAST_MS);
        if is_possible && (rtt_us.is_some() || tried.contains(&(witness, agent))) {
            times.insert(agent, witness, rtt_us.map(|rtt_us| rtt_us as f32 / 1000.0));
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use model::UnixMillis;

    use super::*;

    fn home(agent: i64, witness: i64, rtt_us: Option<u32>) -> HomeTime {
        let measured_at = UnixMillis(0);
        HomeTime { agent: AgentId::new(agent), witness: AgentId::new(witness), rtt_us, measured_at }
    }

    #[test]
    fn a_pair_is_unanswered_when_both_have_tried() {
        let one_tried = [home(1, 2, None)];
        assert_eq!(mutual_times(&one_tried).len(), 0);
        let both_tried = [home(1, 2, None), home(2, 1, None)];
        assert_eq!(mutual_times(&both_tried).len(), 1);
        let answered = [home(1, 2, Some(9_000)), home(3, 1, None)];
        assert_eq!(mutual_times(&answered).len(), 1);
    }
}
