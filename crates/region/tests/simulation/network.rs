//! The network between parties: delay, loss, duplication and cuts.

use std::collections::{BTreeMap, BTreeSet};

use region::Peer;

use crate::dice::Dice;

/// Cuts and losses as they are now.
#[derive(Debug)]
pub(crate) struct Network {
    /// Directed links that carry nothing, each with the number of faults that cut it.
    cut: BTreeMap<(Peer, Peer), u32>,
    pub(crate) loss_per_mille: u64,
}

impl Network {
    pub(crate) fn new(loss_per_mille: u64) -> Self {
        Self { cut: BTreeMap::new(), loss_per_mille }
    }

    /// Delays of the copies that arrive.
    pub(crate) fn send(&self, from: Peer, to: Peer, dice: &mut Dice) -> Vec<u64> {
        if self.cut.contains_key(&(from, to)) || dice.per_mille(self.loss_per_mille) {
            return Vec::new();
        }
        let copies = if dice.per_mille(20) { 2 } else { 1 };
        // Most messages are fast; some are overtaken by many others.
        let delay = |dice: &mut Dice| {
            let slow = dice.per_mille(30 + self.loss_per_mille);
            dice.between(5, if slow { 20_000 } else { 300 })
        };
        (0..copies).map(|_| delay(dice)).collect()
    }

    pub(crate) fn cut(&mut self, links: &BTreeSet<(Peer, Peer)>) {
        for link in links {
            *self.cut.entry(*link).or_default() += 1;
        }
    }

    pub(crate) fn join(&mut self, links: &BTreeSet<(Peer, Peer)>) {
        for link in links {
            if let Some(count) = self.cut.get_mut(link) {
                *count -= 1;
            }
        }
        self.cut.retain(|_, count| *count > 0);
    }
}
