//! Trust in one agent: what is held against it and what follows.

use std::collections::{BTreeMap, HashMap};

use model::AgentId;
use serde::{Deserialize, Serialize};

use super::home_reports::sample_log_ratio;
use super::judgement::{Judgement, Verdict};
use super::sequential_test::Shares;
use super::{HomeReports, SequentialTest};

/// Shares of contradicted reports that won a search. An honest agent wins with its luckiest
/// measurements, and few witnesses judge them.
const WINS: Shares = Shares { honest: 0.4, forged: 0.8 };

/// Contradicted reports below which nothing is proved, whatever the scores are.
const MIN_CONTRADICTED: usize = 8;

/// Reports on homes, shorter than any network stack can answer, that are enough without a witness.
const MIN_IMPOSSIBLE: usize = 3;

/// Examinations that are enough: the reports of an agent that is still doubted then are no fair
/// sample, such as those of an honest one whose route to one company is unusually short.
const MOST_EXAMINATIONS: u32 = 50;

/// Other agents that must contradict an agent before it is paused: one of them may lie itself.
const MIN_WITNESSES: usize = 2;

/// What the coordinator keeps of one agent: how its reports in searches were judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SearchReports {
    /// Reports with which the agent won a search, as far as others measured the same target.
    pub wins: SequentialTest,
    /// Reports on targets of others' searches, for which it was asked because it was doubted. They
    /// decide nothing. They are a fair sample like those on homes, and there are as many targets as
    /// searches.
    pub examinations: SequentialTest,
    /// The first agents that contradicted it.
    contradicted_by: Vec<AgentId>,
    /// Whether it reported a time that is impossible regardless of what others measured.
    has_impossible: bool,
}

/// Everything that says whether an agent is honest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trust {
    /// Its reports on the homes of others.
    pub homes: HomeReports,
    /// Its reports in searches.
    pub searches: SearchReports,
}

/// Why an agent was asked for a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReportKind {
    /// It was fastest in a search.
    Win,
    /// It was doubted.
    Examination,
}

/// How much a report of an agent counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustLevel {
    /// A sample of its wins is checked, and those that a single other agent contradicts.
    Trusted,
    /// Every win is checked by two others until the reports on homes prove the agent honest, and
    /// its first win in any case. Implausible times are replaced by the least plausible ones.
    New,
    /// Others contradict too many reports: it takes no part in searches while others can, but is
    /// asked for targets that others measured. Where it does, every win is checked by three others.
    Doubted,
    /// Its reports are forged: it is paused.
    Forging,
}

impl SearchReports {
    /// Counts a judged report.
    pub fn observe(&mut self, kind: ReportKind, judgement: &Judgement) {
        let is_contradicted = judgement.is_contradicted();
        match kind {
            ReportKind::Win => {
                self.wins.observe(WINS.log_ratio(is_contradicted), is_contradicted);
                self.wins.restart_if_honest();
            }
            ReportKind::Examination => {
                self.examinations.observe(sample_log_ratio(judgement), is_contradicted);
            }
        }
        match judgement.verdict() {
            Verdict::Plausible => {}
            Verdict::Impossible => self.has_impossible = true,
            Verdict::ContradictedBy(agent) => {
                let is_enough = self.contradicted_by.len() >= MIN_WITNESSES;
                if !is_enough && !self.contradicted_by.contains(&agent) {
                    self.contradicted_by.push(agent);
                }
            }
        }
    }

    fn contradicted(&self) -> usize {
        self.wins.contradicted as usize + self.examinations.contradicted as usize
    }
}

impl Trust {
    /// The trust in all agents that measured anything.
    pub fn of_all(
        homes: &BTreeMap<AgentId, HomeReports>,
        searches: HashMap<AgentId, SearchReports>,
    ) -> HashMap<AgentId, Self> {
        let of_homes = |(agent, homes): (&AgentId, &HomeReports)| {
            (*agent, Self { homes: homes.clone(), searches: SearchReports::default() })
        };
        let mut all: HashMap<AgentId, Self> = homes.iter().map(of_homes).collect();
        for (agent, searches) in searches {
            all.entry(agent).or_default().searches = searches;
        }
        all
    }

    /// Whether the reports on homes prove the agent honest, and nothing is held against it.
    pub fn is_accepted(&self) -> bool {
        self.homes.is_accepted && self.level() <= TrustLevel::New
    }

    /// How much the next report counts.
    pub fn level(&self) -> TrustLevel {
        let wins = &self.searches.wins;
        // Both are fair samples. What they say in favour of the agent does not excuse its wins.
        let sampled = self.homes.score + self.searches.examinations.score;
        let score = sampled.max(0.0) + wins.score.max(0.0);
        if score >= SequentialTest::limit() && self.is_proved() {
            TrustLevel::Forging
        } else if score > self.doubt_limit() {
            TrustLevel::Doubted
        } else if wins.judged == 0 || !self.homes.is_accepted {
            TrustLevel::New
        } else {
            TrustLevel::Trusted
        }
    }

    /// Whether the agent is doubted, and more reports may clear that up.
    pub fn needs_examination(&self) -> bool {
        let examined = self.searches.examinations.judged;
        self.level() == TrustLevel::Doubted && examined < MOST_EXAMINATIONS
    }

    /// Score from which the agent is doubted. A company's route may be unusually short for an
    /// honest agent, and each of its subnets is another contradicted win; a doubted agent wins
    /// nothing more that could excuse it. Reports on homes that prove it honest give it more room.
    fn doubt_limit(&self) -> f64 {
        let share = if self.homes.is_accepted { 0.5 } else { 0.25 };
        share * SequentialTest::limit()
    }

    /// Whether there are enough contradicted reports of enough witnesses.
    fn is_proved(&self) -> bool {
        let (mut witnesses, impossible) = self.homes.witnesses();
        witnesses.extend(&self.searches.contradicted_by);
        let has_witnesses = self.searches.has_impossible || witnesses.len() >= MIN_WITNESSES;
        let contradicted = self.homes.contradicted() + self.searches.contradicted();
        impossible >= MIN_IMPOSSIBLE || (has_witnesses && contradicted >= MIN_CONTRADICTED)
    }
}
