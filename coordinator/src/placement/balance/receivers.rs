//! Receivers of moves: the agents that can take subnets now, and measure some first.

use std::collections::{HashMap, HashSet};

use delegation::Availability;
use hierarchy::SubnetId;
use model::policy::ProbesADay;
use model::{AgentId, UnixMillis};
use store::agents::Worker;

use crate::predictor::{Predictor, presence};

/// Agents that work, or sleep as they said they would, each with the number of probes for which it
/// has room now.
#[derive(Debug, Default)]
pub struct Receivers {
    room: HashMap<AgentId, u32>,
    /// Those that do not sleep.
    awake: HashSet<AgentId>,
    limits: ProbesADay,
}

impl Receivers {
    /// Who of these agents can be given subnets at `now`.
    pub fn of(predictor: &Predictor, workers: &[Worker], now: UnixMillis) -> Self {
        let cutoff = predictor.limits.heartbeat_cutoff(now);
        let most = predictor.limits.orders_per_agent;
        let room = workers.iter().filter_map(|worker| match presence(worker, cutoff, now) {
            // It is unknown when the owner of an idle agent lets it continue.
            Availability::Unreachable | Availability::Idle => None,
            Availability::Ready => Some((worker.agent, most.saturating_sub(worker.orders))),
            _ => Some((worker.agent, 0)),
        });
        let limits = predictor.policy.load_full().probes;
        let awake = workers.iter().filter(|worker| {
            let presence = presence(worker, cutoff, now);
            !matches!(presence, Availability::Asleep | Availability::Unreachable)
        });
        let awake = awake.map(|worker| worker.agent).collect();
        Self { room: room.collect(), awake, limits }
    }

    /// Whether subnets may be taken from the agent. An agent that is away cannot release its hosts.
    /// Other agents would start without its state when its lease ends, although it comes back in
    /// its next span.
    pub fn may_give(&self, agent: AgentId) -> bool {
        self.awake.contains(&agent)
    }

    /// Whether subnets may be moved to the agent: one that is away or idle would not crawl them.
    pub(super) fn may_take(&self, agent: AgentId) -> bool {
        self.room.contains_key(&agent)
    }

    /// Whether the agent can measure a subnet now, before it takes it: it has room, and so has the
    /// budget of the day.
    pub(super) fn can_measure(
        &self,
        predictor: &Predictor,
        agent: AgentId,
        subnet: SubnetId,
    ) -> bool {
        let now = predictor.clock.now();
        let ready = Availability::Ready;
        self.room.get(&agent).is_some_and(|room| *room > 0)
            && predictor.state.budget.usage(|usage| {
                usage.availability(&self.limits, agent, ready, now) == ready
                    && usage.allows(&self.limits, subnet, now)
            })
    }

    /// Notes that the agent was asked to measure the subnet.
    pub(super) fn note_asked(&mut self, predictor: &Predictor, agent: AgentId, subnet: SubnetId) {
        if let Some(room) = self.room.get_mut(&agent) {
            *room = room.saturating_sub(1);
        }
        let now = predictor.clock.now();
        predictor.state.budget.usage(|usage| usage.record(agent, subnet, now));
    }
}
