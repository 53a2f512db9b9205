//! From what was measured to a full, symmetric matrix.
//!
//! *Symmetry.* A round trip goes there and back, so it is the same from either end; where two
//! measurements of one pair differ (half of the 2018 pairs by less than 0.3 ms, one in a hundred by
//! more than 100 ms) the difference is load at one of the two machines, and the smaller is nearer
//! to the network's truth. The matrix therefore holds the smaller of the two.
//!
//! *Gaps.* A pair measured one way only takes that value (*mirrored*). A pair measured neither way
//! takes the cheapest detour over a third place (*bridged*), an upper bound of what routing would
//! find. What still has no value is infinite (*unknown*): no probe gets through. All three are
//! counted.

/// How many unordered pairs of cities were not measured both ways, and what became of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gaps {
    /// Measured one way only; that value serves both.
    pub mirrored: usize,
    /// Measured neither way; the cheapest detour over one other city stands in.
    pub bridged: usize,
    /// No value at all: infinitely far.
    pub unknown: usize,
}

/// Round trip inside one place: a metropolitan network and two switches, in milliseconds.
pub(crate) const SAME_PLACE_MS: f64 = 1.0;

/// Measured round trips in milliseconds, `side × side`, row = who measured. Empty where nobody did.
#[derive(Debug, Clone)]
pub(crate) struct PartialMatrix {
    side: usize,
    measured: Vec<Option<f64>>,
}

impl PartialMatrix {
    /// Nothing measured yet among `side` places.
    pub(crate) fn new(side: usize) -> Self {
        Self { side, measured: vec![None; side * side] }
    }

    /// Notes a measurement. What cannot be a round trip (not finite, zero or less: the usual marks
    /// for "no answer" in published matrices) and the diagonal count as not measured.
    pub(crate) fn set(&mut self, from: usize, to: usize, ms: f64) {
        if ms.is_finite() && ms > 0.0 && from != to {
            self.measured[from * self.side + to] = Some(ms);
        }
    }

    /// The symmetric matrix, row by row, and how many unordered pairs needed which repair.
    pub(crate) fn complete(&self) -> (Vec<f64>, Gaps) {
        let (direct, mirrored) = self.symmetric();
        let mut full = direct.clone();
        let mut gaps = Gaps { mirrored, ..Gaps::default() };
        for (a, b) in pairs(self.side) {
            if direct[a * self.side + b].is_finite() {
                continue;
            }
            let detour = cheapest_detour(&direct, self.side, a, b);
            full[a * self.side + b] = detour;
            full[b * self.side + a] = detour;
            if detour.is_finite() {
                gaps.bridged += 1;
            } else {
                gaps.unknown += 1;
            }
        }
        (full, gaps)
    }

    fn symmetric(&self) -> (Vec<f64>, usize) {
        let mut mirrored = 0;
        let mut direct = vec![f64::INFINITY; self.side * self.side];
        for (a, b) in pairs(self.side) {
            let there = self.measured[a * self.side + b];
            let back = self.measured[b * self.side + a];
            mirrored += usize::from(there.is_some() != back.is_some());
            let ms = there.unwrap_or(f64::INFINITY).min(back.unwrap_or(f64::INFINITY));
            direct[a * self.side + b] = ms;
            direct[b * self.side + a] = ms;
        }
        for place in 0..self.side {
            direct[place * self.side + place] = SAME_PLACE_MS;
        }
        (direct, mirrored)
    }
}

fn pairs(side: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..side).flat_map(move |a| (a + 1..side).map(move |b| (a, b)))
}

fn cheapest_detour(direct: &[f64], side: usize, a: usize, b: usize) -> f64 {
    let legs = direct[a * side..][..side].iter().zip(&direct[b * side..][..side]);
    legs.map(|(one, other)| one + other).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agent_costs(side: usize, measured: &[(usize, usize, f64)]) -> PartialMatrix {
        let mut costs = PartialMatrix::new(side);
        for &(from, to, ms) in measured {
            costs.set(from, to, ms);
        }
        costs
    }

    #[test]
    fn the_smaller_direction_counts_both_ways() {
        let (full, gaps) = agent_costs(2, &[(0, 1, 30.0), (1, 0, 20.0)]).complete();
        assert_eq!(full, [SAME_PLACE_MS, 20.0, 20.0, SAME_PLACE_MS]);
        assert_eq!(gaps, Gaps::default());
    }

    #[test]
    fn one_way_is_mirrored_and_no_way_is_bridged() {
        let (full, gaps) = agent_costs(3, &[(0, 1, 30.0), (1, 2, 20.0), (2, 1, 20.0)]).complete();
        assert_eq!(full[2].to_bits(), 50.0_f64.to_bits());
        assert_eq!(gaps, Gaps { mirrored: 1, bridged: 1, unknown: 0 });
    }

    #[test]
    fn an_island_stays_unknown() {
        let (full, gaps) = agent_costs(3, &[(0, 1, 30.0)]).complete();
        assert!(full[2].is_infinite());
        assert_eq!(gaps, Gaps { mirrored: 1, bridged: 0, unknown: 2 });
    }

    #[test]
    fn marks_for_no_answer_are_not_round_trips() {
        let (_, gaps) = agent_costs(2, &[(0, 1, -1.0), (1, 0, f64::NAN), (0, 1, 0.0)]).complete();
        assert_eq!(gaps.unknown, 1);
    }
}
