//! Where the agents are, as far as their owners, registry data and measurements tell.

use std::collections::BTreeSet;

use delegation::places::{AgentClaim, Position, largest_place};
use delegation::plausibility::HomeTimes;
use hierarchy::Hierarchy;
use model::{AgentId, DAY_MS, PlaceClaim, UnixMillis};
use store::agents::{self, AgentSite};
use store::home_times::HomeTime;
use store::{Store, StoreError};

use crate::predictor::observation::millis;

/// Time after which an agent that was expected is taken for gone: a day.
const GONE_AFTER_MS: i64 = DAY_MS;

/// What the map of agents is made from, and what their reports are judged by; the same input gives
/// the same.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct KnownAgents {
    /// Sorted by agent.
    pub(super) claims: Vec<AgentClaim>,
    /// Agents whose machines were moved, and when.
    pub(super) moves: Vec<(AgentId, UnixMillis)>,
    /// What agents measured to the homes of others.
    pub(super) homes: HomeTimes,
}

impl KnownAgents {
    pub(super) async fn read(
        store: &Store,
        hierarchy: &Hierarchy,
        now: UnixMillis,
    ) -> Result<Self, StoreError> {
        let sites = agents::sites(store).await?;
        let claims = sites.iter().map(|site| claim(hierarchy, site)).collect();
        let moves = sites.iter().filter_map(|site| Some((site.agent, site.home_since?))).collect();
        let known = store::home_times::list(store).await?;
        let gone_since = now.plus_ms(-GONE_AFTER_MS);
        let is_expected = |site: &&AgentSite| site.expected_at.is_none_or(|at| at > gone_since);
        let expected: BTreeSet<AgentId> =
            sites.iter().filter(is_expected).map(|site| site.agent).collect();
        let homes = home_times(&known, |agent| !expected.contains(&agent));
        Ok(Self { claims, moves, homes })
    }
}

fn claim(hierarchy: &Hierarchy, site: &AgentSite) -> AgentClaim {
    let country = hierarchy.country_at(site.home);
    let by_owner = site.claim.as_ref().and_then(claimed_position);
    let largest = country.and_then(largest_place);
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

/// The round trip of each measurement. An agent that is gone does not measure any more. So if the
/// other agent of a pair got no answer from its home, the pair counts as unanswered in both
/// directions. Otherwise the pair would stay open, and the claims of no agent could be tested.
pub(super) fn home_times(homes: &[HomeTime], is_gone: impl Fn(AgentId) -> bool) -> HomeTimes {
    let time = |home: &HomeTime| ((home.agent, home.witness), home.rtt_us.map(millis));
    let mut times: HomeTimes = homes.iter().map(time).collect();
    for home in homes.iter().filter(|home| home.rtt_us.is_none() && is_gone(home.agent)) {
        times.entry((home.witness, home.agent)).or_insert(None);
    }
    times
}

#[cfg(test)]
mod tests {
    use delegation::home_measurements::mutual_times;

    use super::*;

    #[test]
    fn an_agent_that_is_gone_leaves_no_pair_open() {
        let gone = AgentId::new(7);
        let home = |agent, witness| HomeTime {
            agent: AgentId::new(agent),
            witness: AgentId::new(witness),
            rtt_us: None,
            measured_at: UnixMillis(0),
        };
        let homes = [home(7, 31), home(31, 8)];
        let answers =
            |is_gone: &dyn Fn(AgentId) -> bool| mutual_times(&home_times(&homes, is_gone)).len();
        assert_eq!(answers(&|_| false), 0, "the others may still try");
        assert_eq!(answers(&|agent| agent == gone), 1);
    }
}
