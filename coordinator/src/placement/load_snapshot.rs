//! What is known of load, capacity and cost: the scales for previews and for balance.

use std::collections::{BTreeMap, HashMap};

use delegation::balance::{DailyWork, capacity};
use hierarchy::Range;
use model::{AgentId, UnixMillis};
use store::StoreError;
use store::loads::{self, Answer, Work};

use crate::placement::Placement;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// An agent counts as measured when it has delivered for so long, in milliseconds.
const LONG_ENOUGH_MS: i64 = 24 * 3_600_000;

/// Pages a day that an agent can crawl, as measured so far.
pub fn capacity_of(work: &Work, now: UnixMillis) -> u64 {
    let long = work.since.is_some_and(|since| since.plus_ms(LONG_ENOUGH_MS) <= now);
    let shown = long.then_some(DailyWork { fetched: work.fetched, queued: work.queued });
    capacity(work.offered, shown)
}

/// Loads, capacities and names as they are now.
pub struct LoadSnapshot {
    /// Agents that were not revoked, by number.
    pub agents: Vec<Weighed>,
    loads: HashMap<Range, u64>,
}

/// An agent on the scales.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weighed {
    /// What it offers and does.
    pub work: Work,
    /// Pages a day that it can crawl.
    pub capacity: u64,
    /// Pages a day of the subnets that it holds.
    pub load: u64,
}

impl LoadSnapshot {
    /// Weighs everything.
    pub async fn take(
        placement: &Placement,
        delegated: &DelegatedHierarchy,
    ) -> Result<Self, StoreError> {
        let now = placement.clock.now();
        let loads = loads::subnets(&placement.store, now).await?;
        let works = loads::agents(&placement.store, now).await?;
        let weighed = |work: Work| Weighed { capacity: capacity_of(&work, now), load: 0, work };
        let mut scales = Self { agents: works.into_iter().map(weighed).collect(), loads };
        scales.put(delegated);
        Ok(scales)
    }

    fn put(&mut self, delegated: &DelegatedHierarchy) {
        let mut held: HashMap<AgentId, u64> = HashMap::new();
        for (subnet, holding) in delegated.delegation_table().iter() {
            let range = delegated.hierarchy().subnet(subnet).range();
            *held.entry(holding.agent).or_default() += self.load(&range);
        }
        for agent in &mut self.agents {
            agent.load = held.get(&agent.work.agent).copied().unwrap_or(0);
        }
    }

    /// Pages a day of a subnet, measured; one where nothing was fetched yet.
    pub fn load(&self, subnet: &Range) -> u64 {
        self.loads.get(subnet).copied().unwrap_or(1).max(1)
    }

    /// An agent; none when it was revoked or never was.
    pub fn agent(&self, agent: AgentId) -> Option<&Weighed> {
        self.agents.iter().find(|weighed| weighed.work.agent == agent)
    }
}

/// What agents measured of subnets.
pub struct Times {
    answers: HashMap<Range, BTreeMap<AgentId, Answer>>,
}

impl Times {
    /// All that was measured of these subnets.
    pub async fn read(placement: &Placement, subnets: &[Range]) -> Result<Self, StoreError> {
        let mut times = Self { answers: HashMap::new() };
        for answer in loads::answers(&placement.store, subnets).await? {
            times.answers.entry(answer.subnet).or_default().insert(answer.agent, answer);
        }
        Ok(times)
    }

    /// What an agent answered.
    pub fn answer(&self, subnet: &Range, agent: AgentId) -> Option<&Answer> {
        self.answers.get(subnet)?.get(&agent)
    }

    /// The round trip in milliseconds, where it was measured.
    pub fn ms(&self, subnet: &Range, agent: AgentId) -> Option<f64> {
        self.answer(subnet, agent)?.rtt_us.map(|us| f64::from(us) / 1_000.0)
    }

    /// All answers about a subnet, by agent.
    pub fn of(&self, subnet: &Range) -> impl Iterator<Item = &Answer> {
        self.answers.get(subnet).into_iter().flat_map(BTreeMap::values)
    }
}
