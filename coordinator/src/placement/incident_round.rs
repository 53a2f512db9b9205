//! Incident round: takes the next step of each incident of a slow path or slow pages.
//!
//! > If this repeats for more than one time continuously, then the subnet is re-delegated. (IPMicra
//! > III.F)
//!
//! Checking (a control probe separates a slow path from a slow server) → searching (for another
//! agent) → away (the former agent probes now and then) → returning (a search with both agents'
//! measurements) → returned. The rules are in `delegation::calibration`. Each step is stored before
//! the next, so that a restart continues where it stopped.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use delegation::calibration::{ControlProbe, Failback, SubnetTimes};
use delegation::{Availability, Constraints};
use model::{AgentId, IncidentCause, IncidentState, Policy, UnixMillis};
use serde_json::Value;
use store::agents::Worker;
use store::incidents::{self, CurrentDelegation, Incident, Outcome, Seed};

use crate::placement::Placement;
use crate::predictor::presence;
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::metrics::probes::ProbePurpose;

/// Open orders of an agent up to which it is asked for its former subnets. After a night all of
/// them are due at once, and the agent can report only a limited number in time.
const MOST_ORDERS: u32 = 10;

/// Agents that can probe now, within their probes of the day.
pub(super) fn ready_agents(placement: &Placement, workers: &[Worker]) -> HashSet<AgentId> {
    let now = placement.clock.now();
    let heartbeat_cutoff = placement.limits.heartbeat_cutoff(now);
    let limits = placement.policy.load().probes;
    let is_ready = |worker: &&Worker| {
        let presence = presence(worker, heartbeat_cutoff, now);
        placement.predictor.within_budget(worker, presence, &limits) == Availability::Ready
    };
    workers.iter().filter(is_ready).map(|worker| worker.agent).collect()
}

/// One pass over the open incidents.
pub(super) struct IncidentRound<'a> {
    placement: &'a Placement,
    policy: Policy,
    /// Agents that may get subnets.
    approved: HashSet<AgentId>,
    /// Agents that can probe now.
    ready: HashSet<AgentId>,
    /// What admins have ruled, and the hierarchy that it refers to.
    constraints: Constraints,
    hierarchy: Option<Arc<DelegatedHierarchy>>,
    /// Orders that agents have not answered.
    orders: HashMap<AgentId, u32>,
    asked: HashSet<AgentId>,
    steps: u32,
}

impl<'a> IncidentRound<'a> {
    pub(super) async fn begin(
        placement: &'a Placement,
        workers: &[Worker],
    ) -> Result<Self, anyhow::Error> {
        Ok(Self {
            placement,
            policy: **placement.policy.load(),
            approved: workers.iter().map(|worker| worker.agent).collect(),
            ready: ready_agents(placement, workers),
            constraints: current_constraints(&placement.store, placement.clock.now()).await?,
            hierarchy: placement.hierarchy.current(),
            orders: workers.iter().map(|worker| (worker.agent, worker.orders)).collect(),
            asked: HashSet::new(),
            steps: 0,
        })
    }

    /// Takes the next step of one incident, if anything happened since the last.
    pub(super) async fn advance(&mut self, incident: &Incident) -> Result<(), anyhow::Error> {
        let Some(holds) = incident.holds else {
            return self.end(incident, IncidentState::Overtaken, None).await;
        };
        match incident.state {
            IncidentState::Checking if holds.delegation == incident.delegation => {
                self.check_cause(incident).await
            }
            IncidentState::Searching | IncidentState::Returning => {
                self.follow_search(incident, &holds).await
            }
            IncidentState::Away if incident.next_agent == Some(holds.agent) => {
                self.watch_former_agent(incident, &holds).await
            }
            // Something else delegated the subnet again, so that the incident is about the past.
            IncidentState::Checking | IncidentState::Away => {
                self.end(incident, IncidentState::Overtaken, None).await
            }
            IncidentState::Server
            | IncidentState::Stayed
            | IncidentState::Returned
            | IncidentState::Moved
            | IncidentState::Undecided
            | IncidentState::Overtaken => Ok(()),
        }
    }

    async fn check_cause(&mut self, incident: &Incident) -> Result<(), anyhow::Error> {
        if ControlProbe::cause_by_path(incident.ratio, incident.path_ratio).is_some() {
            return self.end(incident, IncidentState::Server, None).await;
        }
        let Some(awaited) = incident.probe else {
            return self.request_control_probe(incident, None).await;
        };
        let Some((agent, before_us)) = incident.control_probe else {
            return self.request_control_probe(incident, None).await;
        };
        let now_us = match awaited.outcome {
            Outcome::Pending => return Ok(()),
            Outcome::Measured(now_us) => now_us,
            Outcome::Failed | Outcome::Expired if agent != incident.agent => {
                return self.request_control_probe(incident, Some(agent)).await;
            }
            Outcome::Failed | Outcome::Expired => {
                return self.end(incident, IncidentState::Undecided, None).await;
            }
        };
        let control_probe = ControlProbe { agent, before_us };
        let cause = control_probe.cause(incident.agent, incident.ratio, now_us);
        if ControlProbe::needs_second(incident.path_ratio, cause, incident.controls) {
            let measured = incidents::measured(&self.placement.store, incident.delegation).await?;
            let others: Vec<_> =
                measured.into_iter().filter(|(other, _)| *other != agent).collect();
            let may_probe = self.may_probe(incident);
            let second = ControlProbe::choose(incident.agent, None, &others, may_probe);
            if let Some(ControlProbe { agent, before_us }) = second {
                return self.probe(incident, agent, Some(before_us)).await;
            }
        }
        match cause {
            // No other agent would be faster.
            IncidentCause::Server => self.end(incident, IncidentState::Server, Some(now_us)).await,
            IncidentCause::Path => {
                self.search(incident, IncidentState::Searching, Some(now_us), &[]).await
            }
        }
    }

    /// Whether an agent can measure the incident's subnet now, and no admin has ruled it out there.
    /// The agent that has the subnet measures it with each fetch.
    fn may_probe(&self, incident: &Incident) -> impl Fn(AgentId) -> bool {
        move |agent| {
            let is_allowed = agent == incident.agent || !self.is_ruled_out(incident, agent);
            self.ready.contains(&agent) && is_allowed
        }
    }

    /// Whether an admin has ruled that the agent does not get the incident's subnet: it is drained
    /// or excluded, or another one is pinned.
    fn is_ruled_out(&self, incident: &Incident, agent: AgentId) -> bool {
        let hierarchy = self.hierarchy.as_ref().map(|delegated| delegated.hierarchy());
        let subnet = hierarchy.and_then(|hierarchy| hierarchy.find(&incident.subnet));
        let Some((hierarchy, subnet)) = hierarchy.zip(subnet) else {
            return self.constraints.drained().contains(&agent);
        };
        let pin = self.constraints.pin(hierarchy, subnet);
        self.constraints.forbids(hierarchy, subnet, agent)
            || pin.is_some_and(|pin| pin.agent != agent)
    }

    /// Asks the best agent for a control probe. After another agent's probe `failed`, only the
    /// reporting agent itself is left.
    async fn request_control_probe(
        &mut self,
        incident: &Incident,
        failed: Option<AgentId>,
    ) -> Result<(), anyhow::Error> {
        let measured = match failed {
            None => incidents::measured(&self.placement.store, incident.delegation).await?,
            Some(_) => Vec::new(),
        };
        let before_us = incident.before_us;
        let may_probe = self.may_probe(incident);
        let chosen = ControlProbe::choose(incident.agent, before_us, &measured, may_probe);
        match chosen {
            Some(ControlProbe { agent, before_us }) => {
                self.probe(incident, agent, Some(before_us)).await
            }
            // The reporting agent can probe once it is awake again, and has probes left.
            None if incident.before_us.is_some() && incident.target.is_some() => Ok(()),
            None => self.end(incident, IncidentState::Undecided, None).await,
        }
    }

    async fn follow_search(
        &mut self,
        incident: &Incident,
        holds: &CurrentDelegation,
    ) -> Result<(), anyhow::Error> {
        if incident.search.is_some_and(|(_, is_open)| is_open) {
            return Ok(());
        }
        let is_former = holds.agent == incident.agent;
        let is_found = incident.search.is_some_and(|(search, _)| holds.search == Some(search));
        match incident.state {
            IncidentState::Searching if is_former && is_found => {
                self.end(incident, IncidentState::Stayed, None).await
            }
            // The search ended without an answer.
            IncidentState::Searching if is_former => {
                self.end(incident, IncidentState::Undecided, None).await
            }
            IncidentState::Returning if is_former => {
                self.end(incident, IncidentState::Returned, None).await
            }
            _ if is_found || incident.next_agent == Some(holds.agent) => {
                self.set_away(incident, holds).await
            }
            _ => self.end(incident, IncidentState::Overtaken, None).await,
        }
    }

    /// Stores that another agent has the subnet now, and what the former one measured.
    async fn set_away(
        &mut self,
        incident: &Incident,
        holds: &CurrentDelegation,
    ) -> Result<(), anyhow::Error> {
        self.steps += 1;
        let now = self.placement.clock.now();
        // An agent that got the subnet by an override may never have measured it. It gets the
        // subnet back as soon as it is faster than the present agent.
        let before_us = incident.before_us.unwrap_or(u32::MAX);
        let failback = match incident.failback.clone() {
            Some(known) => serde_json::from_value::<Failback>(known)?.after_search(now),
            None => Failback::new(incident.agent, before_us, now),
        };
        let failback = serde_json::to_value(failback)?;
        Ok(incidents::set_away(&self.placement.store, incident, holds, &failback, now).await?)
    }

    /// Lets the former agent probe now and then, and reopens the search once its path has
    /// recovered.
    async fn watch_former_agent(
        &mut self,
        incident: &Incident,
        holds: &CurrentDelegation,
    ) -> Result<(), anyhow::Error> {
        let Some(failback) = incident.failback.clone() else {
            return self.end(incident, IncidentState::Overtaken, None).await;
        };
        let mut failback: Failback = serde_json::from_value(failback)?;
        // An agent that was revoked or paused gets nothing back.
        let former = failback.former;
        if !self.approved.contains(&former) || self.is_ruled_out(incident, former) {
            return self.end(incident, IncidentState::Overtaken, None).await;
        }
        let now = self.placement.clock.now();
        let policy = self.policy.calibration;
        if failback.is_over(&policy, now) {
            return self.end(incident, IncidentState::Moved, None).await;
        }
        let Some(awaited) = incident.probe else {
            let is_free = self.orders.get(&former).is_some_and(|orders| *orders < MOST_ORDERS);
            if failback.is_due(&policy, now) && is_free && self.ready.contains(&former) {
                return self.probe(incident, former, None).await;
            }
            return Ok(());
        };
        let probe_us = match awaited.outcome {
            Outcome::Pending => return Ok(()),
            Outcome::Measured(us) => us,
            Outcome::Failed => u32::MAX,
            Outcome::Expired => {
                failback.not_reported(now);
                return self.keep_watching(incident, &failback).await;
            }
        };
        let present_us = holds.rtt_us.unwrap_or(u32::MAX);
        if failback.observe(&policy, probe_us, present_us, now) {
            // The search starts with these measurements, so that it can decide at once if both
            // agents are among them.
            let former = Seed { agent: former, rtt_us: probe_us };
            let present = holds.rtt_us.map(|rtt_us| Seed { agent: holds.agent, rtt_us });
            let seeds: Vec<Seed> = [Some(former), present].into_iter().flatten().collect();
            return self.search(incident, IncidentState::Returning, None, &seeds).await;
        }
        self.keep_watching(incident, &failback).await
    }

    async fn keep_watching(
        &mut self,
        incident: &Incident,
        failback: &Failback,
    ) -> Result<(), anyhow::Error> {
        let now = self.placement.clock.now();
        let failback = serde_json::to_value(failback)?;
        Ok(incidents::set_failback(&self.placement.store, incident, &failback, now).await?)
    }

    /// Orders a probe; `before_us` is the earlier round trip of a control probe.
    async fn probe(
        &mut self,
        incident: &Incident,
        agent: AgentId,
        before_us: Option<u32>,
    ) -> Result<(), anyhow::Error> {
        let Some(target) = &incident.target else {
            return self.end(incident, IncidentState::Undecided, None).await;
        };
        let now = self.placement.clock.now();
        let store = &self.placement.store;
        incidents::check(store, incident, agent, before_us, target, now).await?;
        self.placement.predictor.state.budget.record_others(&[agent], now);
        self.placement.predictor.probe_metrics.ordered(ProbePurpose::Check, 1);
        *self.orders.entry(agent).or_default() += 1;
        self.asked.insert(agent);
        self.steps += 1;
        Ok(())
    }

    async fn search(
        &mut self,
        incident: &Incident,
        state: IncidentState,
        now_us: Option<u32>,
        seeds: &[Seed],
    ) -> Result<(), anyhow::Error> {
        let Some(target) = &incident.target else {
            return self.end(incident, IncidentState::Undecided, now_us).await;
        };
        let now = self.placement.clock.now();
        let store = &self.placement.store;
        let rules = (self.policy.strategy, self.policy.threshold_us);
        let opened =
            incidents::search(store, incident, (state, now_us), target, seeds, rules, now).await?;
        self.placement.search.metrics.opened(opened.into());
        self.placement.events.emit(Event::SearchReady);
        self.steps += 1;
        Ok(())
    }

    async fn end(
        &mut self,
        incident: &Incident,
        state: IncidentState,
        now_us: Option<u32>,
    ) -> Result<(), anyhow::Error> {
        self.steps += 1;
        let now = self.placement.clock.now();
        let reports = no_reports(now)?;
        let store = &self.placement.store;
        incidents::end(store, incident, (state, now_us), &reports, now).await?;
        // It may have been ordered to forget the usual times of pages.
        self.placement.agent_wakeups.wake([incident.agent]);
        Ok(())
    }

    /// Notifies the agents that were asked. Returns the number of steps taken.
    pub(super) fn finish(self) -> u32 {
        self.placement.agent_wakeups.wake(self.asked);
        self.steps
    }
}

/// The summary that replaces the reports before an incident ended.
fn no_reports(now: UnixMillis) -> Result<Value, serde_json::Error> {
    serde_json::to_value(SubnetTimes::delegated(now).pages)
}
