//! Judgement of what an agent reported of the home addresses of other agents.
//!
//! These reports are a fair sample: every agent measures some homes, whether it is near or not.
//! They are judged again whenever times change, so that nothing has to be remembered.

use std::collections::{BTreeMap, BTreeSet};

use model::AgentId;

use super::sequential_test::Shares;
use super::{DETOUR, Judgement, LEAST_MS, ReferenceTimes, SLACK_MS, Verdict, WitnessTime};

/// Probability that a report is contradicted, if the agent is honest and if it forges, where both
/// agents of a pair measured each other. Input of Wald's test, as the three below.
const BOTH_WAYS: Shares = Shares { honest: 0.15, forged: 0.6 };
/// The same where only triangles tell, because the agent does not measure from its home address.
const TRIANGLES: Shares = Shares { honest: 0.3, forged: 0.6 };

/// Probability that a report is below half of the least plausible time, which almost never happens
/// to an honest agent.
const GROSS: Shares = Shares { honest: 0.02, forged: 0.3 };

/// Probability that a report is shorter than any network stack can answer.
const IMPOSSIBLE: Shares = Shares { honest: 0.002, forged: 0.9 };

/// Score from which an agent counts as honest: four reports both ways without a contradiction.
const HONEST_SCORE: f64 = -3.0;
/// Reports both ways that are enough where there are no more agents.
const ENOUGH: usize = 4;

/// What the reports of an agent on the homes of others say of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HomeReports {
    /// Logarithm of the likelihood of forged reports over that of honest ones.
    pub score: f64,
    /// The judged reports.
    pub judgements: Vec<Judgement>,
    /// Whether they prove the agent honest.
    pub is_accepted: bool,
}

impl HomeReports {
    /// Judges the reports of all agents.
    pub fn judge_all(references: &ReferenceTimes) -> BTreeMap<AgentId, Self> {
        references.agents().map(|agent| (agent, Self::judge(references, agent))).collect()
    }

    fn judge(references: &ReferenceTimes, agent: AgentId) -> Self {
        let mut judged = Self::default();
        let mut both_ways = 0;
        for (home, reported_ms) in references.reported_by(agent) {
            let direct = both_ways_judgement(references, (agent, home), reported_ms);
            let is_direct = direct.is_some();
            let triangles = || triangles_judgement(references, (agent, home), reported_ms);
            let Some(judgement) = direct.or_else(triangles) else { continue };
            judged.score += log_ratio(&judgement, is_direct);
            judged.judgements.push(judgement);
            both_ways += usize::from(is_direct);
        }
        let enough = ENOUGH.min(references.agents().count().saturating_sub(1)).max(1);
        let is_flawless = judged.contradicted() == 0 && both_ways >= enough;
        judged.is_accepted = is_flawless || judged.score <= HONEST_SCORE;
        judged
    }

    /// Number of reports that others contradict.
    pub fn contradicted(&self) -> usize {
        self.judgements.iter().filter(|judgement| judgement.is_contradicted()).count()
    }

    /// The agents that contradict a report, each once; and how many reports are impossible by
    /// themselves.
    pub(super) fn witnesses(&self) -> (BTreeSet<AgentId>, usize) {
        let mut witnesses = BTreeSet::new();
        let mut impossible = 0;
        for judgement in &self.judgements {
            match judgement.verdict() {
                Verdict::Plausible => {}
                Verdict::Impossible => impossible += 1,
                Verdict::ContradictedBy(agent) => {
                    witnesses.insert(agent);
                }
            }
        }
        (witnesses, impossible)
    }
}

/// [`log_ratio`] of a report of a fair sample that triangles judge.
pub(super) fn sample_log_ratio(judgement: &Judgement) -> f64 {
    log_ratio(judgement, false)
}

/// Logarithm of the likelihood of a forged report over that of an honest one.
fn log_ratio(judgement: &Judgement, is_direct: bool) -> f64 {
    if !judgement.is_informative() {
        return 0.0;
    }
    if judgement.verdict() == Verdict::Impossible {
        return IMPOSSIBLE.log_ratio(true);
    }
    if 2.0 * judgement.reported_ms < judgement.least_ms {
        return GROSS.log_ratio(true);
    }
    let shares = if is_direct { BOTH_WAYS } else { TRIANGLES };
    shares.log_ratio(judgement.is_contradicted())
}

/// Compares a report with what the other agent measured in the opposite direction.
fn both_ways_judgement(
    references: &ReferenceTimes,
    (agent, home): (AgentId, AgentId),
    reported_ms: f64,
) -> Option<Judgement> {
    if reported_ms < LEAST_MS {
        return Some(Judgement::impossible(reported_ms));
    }
    // An agent behind a satellite link measures more in its direction than others in theirs.
    let opposite_ms = references.home_ms(agent, home).filter(|_| !references.is_slow(home))?;
    Some(Judgement {
        reported_ms,
        least_ms: (opposite_ms / DETOUR - SLACK_MS).max(0.0),
        witness: Some(WitnessTime { agent: home, ms: opposite_ms }),
        apart_ms: Some(opposite_ms),
        witnesses: 1,
    })
}

/// Compares a report with what third agents measured to the same home.
fn triangles_judgement(
    references: &ReferenceTimes,
    (agent, home): (AgentId, AgentId),
    reported_ms: f64,
) -> Option<Judgement> {
    let thirds = references.agents().filter(|third| *third != agent && *third != home);
    let witnesses = thirds.filter_map(|third| {
        let ms = references.home_ms(home, third)?;
        let relation = references.relation_without(agent, third, Some(home));
        Some((WitnessTime { agent: third, ms }, relation))
    });
    Judgement::of(reported_ms, witnesses)
}
