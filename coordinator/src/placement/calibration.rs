//! A incident: here is how it stands, what comes next?
//!
//! > If this repeats for more than one time continuously, then the subnet is re-delegated. (IPMicra
//! > III.F)
//!
//! Checking (a control probe tells a slow way from a slow server) → searching → away (the former agent
//! looks now and then) → returning → returned. What the steps weigh is decided in
//! `delegation::calibration`; each is stored before the next.

use std::collections::HashSet;

use delegation::{
    calibration::ControlProbe, calibration::Failback, calibration::ReopenLimits,
    calibration::TimingReports,
};
use model::{AgentId, IncidentCause, IncidentState, Policy, UnixMillis};
use store::agents::Worker;
use store::{
    incidents, incidents::Holds, incidents::Incident, incidents::Outcome, incidents::Seed,
};

use crate::placement::Placement;
use crate::runtime::events::Event;

/// How often a subnet may move, by the policy.
pub(crate) fn rest(policy: &Policy) -> ReopenLimits {
    let ms = |seconds: u32| u64::from(seconds) * 1_000;
    ReopenLimits {
        min_interval_ms: ms(policy.calibration.rest_s),
        window_ms: ms(policy.calibration.window_s),
    }
}

/// What is heard of a subnet from this delegation on.
pub(crate) fn fresh(decided: UnixMillis) -> Result<serde_json::Value, serde_json::Error> {
    let mut timing_reports = TimingReports::default();
    timing_reports.delegated(decided);
    serde_json::to_value(timing_reports)
}

/// A walk over the incidents that go on.
pub(crate) struct Walk<'a> {
    placement: &'a Placement,
    policy: Policy,
    ready: HashSet<AgentId>,
    asked: HashSet<AgentId>,
    steps: u32,
}

impl<'a> Walk<'a> {
    /// Sees who can measure.
    pub(crate) fn begin(placement: &'a Placement, workers: &[Worker]) -> Self {
        let (now, heard_since) =
            (placement.clock.now(), placement.limits.heard_since(placement.clock.now()));
        let is_ready = |worker: &&Worker| {
            let heard_of = worker.last_heartbeat_at.is_some_and(|at| at >= heard_since);
            heard_of && worker.asleep_until.is_none_or(|until| until <= now)
        };
        let ready = workers.iter().filter(is_ready).map(|worker| worker.agent).collect();
        let policy = **placement.policy.load();
        Self { placement, policy, ready, asked: HashSet::new(), steps: 0 }
    }

    /// The next step of one incident.
    pub(crate) async fn step(&mut self, case: &Incident) -> Result<(), anyhow::Error> {
        let Some(holds) = case.holds else {
            return self.end(case, IncidentState::Overtaken, None).await;
        };
        match case.state {
            IncidentState::Checking if holds.delegation == case.delegation => {
                self.checking(case).await
            }
            IncidentState::Searching | IncidentState::Returning => {
                self.searching(case, &holds).await
            }
            IncidentState::Away if case.next_agent == Some(holds.agent) => {
                self.away(case, &holds).await
            }
            IncidentState::Checking | IncidentState::Away => {
                self.end(case, IncidentState::Overtaken, None).await
            }
            IncidentState::Server
            | IncidentState::Stayed
            | IncidentState::Returned
            | IncidentState::Undecided
            | IncidentState::Overtaken => Ok(()),
        }
    }

    /// A control probe measures.
    async fn checking(&mut self, case: &Incident) -> Result<(), anyhow::Error> {
        let (Some(awaited), Some((agent, before_us))) = (case.probe, case.control_probe) else {
            return self.call_witness(case, None).await;
        };
        let now_us = match awaited.outcome {
            Outcome::Pending => return Ok(()),
            Outcome::Measured(now_us) => now_us,
            Outcome::Failed if agent != case.agent => {
                return self.call_witness(case, Some(agent)).await;
            }
            Outcome::Failed => return self.end(case, IncidentState::Undecided, None).await,
        };
        let now = self.placement.clock.now();
        match (
            ControlProbe { agent, before_us }.cause(case.agent, case.ratio, now_us),
            &case.target,
        ) {
            (IncidentCause::Server, _) => {
                self.steps += 1;
                let store = &self.placement.store;
                incidents::forgive(store, case, now_us, &fresh(now)?, now).await?;
                self.placement.agent_wakeups.wake([case.agent]);
                Ok(())
            }
            (IncidentCause::Path, Some(_)) => {
                self.search(case, IncidentState::Searching, Some(now_us), &[]).await
            }
            (IncidentCause::Path, None) => {
                self.end(case, IncidentState::Undecided, Some(now_us)).await
            }
        }
    }

    /// Asks whoever can tell; after a control probe that could not, only the reporting agent itself is
    /// left.
    async fn call_witness(
        &mut self,
        case: &Incident,
        failed: Option<AgentId>,
    ) -> Result<(), anyhow::Error> {
        let measured = match failed {
            None => incidents::measured(&self.placement.store, case.delegation).await?,
            Some(_) => Vec::new(),
        };
        let ready = |agent| self.ready.contains(&agent);
        let control_probe = ControlProbe::choose(case.agent, case.before_us, &measured, ready);
        match (control_probe, &case.target) {
            (Some(ControlProbe { agent, before_us }), Some(_)) => {
                self.check(case, agent, Some(before_us)).await
            }
            // Somebody may be ready later.
            (None, Some(_)) if case.before_us.is_some() => Ok(()),
            _ => self.end(case, IncidentState::Undecided, None).await,
        }
    }

    /// A search goes on.
    async fn searching(&mut self, case: &Incident, holds: &Holds) -> Result<(), anyhow::Error> {
        if case.search.is_some_and(|(_, open)| open) {
            return Ok(());
        }
        let by_it = case.search.is_some_and(|(search, _)| holds.search == Some(search));
        match case.state {
            IncidentState::Searching if holds.agent == case.agent => {
                self.end(case, IncidentState::Stayed, None).await
            }
            IncidentState::Returning if holds.agent == case.agent => {
                self.end(case, IncidentState::Returned, None).await
            }
            _ if by_it || case.next_agent == Some(holds.agent) => self.went(case, holds).await,
            _ => self.end(case, IncidentState::Overtaken, None).await,
        }
    }

    /// Another agent has the subnet now; its former one is remembered.
    async fn went(&mut self, case: &Incident, holds: &Holds) -> Result<(), anyhow::Error> {
        self.steps += 1;
        let now = self.placement.clock.now();
        // Who got it by hand may never have measured it: it gets it back when it is nearer than the
        // present one.
        let before_us = case.before_us.unwrap_or(u32::MAX);
        let failback = serde_json::to_value(Failback::new(case.agent, before_us, now))?;
        Ok(incidents::went(&self.placement.store, case, holds, &failback, now).await?)
    }

    /// The former agent looks now and then whether its way is as before.
    async fn away(&mut self, case: &Incident, holds: &Holds) -> Result<(), anyhow::Error> {
        let Some(mut failback) = failback(case)? else {
            return self.end(case, IncidentState::Overtaken, None).await;
        };
        let (now, rest) = (self.placement.clock.now(), rest(&self.policy));
        let Some(awaited) = case.probe else {
            if failback.is_due(&rest, now) && self.ready.contains(&failback.former) {
                return self.check(case, failback.former, None).await;
            }
            return Ok(());
        };
        let probe_us = match awaited.outcome {
            Outcome::Pending => return Ok(()),
            Outcome::Measured(us) => us,
            Outcome::Failed => u32::MAX,
        };
        let factor = f64::from(self.policy.calibration.slowdown.percent) / 100.0;
        let present_us = holds.rtt_us.unwrap_or(u32::MAX);
        if failback.observe(&rest, factor, probe_us, present_us, now) {
            let seed = |agent, rtt_us| Seed { agent, rtt_us };
            let seeds = [seed(failback.former, probe_us), seed(holds.agent, present_us)];
            return self.search(case, IncidentState::Returning, None, &seeds).await;
        }
        let failback = serde_json::to_value(failback)?;
        Ok(incidents::remember(&self.placement.store, case, &failback, now).await?)
    }

    async fn check(
        &mut self,
        case: &Incident,
        agent: AgentId,
        witness_us: Option<u32>,
    ) -> Result<(), anyhow::Error> {
        let Some(target) = &case.target else {
            return self.end(case, IncidentState::Undecided, None).await;
        };
        let (store, now) = (&self.placement.store, self.placement.clock.now());
        incidents::check(store, case, agent, witness_us, target, now).await?;
        self.asked.insert(agent);
        self.steps += 1;
        Ok(())
    }

    async fn search(
        &mut self,
        case: &Incident,
        state: IncidentState,
        now_us: Option<u32>,
        seeds: &[Seed],
    ) -> Result<(), anyhow::Error> {
        let Some(target) = &case.target else {
            return self.end(case, IncidentState::Undecided, now_us).await;
        };
        let (store, now) = (&self.placement.store, self.placement.clock.now());
        let rules = (self.policy.strategy, self.policy.threshold_us);
        incidents::search(store, case, (state, now_us), target, seeds, rules, now).await?;
        self.placement.events.emit(Event::SearchReady);
        self.steps += 1;
        Ok(())
    }

    async fn end(
        &mut self,
        case: &Incident,
        state: IncidentState,
        now_us: Option<u32>,
    ) -> Result<(), anyhow::Error> {
        self.steps += 1;
        let now = self.placement.clock.now();
        Ok(incidents::end(&self.placement.store, case, (state, now_us), &fresh(now)?, now).await?)
    }

    /// AgentWakeups whoever was asked; how many steps were made.
    pub(crate) fn finish(self) -> u32 {
        self.placement.agent_wakeups.wake(self.asked);
        self.steps
    }
}

fn failback(case: &Incident) -> Result<Option<Failback>, serde_json::Error> {
    case.failback.clone().map(serde_json::from_value).transpose()
}
