//! Review of a search: implausible times are replaced, and a decision may need a control probe, or
//! examine a doubted agent.

use std::collections::HashMap;

use model::{AgentId, Phase};

use super::{Judgement, LEAST_MS, ReferenceTimes, ReportKind, Trust, TrustLevel, WitnessTime};
use crate::{AvailableAgents, Candidate, ProbeOutcome, Search, Step, TrailProbe};

/// A report of a decided search, with its judgement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedReport {
    pub agent: AgentId,
    pub kind: ReportKind,
    pub judgement: Judgement,
}

/// Agents by the part that they take in searches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Admission {
    /// Those that searches may ask and choose.
    pub admitted: AvailableAgents,
    /// Doubted ones, which searches only examine.
    pub suspects: AvailableAgents,
}

/// What is known of the agents of a search.
#[derive(Debug, Clone, Copy)]
pub struct Review<'a> {
    pub references: &'a ReferenceTimes,
    pub trust: &'a HashMap<AgentId, Trust>,
    /// Share of the decided searches of trusted agents that are checked by a second agent; 0 to 1.
    /// With 0 no agent is checked, trusted or not.
    pub control_share: f64,
}

impl Review<'_> {
    /// Sets doubted agents aside. While these are more than half of all, every agent takes part.
    pub fn admit(&self, agents: &AvailableAgents) -> Admission {
        let is_doubted = |agent: &AgentId| self.level(*agent) >= TrustLevel::Doubted;
        let doubted: Vec<AgentId> = agents.agents().filter(is_doubted).collect();
        let mut admitted = agents.clone();
        if 2 * doubted.len() > agents.agents().count() {
            return Admission { admitted, suspects: AvailableAgents::default() };
        }
        for agent in &doubted {
            admitted.remove(*agent);
        }
        let suspects = doubted.into_iter();
        let suspects = suspects.filter_map(|agent| Some((agent, agents.availability(agent)?)));
        Admission { admitted, suspects: suspects.collect() }
    }

    /// The trail as the search sees it. It leaves out reports shorter than any network stack can
    /// answer, and those of examined agents. It raises reports of agents that are not trusted to
    /// the least plausible time.
    pub fn credible_trail(&self, trail: &[TrailProbe]) -> Vec<TrailProbe> {
        trail
            .iter()
            .map(|probe| {
                let ProbeOutcome::Measured { rtt_us } = probe.outcome else { return *probe };
                if f64::from(rtt_us) < LEAST_MS * 1000.0 || self.is_examination(probe) {
                    return TrailProbe { outcome: ProbeOutcome::Unreachable, ..*probe };
                }
                if self.level(probe.agent) == TrustLevel::Trusted {
                    return *probe;
                }
                // If two agents contradict each other, it is unknown which of them is wrong.
                let judgement = self.judge(probe.agent, trail).filter(|found| found.witnesses > 1);
                let least_us = judgement.map_or(0, |found| (found.least_ms * 1000.0).ceil() as u32);
                let rtt_us = rtt_us.max(least_us);
                TrailProbe { outcome: ProbeOutcome::Measured { rtt_us }, ..*probe }
            })
            .collect()
    }

    /// The judgement of what `agent` measured, by the other probes of the trail.
    pub fn judge(&self, agent: AgentId, trail: &[TrailProbe]) -> Option<Judgement> {
        let reported = trail.iter().filter_map(witness_time).find(|time| time.agent == agent)?;
        self.judge_time(reported, trail)
    }

    fn judge_time(&self, reported: WitnessTime, trail: &[TrailProbe]) -> Option<Judgement> {
        let agent = reported.agent;
        let others = trail.iter().filter(|probe| probe.agent != agent);
        let witnesses = others.filter(|probe| !self.is_examination(probe)).filter_map(witness_time);
        let related = witnesses.map(|time| (time, self.references.relation(agent, time.agent)));
        Judgement::of(reported.ms, related)
    }

    /// The judgements of a decided search: that of the agent with the shortest time, even if the
    /// search replaced it, and that of an examined agent. Empty if no witness measured anything.
    pub fn judge_decided(&self, trail: &[TrailProbe]) -> Vec<JudgedReport> {
        let judged = |kind, agent| {
            let judgement = self.judge(agent, trail)?;
            Some(JudgedReport { agent, kind, judgement })
        };
        let (examined, others): (Vec<TrailProbe>, Vec<TrailProbe>) =
            trail.iter().partition(|probe| self.is_examination(probe));
        let times = others.iter().filter_map(witness_time);
        let fastest = times.min_by(|a, b| a.ms.total_cmp(&b.ms));
        let win = fastest.and_then(|fastest| judged(ReportKind::Win, fastest.agent));
        let examined =
            examined.iter().filter_map(|probe| judged(ReportKind::Examination, probe.agent));
        win.into_iter().chain(examined).collect()
    }

    /// The step that is taken instead of `step`: a decision for an agent whose report needs a
    /// witness asks the first ready agent of `order` that was not asked yet. `draw` is uniform in
    /// [0, 1) and the same at every step of the search.
    pub fn confirm(
        &self,
        step: Step,
        search: &Search<'_>,
        agents: &AvailableAgents,
        draw: f64,
        mut order: impl Iterator<Item = AgentId>,
    ) -> Step {
        // A provisional decision does not wait: its search goes on.
        let Step::Decide { agent, provisional: false, .. } = step else { return step };
        if self.control_share == 0.0 {
            return step;
        }
        let needed = match self.level(agent) {
            TrustLevel::Trusted => usize::from(draw < self.control_share),
            TrustLevel::New => 2,
            TrustLevel::Doubted | TrustLevel::Forging => 3,
        };
        let others = search.trail.iter().filter(|probe| probe.agent != agent);
        let pending = others
            .clone()
            .any(|probe| probe.phase == Phase::Control && probe.outcome == ProbeOutcome::Pending);
        if pending {
            return Step::Wait;
        }
        let is_known = others.filter_map(witness_time).count() >= needed;
        if is_known && !self.is_contradicted_by_one(agent, search.trail) {
            return step;
        }
        // A measurement that is no bound for the report would be a wasted probe.
        let control = order.find(|other| {
            agents.is_ready(*other)
                && !search.has_asked(*other)
                && self.level(*other) < TrustLevel::Doubted
                && self.is_witness(agent, *other)
        });
        control.map_or(step, |agent| ask_control(search, agent))
    }

    /// Whether only one other agent can judge the report, and contradicts it: its own route to the
    /// target may be a detour, to all targets of a region, so that a second one must say which of
    /// the two is wrong.
    fn is_contradicted_by_one(&self, agent: AgentId, trail: &[TrailProbe]) -> bool {
        let judgement = self.judge(agent, trail);
        judgement.is_some_and(|found| found.witnesses == 1 && found.is_contradicted())
    }

    /// The step that is taken instead of `step`: a decided search asks a doubted agent first for
    /// which the trail is a good test, one in each search. Without it such an agent would never win
    /// again, and nothing more could be found for or against it.
    pub fn examine(&self, step: Step, search: &Search<'_>, suspects: &AvailableAgents) -> Step {
        let Step::Decide { provisional: false, .. } = step else { return step };
        if self.control_share == 0.0 {
            return step;
        }
        if let Some(probe) = search.trail.iter().find(|probe| self.is_examination(probe)) {
            return if probe.outcome == ProbeOutcome::Pending { Step::Wait } else { step };
        }
        let needs = |agent| self.trust.get(&agent).is_some_and(Trust::needs_examination);
        let suspect = suspects.agents().find(|agent| {
            suspects.is_ready(*agent)
                && needs(*agent)
                && !search.has_asked(*agent)
                && self.can_test(*agent, search.trail)
        });
        suspect.map_or(step, |agent| ask_control(search, agent))
    }

    /// Whether two others measured the target, so that a forged report of the agent would probably
    /// be contradicted.
    fn can_test(&self, agent: AgentId, trail: &[TrailProbe]) -> bool {
        let longest = WitnessTime { agent, ms: f64::INFINITY };
        let judgement = self.judge_time(longest, trail);
        judgement.is_some_and(|found| found.witnesses > 1 && found.is_informative())
    }

    /// Whether the probe is the examination of an agent, from which nothing else follows.
    fn is_examination(&self, probe: &TrailProbe) -> bool {
        probe.phase == Phase::Control && self.level(probe.agent) >= TrustLevel::Doubted
    }

    fn is_witness(&self, agent: AgentId, other: AgentId) -> bool {
        let relation = self.references.relation(agent, other);
        agent != other && (relation.path_ms.is_some() || relation.home_ms.is_some())
    }

    fn level(&self, agent: AgentId) -> TrustLevel {
        self.trust.get(&agent).map_or(TrustLevel::New, Trust::level)
    }
}

fn ask_control(search: &Search<'_>, agent: AgentId) -> Step {
    Step::Ask(Candidate { agent, phase: Phase::Control, level: search.subnet })
}

fn witness_time(probe: &TrailProbe) -> Option<WitnessTime> {
    Some(WitnessTime { agent: probe.agent, ms: probe.rtt_ms()? })
}
