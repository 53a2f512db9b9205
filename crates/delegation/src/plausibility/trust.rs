//! Trust in one agent: what is held against it and what follows.

use std::collections::{BTreeMap, HashMap};

use model::AgentId;
use serde::{Deserialize, Serialize};

use super::judgement::Verdict;
use super::sequential_test::Shares;
use super::{HomeReports, SequentialTest};

/// Shares of contradicted reports that won a search. An honest agent wins with its luckiest
/// measurements, and few witnesses judge them.
const WINS: Shares = Shares { honest: 0.4, forged: 0.8 };

/// Contradicted reports below which nothing is proved, whatever the scores say.
const MIN_CONTRADICTED: usize = 8;

/// Reports on homes that no network stack reaches, which are enough without a witness.
const MIN_IMPOSSIBLE: usize = 3;

/// Other agents that must contradict an agent before it is paused: one of them may lie itself.
const MIN_WITNESSES: usize = 2;

/// What the coordinator keeps of one agent: how the reports with which it won searches were judged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Wins {
    /// Reports with which the agent won a search, as far as others measured the same target.
    pub wins: SequentialTest,
    /// The first agents that contradicted it.
    contradicted_by: Vec<AgentId>,
    /// Whether it reported a time that is impossible whatever others measured.
    has_impossible: bool,
}

/// Everything that says whether an agent is honest.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trust {
    /// Its reports on the homes of others.
    pub homes: HomeReports,
    pub wins: Wins,
}

/// How much a report of an agent counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustLevel {
    /// A sample of its wins is checked.
    Trusted,
    /// Every win is checked by two others until the reports on homes prove the agent honest, and
    /// its first win in any case. Implausible times are replaced by the least plausible ones.
    New,
    /// Others contradict too many reports: it takes no part in searches while others can. Where it
    /// does, every win is checked by three others.
    Doubted,
    /// Its reports are forged: it is paused.
    Forging,
}

impl Wins {
    /// Counts a report that was fastest in a search.
    pub fn observe(&mut self, verdict: Verdict) {
        self.wins.observe(WINS, verdict != Verdict::Plausible);
        match verdict {
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
}

impl Trust {
    /// The trust in all agents that measured anything.
    pub fn of_all(
        homes: &BTreeMap<AgentId, HomeReports>,
        wins: HashMap<AgentId, Wins>,
    ) -> HashMap<AgentId, Self> {
        let of_homes = |(agent, homes): (&AgentId, &HomeReports)| {
            (*agent, Self { homes: homes.clone(), wins: Wins::default() })
        };
        let mut all: HashMap<AgentId, Self> = homes.iter().map(of_homes).collect();
        for (agent, wins) in wins {
            all.entry(agent).or_default().wins = wins;
        }
        all
    }

    /// Whether the reports on homes prove the agent honest, and nothing is held against it.
    pub fn is_accepted(&self) -> bool {
        self.homes.is_accepted && self.level() <= TrustLevel::New
    }

    /// How much the next report counts.
    pub fn level(&self) -> TrustLevel {
        let wins = &self.wins.wins;
        // What speaks for the agent in one kind of reports does not excuse the other kind.
        let score = self.homes.score.max(0.0) + wins.score.max(0.0);
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
        witnesses.extend(&self.wins.contradicted_by);
        let has_witnesses = self.wins.has_impossible || witnesses.len() >= MIN_WITNESSES;
        let contradicted = self.homes.contradicted() + self.wins.wins.contradicted as usize;
        impossible >= MIN_IMPOSSIBLE || (has_witnesses && contradicted >= MIN_CONTRADICTED)
    }
}
