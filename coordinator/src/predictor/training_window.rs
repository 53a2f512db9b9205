//! Training window: the searches with which the model was trained.
//!
//! Searches are taken in blocks, in the order of their decisions. A model knows the block that is
//! being filled and the full one before it. When the next block begins, a new model is made from
//! the newest full block. So a model that was trained search by search is the same as one that is
//! made after a restart.

use store::searches::DecidedPosition;

/// Searches of a block. Twice as many would hardly improve the predictions, and a new leader waits
/// for them.
pub(super) const BLOCK: u64 = 10_000;

/// With which searches a model was trained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TrainingWindow {
    /// The last search that was read.
    pub(super) last: DecidedPosition,
    /// Searches that were read.
    read: u64,
    /// The end of the first block, once it is full.
    first_full: Option<DecidedPosition>,
    block: u64,
}

impl TrainingWindow {
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
    pub(super) fn retrain_after(&self) -> Option<DecidedPosition> {
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
    fn read(mut window: TrainingWindow, from: u64, decided: u64) -> TrainingWindow {
        for number in from + 1..=decided {
            window.read(position(number));
        }
        match window.retrain_after() {
            Some(start) => {
                let from = start.decided_us as u64;
                read(TrainingWindow::after(start, window.block), from, decided)
            }
            None => window,
        }
    }

    #[test]
    fn a_restart_begins_with_the_same_search_as_a_model_that_goes_on() {
        const SMALL: u64 = 4;
        for step in 1..12 {
            let mut going_on = TrainingWindow::after(position(0), SMALL);
            let mut decided = 0;
            while decided < 60 {
                going_on = read(going_on, decided, decided + step);
                decided += step;
                let skipped = TrainingWindow::skipped(decided, SMALL);
                let restarted = TrainingWindow::after(position(skipped), SMALL);
                assert_eq!(going_on, read(restarted, skipped, decided), "{decided} by {step}");
                assert!(decided - skipped < 2 * SMALL);
            }
        }
    }
}
