//! Trust in one agent: its sequential tests and what follows from them.

use model::AgentId;
use serde::{Deserialize, Serialize};

use super::SequentialTest;
use super::judgement::Verdict;
use super::sequential_test::Shares;

/// Shares of contradicted reports on landmarks. Every agent measures every landmark, so that these
/// reports are a fair sample of what an agent reports.
const LANDMARKS: Shares = Shares { honest: 0.3, forged: 0.6 };

/// Shares of contradicted reports that won a search. An honest agent wins with its luckiest
/// measurements, and few witnesses judge them.
const WINS: Shares = Shares { honest: 0.4, forged: 0.8 };

/// Contradicted reports below which nothing is proved, whatever the tests say.
const MIN_CONTRADICTED: u32 = 8;

/// Other agents that must contradict an agent before it is paused: one of them may lie itself.
const MIN_WITNESSES: usize = 2;

/// What the coordinator keeps of one agent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Trust {
    /// Reports on landmarks.
    pub landmarks: SequentialTest,
    /// Reports with which the agent won a search, as far as others measured the same target.
    pub wins: SequentialTest,
    /// The first agents that contradicted it.
    contradicted_by: Vec<AgentId>,
    /// Whether it reported a time that is impossible whatever others measured.
    has_impossible: bool,
}

/// How much a report of an agent counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrustLevel {
    /// A sample of its wins is checked.
    Trusted,
    /// Every win is checked by two others until the reports on landmarks prove the agent honest,
    /// and its first win in any case. Implausible times are replaced by the least plausible ones.
    New,
    /// Others contradict too many reports: it takes no part in searches while others can. Where it
    /// does, every win is checked by three others.
    Doubted,
    /// Its reports are forged: it is paused.
    Forging,
}

impl Trust {
    /// Counts a report on a landmark.
    pub fn observe_landmark(&mut self, verdict: Verdict) {
        self.landmarks.observe(LANDMARKS, verdict != Verdict::Plausible);
        self.note(verdict);
    }

    /// Counts a report that was fastest in a search.
    pub fn observe_win(&mut self, verdict: Verdict) {
        self.wins.observe(WINS, verdict != Verdict::Plausible);
        self.note(verdict);
    }

    fn note(&mut self, verdict: Verdict) {
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

    /// Whether the reports on landmarks prove the agent honest, and nothing is held against it.
    pub fn is_accepted(&self) -> bool {
        self.landmarks.is_accepted && self.level() <= TrustLevel::New
    }

    /// How much the next report counts.
    pub fn level(&self) -> TrustLevel {
        let tests = [self.landmarks, self.wins];
        let is_forged =
            |test: &SequentialTest| test.is_forged() && test.contradicted >= MIN_CONTRADICTED;
        let has_witnesses = self.has_impossible || self.contradicted_by.len() >= MIN_WITNESSES;
        if has_witnesses && tests.iter().any(is_forged) {
            TrustLevel::Forging
        } else if tests.iter().any(|test| test.score > SequentialTest::limit() / 4.0) {
            TrustLevel::Doubted
        } else if self.wins.judged == 0 || !self.landmarks.is_accepted {
            TrustLevel::New
        } else {
            TrustLevel::Trusted
        }
    }
}
