//! Load snapshot: loads, capacities and measured times, for previews, balance and the audit.

use std::collections::{BTreeMap, HashMap};

use delegation::balance::{DailyWork, capacity};
use delegation::plausibility::{LEAST_MS, Trust, TrustLevel};
use hierarchy::Range;
use model::{AgentId, ProbeState, UnixMillis};
use store::delegations::ActiveDelegation;
use store::loads::{self, Answer, Work};
use store::{Store, StoreError};

use crate::placement::Placement;
use crate::predictor::read_trust;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Time for which an agent must have delivered before its deliveries count as its capacity.
const MEASURED_AFTER_MS: i64 = 24 * 3_600_000;

/// Pages a day that an agent can crawl that holds subnets of this load: what it offers, corrected
/// by what it delivered.
pub(super) fn capacity_of(work: &Work, held: u64, now: UnixMillis) -> u64 {
    let is_measured = work.since.is_some_and(|since| since.plus_ms(MEASURED_AFTER_MS) <= now);
    let Work { fetched, queued, .. } = *work;
    let shown = is_measured.then_some(DailyWork { fetched, held, queued });
    capacity(work.offered, shown)
}

/// Loads and capacities of agents at one moment.
pub struct LoadSnapshot {
    /// Agents that are not revoked, by number.
    pub agents: Vec<AgentLoad>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentLoad {
    /// What the agent offers, has queued and delivered.
    pub work: Work,
    /// In pages a day.
    pub capacity: u64,
    /// Pages a day of the subnets that it holds.
    pub load: u64,
}

impl LoadSnapshot {
    /// Reads loads and capacities from tables with a few dozen rows an agent.
    pub async fn take(
        placement: &Placement,
        delegated: &DelegatedHierarchy,
    ) -> Result<Self, StoreError> {
        let now = placement.clock.now();
        let works = loads::agents(&placement.store, now).await?;
        let table = delegated.delegation_table();
        let agent_load = |work: Work| {
            // Each subnet counts as one page at least, as in the balance problem.
            let load = work.held.max(u64::from(table.count(work.agent)));
            // An agent that has rested for a week has fetched nothing and keeps what it holds.
            AgentLoad { capacity: capacity_of(&work, load, now), load, work }
        };
        Ok(Self { agents: works.into_iter().map(agent_load).collect() })
    }

    /// `None` when the agent was revoked or never existed.
    pub fn agent(&self, agent: AgentId) -> Option<&AgentLoad> {
        self.agents.iter().find(|load| load.work.agent == agent)
    }
}

/// Pages a day of subnets.
pub struct SubnetLoads(HashMap<Range, u64>);

impl SubnetLoads {
    /// Reads the loads of all subnets.
    pub async fn all(store: &Store, now: UnixMillis) -> Result<Self, StoreError> {
        Ok(Self(loads::subnets(store, now).await?))
    }

    /// Reads the loads of these subnets.
    pub async fn of(store: &Store, subnets: &[Range], now: UnixMillis) -> Result<Self, StoreError> {
        Ok(Self(loads::of_subnets(store, subnets, now).await?))
    }

    /// Pages a day of a subnet. At least one: without any load, a subnet from which nothing was
    /// fetched yet could be moved at no cost, wherever it goes.
    pub fn pages_a_day(&self, subnet: &Range) -> u64 {
        self.0.get(subnet).copied().unwrap_or(1).max(1)
    }

    /// Pages a day of all subnets of each agent.
    pub fn by_agent<'a>(
        &self,
        held: impl IntoIterator<Item = &'a ActiveDelegation>,
    ) -> HashMap<AgentId, u64> {
        let mut loads: HashMap<AgentId, u64> = HashMap::new();
        for one in held {
            *loads.entry(one.agent).or_default() += self.pages_a_day(&one.subnet);
        }
        loads
    }
}

/// What a preview of moves is computed from.
pub struct MoveFacts {
    pub times: MeasuredTimes,
    pub loads: SubnetLoads,
    pub snapshot: LoadSnapshot,
}

impl MoveFacts {
    /// Reads what is known of these subnets and of all agents. The statements are independent, so
    /// that they run at the same time.
    pub async fn read(
        placement: &Placement,
        delegated: &DelegatedHierarchy,
        subnets: &[Range],
    ) -> Result<Self, StoreError> {
        let (times, loads, snapshot) = tokio::try_join!(
            MeasuredTimes::read(placement, subnets),
            SubnetLoads::of(&placement.store, subnets, placement.clock.now()),
            LoadSnapshot::take(placement, delegated),
        )?;
        Ok(Self { times, loads, snapshot })
    }
}

/// Answers of agents to probes of subnets.
pub struct MeasuredTimes {
    answers: HashMap<Range, BTreeMap<AgentId, Answer>>,
}

impl MeasuredTimes {
    /// Reads all answers about these subnets. A round trip that no search would believe counts as
    /// none: otherwise a move could give the subnet to an agent that may have invented the time.
    pub async fn read(placement: &Placement, subnets: &[Range]) -> Result<Self, StoreError> {
        let trust = read_trust(&placement.predictor).await?;
        let mut times = Self { answers: HashMap::new() };
        let now = placement.clock.now();
        for mut answer in loads::answers(&placement.store, subnets, now).await? {
            if !is_believed(&answer, trust.get(&answer.agent)) {
                answer.state = ProbeState::Unreachable;
                answer.rtt_us = None;
            }
            times.answers.entry(answer.subnet).or_default().insert(answer.agent, answer);
        }
        Ok(times)
    }

    /// The round trip in milliseconds, where it was measured.
    pub fn ms(&self, subnet: &Range, agent: AgentId) -> Option<f64> {
        let answer = self.answers.get(subnet)?.get(&agent)?;
        answer.rtt_us.map(|us| f64::from(us) / 1_000.0)
    }

    /// All answers about a subnet, by agent.
    pub fn of(&self, subnet: &Range) -> impl Iterator<Item = &Answer> {
        self.answers.get(subnet).into_iter().flat_map(BTreeMap::values)
    }
}

/// Whether searches believe an answer of an agent with this trust.
fn is_believed(answer: &Answer, trust: Option<&Trust>) -> bool {
    let is_possible = answer.rtt_us.is_none_or(|us| f64::from(us) >= LEAST_MS * 1_000.0);
    let level = trust.map_or(TrustLevel::New, Trust::level);
    is_possible && matches!(level, TrustLevel::Trusted | TrustLevel::New)
}

#[cfg(test)]
mod tests {
    use delegation::plausibility::{Judgement, ReportKind};
    use model::Phase;

    use super::*;

    fn answer(rtt_us: u32) -> Answer {
        Answer {
            subnet: "198.51.100.0/24".parse().unwrap(),
            agent: AgentId::new(1),
            phase: Phase::Control,
            state: ProbeState::Measured,
            rtt_us: Some(rtt_us),
        }
    }

    #[test]
    fn an_agent_that_comes_back_after_a_week_keeps_its_subnets() {
        let work = Work {
            agent: AgentId::new(1),
            name: "one".into(),
            approved: true,
            offered: 10_000,
            fetched: 0,
            since: Some(UnixMillis(0)),
            queued: 40,
            held: 0,
            held_at_most: 0,
        };
        let now = UnixMillis(30 * 24 * 3_600_000);
        assert_eq!(capacity_of(&work, 500, now), 500);
        assert_eq!(capacity_of(&work, 20_000, now), 10_000, "never more than is offered");
        assert_eq!(capacity_of(&Work { queued: 0, ..work }, 500, now), 10_000, "it keeps up");
    }

    #[test]
    fn times_of_doubted_agents_and_impossible_ones_do_not_count() {
        assert!(is_believed(&answer(900), None));
        assert!(!is_believed(&answer(1), None), "no network stack is that fast");
        let mut doubted = Trust::default();
        let impossible = Judgement::of(0.001, std::iter::empty()).unwrap();
        (0..20).for_each(|_| doubted.searches.observe(ReportKind::Win, &impossible));
        assert!(doubted.level() >= TrustLevel::Doubted);
        assert!(!is_believed(&answer(900), Some(&doubted)));
    }
}
