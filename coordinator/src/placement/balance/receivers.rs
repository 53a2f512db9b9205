//! Receivers of moves: the agents that can take subnets now, and measure some first.

use std::collections::HashMap;

use delegation::Availability;
use delegation::budget::ProbeLimits;
use hierarchy::SubnetId;
use model::{AgentId, UnixMillis};
use store::agents::Worker;

use crate::predictor::{Predictor, presence, probe_limits};

/// Agents that send heartbeats, or sleep as they said they would.
#[derive(Debug, Default)]
pub struct Receivers {
    present: HashMap<AgentId, Measuring>,
    limits: ProbeLimits,
}

/// What an agent can measure.
#[derive(Debug, Clone, Copy)]
struct Measuring {
    /// Whether it carries out probes now.
    is_able: bool,
    /// Probes for which it has room.
    room: u32,
}

impl Receivers {
    /// Who of these agents can be given subnets at `now`.
    pub(super) fn of(predictor: &Predictor, workers: &[Worker], now: UnixMillis) -> Self {
        let cutoff = predictor.limits.heartbeat_cutoff(now);
        let most = predictor.limits.orders_per_agent;
        let present = workers.iter().filter_map(|worker| {
            let presence = presence(worker, cutoff, now);
            let is_able = presence == Availability::Ready;
            let room = if is_able { most.saturating_sub(worker.orders) } else { 0 };
            let is_present = presence != Availability::Unreachable;
            is_present.then_some((worker.agent, Measuring { is_able, room }))
        });
        let limits = probe_limits(predictor.policy.load_full().probes);
        Self { present: present.collect(), limits }
    }

    /// Whether subnets may be moved to the agent: one that is away would not crawl them.
    pub(super) fn may_take(&self, agent: AgentId) -> bool {
        self.present.contains_key(&agent)
    }

    /// Whether the agent could measure a subnet before it takes it, now or once it has room.
    pub(super) fn can_measure(&self, agent: AgentId) -> bool {
        self.present.get(&agent).is_some_and(|measuring| measuring.is_able)
    }

    /// Takes room for one more probe of `subnet`; false where the agent has none, or where the
    /// budget of the day has none left.
    pub(super) fn take_room(
        &mut self,
        predictor: &Predictor,
        agent: AgentId,
        subnet: SubnetId,
    ) -> bool {
        let Some(measuring) = self.present.get_mut(&agent).filter(|it| it.room > 0) else {
            return false;
        };
        let now = predictor.clock.now();
        let is_within_budget = predictor.state.budget.usage(|usage| {
            let ready = Availability::Ready;
            let is_left = usage.availability(&self.limits, agent, ready, now) == ready
                && usage.allows(&self.limits, subnet, now);
            if is_left {
                usage.record(agent, subnet, now);
            }
            is_left
        });
        if is_within_budget {
            measuring.room -= 1;
        }
        is_within_budget
    }
}
