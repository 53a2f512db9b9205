//! How far the model was taught, and with which search it began.
//!
//! Searches are taught in blocks, in the order of their decisions. A model knows the block that is
//! being filled and the full one before it. When the next block begins, a new model is made from
//! the newest full block. So a model that was taught search by search is the same as one that is
//! made after a restart.

use store::searches::DecidedPosition;

/// Searches of a block. Twice as many would hardly improve the predictions, and a new leader waits
/// for them.
pub(super) const BLOCK: u64 = 10_000;

/// What a model was taught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TaughtBlocks {
    /// The last search that was read.
    pub(super) last: DecidedPosition,
    /// Searches that were read.
    read: u64,
    /// The end of the first block, once it is full.
    first_full: Option<DecidedPosition>,
    block: u64,
}

impl TaughtBlocks {
    /// Nothing yet; the first search is the one after `start`.
    pub(super) fn after(start: DecidedPosition, block: u64) -> Self {
        Self { last: start, read: 0, first_full: None, block }
    }

    /// How many of the oldest searches a restart skips when this many are over.
    pub(super) fn skipped(decided: u64, block: u64) -> u64 {
        (decided / block).saturating_sub(1) * block
    }

    /// Counts a search that was read.
    pub(super) fn read(&mut self, position: DecidedPosition) {
        self.last = position;
        self.read += 1;
        if self.read == self.block {
            self.first_full = Some(position);
        }
    }

    /// Where the model must begin again, when two blocks are full.
    pub(super) fn begins_anew_after(&self) -> Option<DecidedPosition> {
        self.first_full.filter(|_| self.read >= 2 * self.block)
    }
}

#[cfg(test)]
mod tests {
    use model::SearchId;

    use super::*;

    fn position(number: u64) -> DecidedPosition {
        DecidedPosition {
            decided_us: number.cast_signed(),
            search: SearchId::new(number.cast_signed()),
        }
    }

    /// Reads the searches after `start` up to `decided`, beginning again where that is due.
    fn read(mut taught: TaughtBlocks, from: u64, decided: u64) -> TaughtBlocks {
        for number in from + 1..=decided {
            taught.read(position(number));
        }
        match taught.begins_anew_after() {
            Some(start) => {
                let from = start.decided_us as u64;
                read(TaughtBlocks::after(start, taught.block), from, decided)
            }
            None => taught,
        }
    }

    #[test]
    fn a_restart_begins_with_the_same_search_as_a_model_that_goes_on() {
        const SMALL: u64 = 4;
        for step in 1..12 {
            let mut going_on = TaughtBlocks::after(position(0), SMALL);
            let mut decided = 0;
            while decided < 60 {
                going_on = read(going_on, decided, decided + step);
                decided += step;
                let skipped = TaughtBlocks::skipped(decided, SMALL);
                let restarted = TaughtBlocks::after(position(skipped), SMALL);
                assert_eq!(going_on, read(restarted, skipped, decided), "{decided} by {step}");
                assert!(decided - skipped < 2 * SMALL);
            }
        }
    }
}
