//! Background task: asks agents to measure landmarks.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{MutexGuard, PoisonError};

use delegation::Availability;
use delegation::budget::ProbeLimits;
use model::{AgentId, Strategy, UnixMillis};
use store::StoreError;
use store::agents::{self, Worker};
use store::landmarks::{self, DueMeasurement, OrderAllowance};

use crate::predictor::{Predictor, probe_limits};
use crate::runtime::metrics::probes::ProbePurpose;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

const DAY_MS: i64 = 86_400_000;

/// Of the probes that an agent may have at the same time, one in so many may be for landmarks. The
/// rest is left to searches, for whose decisions hosts wait.
const SHARE: u32 = 4;

/// Agents whose landmarks one run looks at. Each has some thousand of them.
const AGENTS_AT_ONCE: usize = 20;

/// Orders probes of landmarks from ready agents that have not measured them for the period of the
/// policy; from new and moved agents at once. A few at a time, and within the probe budget.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = predictor.policy.load_full();
    if policy.strategy != Strategy::Predictive {
        return Ok(Outcome::Idle);
    }
    predictor.state.budget.load(predictor, &delegated).await?;
    let limits = probe_limits(policy.probes);
    let workers = agents::workers(&predictor.store).await?;
    let now = predictor.clock.now();
    let period_ms = DAY_MS * i64::from(policy.landmark_days);
    let stamp = landmarks::stamp(&predictor.store).await?;
    let sites = (stamp.landmarks, stamp.last_landmark, period_ms);
    let rested = lock(predictor).of(sites, now);
    let awake: Vec<&Worker> =
        workers.iter().filter(|worker| rested.get(&worker.agent) != Some(&worker.home)).collect();
    let rooms: Vec<OrderAllowance> =
        awake.iter().filter_map(|worker| room(predictor, &limits, worker)).collect();
    let all = rooms.len();
    let rooms = lock(predictor).next(rooms);
    if rooms.is_empty() {
        return Ok(Outcome::Idle);
    }
    let measured_before = now.plus_ms(-period_ms);
    let mut due = landmarks::due(&predictor.store, &rooms, measured_before).await?;
    let rested = rest(predictor, &awake, &rooms, &due, period_ms).await?;
    // Landmarks count against the same budget as searches, so that each probe is recorded when it
    // is allowed.
    due.retain(|due: &DueMeasurement| {
        let subnet = delegated.hierarchy().smallest(due.address);
        predictor.state.budget.usage(|usage| {
            let allowed = usage.allows(&limits, subnet, now);
            if allowed {
                usage.record(due.agent, subnet, now);
            }
            allowed
        })
    });
    if due.is_empty() {
        let done = format!("{} measured every landmark", quantity(rested, "agent"));
        return Ok(if rested > 0 { Outcome::More(done) } else { Outcome::Idle });
    }
    let ordered = landmarks::order(&predictor.store, &due, now).await?;
    predictor.probe_metrics.ordered(ProbePurpose::Landmark, ordered);
    predictor.agent_wakeups.wake(due.iter().map(|due| due.agent).collect::<Vec<AgentId>>());
    let done = format!("asked for {} of landmarks", quantity(ordered, "measurement"));
    let has_more = all > rooms.len() && ordered > 0;
    Ok(if has_more { Outcome::More(done) } else { Outcome::Done(done) })
}

/// Agents that have measured every landmark, each with its home and the time from which it has to
/// measure again. A thousand agents times 1,500 landmarks are too many to look at every few
/// seconds.
#[derive(Debug, Default)]
pub(super) struct RestedAgents {
    /// Number of landmarks, the newest one, and the period for which they were measured.
    sites: (i64, i64, i64),
    agents: HashMap<AgentId, (IpAddr, UnixMillis)>,
    /// The last agent that a run looked at.
    turn: Option<AgentId>,
}

impl RestedAgents {
    /// The agents of one run, in turn: the times of all agents are too many for one statement.
    fn next(&mut self, mut rooms: Vec<OrderAllowance>) -> Vec<OrderAllowance> {
        rooms.sort_unstable_by_key(|room| room.agent);
        let start = rooms.partition_point(|room| Some(room.agent) <= self.turn);
        rooms.rotate_left(start);
        rooms.truncate(AGENTS_AT_ONCE);
        self.turn = rooms.last().map(|room| room.agent);
        rooms
    }

    /// Homes of the agents that have nothing to measure now. Other landmarks wake all of them.
    fn of(&mut self, sites: (i64, i64, i64), now: UnixMillis) -> HashMap<AgentId, IpAddr> {
        if self.sites != sites {
            *self = Self { sites, ..Self::default() };
        }
        self.agents.retain(|_, (_, until)| *until > now);
        self.agents.iter().map(|(agent, (home, _))| (*agent, *home)).collect()
    }
}

fn lock(predictor: &Predictor) -> MutexGuard<'_, RestedAgents> {
    predictor.state.rested.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Lets the agents rest that have room, no order, and nothing due, until their oldest measurement
/// is old. Returns how many rest now.
async fn rest(
    predictor: &Predictor,
    workers: &[&Worker],
    rooms: &[OrderAllowance],
    due: &[DueMeasurement],
    period_ms: i64,
) -> Result<usize, StoreError> {
    let asked: HashSet<AgentId> = due.iter().map(|due| due.agent).collect();
    let looked_at: HashSet<AgentId> = rooms.iter().map(|room| room.agent).collect();
    let homes: HashMap<AgentId, IpAddr> = workers
        .iter()
        .filter(|worker| worker.orders == 0 && looked_at.contains(&worker.agent))
        .filter(|worker| !asked.contains(&worker.agent))
        .map(|worker| (worker.agent, worker.home))
        .collect();
    if homes.is_empty() {
        return Ok(0);
    }
    let agents: Vec<AgentId> = homes.keys().copied().collect();
    let oldest = landmarks::oldest(&predictor.store, &agents).await?;
    let count = oldest.len();
    let mut rested = lock(predictor);
    for (agent, at) in oldest {
        rested.agents.insert(agent, (homes[&agent], at.plus_ms(period_ms)));
    }
    Ok(count)
}

fn room(predictor: &Predictor, limits: &ProbeLimits, worker: &Worker) -> Option<OrderAllowance> {
    let most = (predictor.limits.orders_per_agent / SHARE).max(1);
    let orders = most.saturating_sub(worker.orders);
    let is_ready = predictor.availability(worker, limits) == Availability::Ready;
    (is_ready && orders > 0).then_some(OrderAllowance { agent: worker.agent, orders })
}
