//! A subnet changes its agent, and why not otherwise.

use super::{AgentCost, AssignmentProblem, CostSource};

/// A subnet changes its agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Which.
    pub subnet: usize,
    /// The agent that had it.
    pub from: usize,
    /// The agent that gets it.
    pub to: usize,
    /// What it costs where it is, in milliseconds a day; `None` when that is not known.
    pub before: Option<f64>,
    /// What it will cost.
    pub after: f64,
    /// How `after` is known: where it is predicted, a probe shall confirm it first.
    pub source: CostSource,
    /// Moves with the same number belong together: one makes the room that another takes. They are
    /// carried out in the order in which they are listed.
    pub batch: usize,
    /// What was not done instead, the cheapest first; the first few.
    pub refused: Vec<Alternative>,
}

/// An alternative that was not taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternative {
    /// The subnet that would have moved: the one that does, or another one of the same agent.
    pub subnet: usize,
    /// Where to; the agent that has it now for "leave it".
    pub agent: usize,
    /// What it would have cost there, in milliseconds a day.
    pub cost: f64,
    /// Why not.
    pub why: RefusalReason,
}

/// Why an alternative was not taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RefusalReason {
    /// The agent has room for this many pages a day, which is too little.
    Full {
        /// Pages a day.
        room: u64,
    },
    /// There it would have cost this much more than what was done, in milliseconds a day.
    Dearer {
        /// Milliseconds a day.
        by: f64,
    },
    /// There would be room, but other subnets save more with it.
    WorthMore,
    /// It would have cost less, but its times vary more, and the rule goes by that.
    Varies,
}

impl Move {
    /// What the move costs more, in milliseconds a day; negative when it saves time.
    pub fn extra(&self) -> f64 {
        self.after - self.before.unwrap_or(self.after)
    }

    pub(super) fn new(
        instance: &AssignmentProblem,
        subnet: usize,
        from: usize,
        cell: &AgentCost,
    ) -> Self {
        let before = instance.cost(subnet, from);
        let (to, after, source) = (cell.index(), cell.cost, cell.source);
        Self { subnet, from, to, before, after, source, batch: 0, refused: Vec::new() }
    }
}

/// Alternative alternatives that a move remembers.
pub(super) const REMEMBERED: usize = 8;
