//! Loans: the coordinator lends a region its hosts for a term.
//!
//! Until the last loan has ended, the coordinator gives no host of the region to an agent outside,
//! whether or not it hears from the region. An agent fetches only under a loan, so that hosts can
//! return to the coordinator even if the region cannot be reached. Leases decide *which* agent of
//! the region fetches.

use crate::time::{Drift, Millis};

/// The coordinator's part: the loan of one region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lender {
    term_ms: u64,
    drift: Drift,
    until: Millis,
}

impl Lender {
    /// Lends for `term_ms` at a time. `until` is when the last loan ends, as it was stored; without
    /// any record of it, a whole term from now.
    pub fn new(term_ms: u64, drift: Drift, until: Millis) -> Self {
        Self { term_ms, drift, until }
    }

    /// Lends to an agent of the region that asks now. [`Lender::until`] must be stored before the
    /// answer is sent.
    pub fn lend(&mut self, now: Millis) -> u64 {
        self.until = self.until.max(now.plus(self.drift.at_least(self.term_ms)));
        self.term_ms
    }

    /// When the last loan ends.
    pub fn until(&self) -> Millis {
        self.until
    }

    /// Whether hosts of the region may go to others.
    pub fn may_give_away(&self, now: Millis) -> bool {
        now >= self.until
    }
}

/// The agent's part: until when its region may fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Borrower {
    drift: Drift,
    until: Millis,
}

impl Borrower {
    /// A borrower with the end that it stored last; [`Millis`] 0 without any.
    pub fn new(drift: Drift, until: Millis) -> Self {
        Self { drift, until }
    }

    /// The coordinator answered, with a loan, a request that was sent at `asked`.
    pub fn lent(&mut self, term_ms: u64, asked: Millis) {
        self.until = self.until.max(asked.plus(self.drift.at_most(term_ms)));
    }

    /// When the loan ends.
    pub fn until(&self) -> Millis {
        self.until
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_borrower_stops_before_the_lender_gives_away() {
        let drift = Drift { ppm: 1_000 };
        let mut lender = Lender::new(1_000_000, drift, Millis(0));
        let mut borrower = Borrower::new(drift, Millis(0));
        // The clocks have nothing in common, and the answer takes 500 ms.
        let term = lender.lend(Millis(7_000_500));
        borrower.lent(term, Millis(0));
        assert_eq!(borrower.until(), Millis(999_000));
        assert!(!lender.may_give_away(Millis(8_001_499)));
        assert!(lender.may_give_away(Millis(8_001_500)));
        // An older answer does not shorten the loan.
        borrower.lent(10, Millis(5));
        assert_eq!(borrower.until(), Millis(999_000));
    }
}
