//! Moves of subnets between agents, with the alternatives that were refused.

use super::{AgentCost, AssignmentProblem, CostSource};

/// A change of a subnet's agent; subnets and agents by their numbers in the problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Number of the subnet.
    pub subnet: usize,
    /// The agent that releases it.
    pub from: usize,
    /// The agent that gets it.
    pub to: usize,
    /// Cost at `from`, in milliseconds a day; `None` when it is not known.
    pub before: Option<f64>,
    /// Cost at `to`, in milliseconds a day.
    pub after: f64,
    /// How `after` is known: where it is predicted, a probe must confirm it first.
    pub source: CostSource,
    /// Moves with the same number belong together: one makes the room that another takes. They are
    /// carried out in the order in which they are listed.
    pub batch: usize,
    /// The cheapest alternatives that were refused, at most [`MAX_ALTERNATIVES`].
    pub refused: Vec<Alternative>,
}

/// A move that was not made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alternative {
    /// The subnet that would have moved: the one that does, or another one of the same agent.
    pub subnet: usize,
    /// The agent that would have got it; its present agent for "no move".
    pub agent: usize,
    /// Cost there, in milliseconds a day.
    pub cost: f64,
    /// Why it was refused.
    pub why: RefusalReason,
}

/// Why an alternative was refused.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RefusalReason {
    /// The agent has too little room.
    Full {
        /// Pages a day of room that it has.
        room: u64,
    },
    /// It would have cost more than the move that was made.
    Dearer {
        /// Milliseconds a day more.
        by: f64,
    },
    /// There is room, but other subnets save more with it.
    WorthMore,
    /// It would have cost less, but its times vary more, and the rule goes by variance.
    Varies,
}

/// Refused alternatives that a move lists.
pub(super) const MAX_ALTERNATIVES: usize = 8;

impl Move {
    /// Milliseconds a day that the move adds to the total cost; negative when it saves time.
    pub fn added_cost(&self) -> f64 {
        self.after - self.before.unwrap_or(self.after)
    }

    pub(super) fn new(
        problem: &AssignmentProblem,
        subnet: usize,
        from: usize,
        target: &AgentCost,
    ) -> Self {
        Self {
            subnet,
            from,
            to: target.index(),
            before: problem.cost(subnet, from),
            after: target.cost,
            source: target.source,
            batch: 0,
            refused: Vec::new(),
        }
    }
}
