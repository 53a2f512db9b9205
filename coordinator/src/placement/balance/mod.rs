//! Nobody has more to do than it can, and the whole costs as little as it may (IPMicra III.F),
//! live.
//!
//! [`scene`] puts what is delegated, measured and allowed into an instance of
//! `delegation::balance`. [`relief`] takes subnets from agents that are over their capacity, by the
//! rule of the policy. [`pass`] moves towards the cheapest plan, a few subnets a day. [`carry_out`]
//! makes a move, with its reasons. The background task `balance` runs both; an admin may ask for a pass,
//! or for what it would do.

pub mod carry_out;
pub mod pass;
pub mod relief;
pub mod scene;

/// What was done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BalanceOutcome {
    /// Subnets moved.
    pub moved: usize,
    /// Agents asked to measure what was only predicted, before anything is moved there.
    pub asked: usize,
}

impl BalanceOutcome {
    /// Both together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { moved: self.moved + other.moved, asked: self.asked + other.asked }
    }
}
