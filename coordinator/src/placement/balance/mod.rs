//! Balance: no agent has more work than its capacity, at the lowest total cost (IPMicra III.F).
//!
//! 1. [`problem`] builds an instance of `delegation::balance` from delegations, measurements and
//!    constraints.
//! 2. [`receivers`] says which agents can take subnets now, and which can give some away.
//! 3. [`relieve`] moves subnets away from overloaded agents, by the rule of the policy.
//! 4. [`pass`] moves towards the cheapest plan, a limited number of subnets a day.
//! 5. [`execute_move`] makes one move and stores its reasons.
//!
//! The background task `balance_load` runs 3 and 4; an admin may request a pass or preview it.

pub mod execute_move;
pub mod pass;
pub mod problem;
pub mod receivers;
pub mod relieve;

/// Counts of what balance did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BalanceOutcome {
    pub moved: usize,
    /// Agents asked to confirm a predicted cost by a measurement, before anything moves to them.
    pub asked: usize,
}

impl BalanceOutcome {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { moved: self.moved + other.moved, asked: self.asked + other.asked }
    }
}
