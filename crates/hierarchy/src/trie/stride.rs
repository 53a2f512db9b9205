//! Into how many slots or blocks a stretch is best cut.
//!
//! More of them take memory, fewer send more heads to a second read. What each stride would cost is
//! counted in one pass over the segments for the finest, for slots as one bit each; every coarser
//! one follows from the next finer by looking at pairs.

use super::block::STARTS;
use super::build::Segment;

/// A node has at most so many slots or blocks, as a power of two.
const MOST_STRIDE: u32 = 16;

/// Into how many slots, as a power of two, to cut the `1 << span` heads from an offset on. A slot's
/// worth of memory may be spent `worth` times over if that spares all heads a second read.
pub(super) fn stride(worth: usize, from: u64, span: u32, segments: &[Segment]) -> u32 {
    let most = (worth + 1).ilog2().min(span).min(MOST_STRIDE);
    // With far fewer slots than segments nearly all have several.
    let few = segments.len().checked_ilog2().unwrap_or(0).saturating_sub(3).min(most);
    let mut marks = Marks::new(from, span - most, most, segments);
    let mut best = (usize::MAX, most);
    for bits in (few..=most).rev() {
        let cost = (1 << bits) + ((worth * marks.several()) >> bits);
        best = best.min((cost, bits));
        marks.pair();
    }
    best.1
}

/// Into how many blocks, as a power of two, to cut the `1 << span` heads from an offset on. Up to
/// `worth` blocks may be spent if that spares all of the heads a second read.
pub(super) fn block_stride(worth: usize, from: u64, span: u32, segments: &[Segment]) -> u32 {
    let most = (worth + 1).ilog2().min(span).min(MOST_STRIDE);
    let mut starts = vec![0_usize; 1 << most];
    for (at, _) in segments {
        starts[((at - from) >> (span - most)) as usize] += 1;
    }
    let mut best = (usize::MAX, most);
    for bits in (0..=most).rev() {
        let crowded = starts.iter().filter(|starts| **starts > STARTS).count();
        best = best.min(((1 << bits) + ((worth * crowded) >> bits), bits));
        starts = starts.chunks(2).map(|pair| pair.iter().sum()).collect();
    }
    best.1
}

/// One bit for each slot, the first in the lowest.
struct Marks {
    /// Some segment starts in it, but not at its beginning.
    inside: Vec<u64>,
    /// A segment starts at its beginning.
    begins: Vec<u64>,
}

impl Marks {
    fn new(from: u64, shift: u32, bits: u32, segments: &[Segment]) -> Self {
        let words = (1_usize << bits).div_ceil(u64::BITS as usize);
        let (mut inside, mut begins) = (vec![0; words], vec![0; words]);
        for (at, _) in segments {
            let offset = at - from;
            let slot = offset >> shift;
            let marks = if slot << shift == offset { &mut begins } else { &mut inside };
            marks[(slot / u64::from(u64::BITS)) as usize] |= 1 << (slot % u64::from(u64::BITS));
        }
        Self { inside, begins }
    }

    /// How many slots have no single owner.
    fn several(&self) -> usize {
        self.inside.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Makes one slot of every two.
    fn pair(&mut self) {
        for (inside, begins) in self.inside.iter_mut().zip(&mut self.begins) {
            *inside |= (*inside >> 1) | (*begins >> 1);
        }
        halve(&mut self.inside);
        halve(&mut self.begins);
    }
}

/// Keeps every second bit, from the first on.
fn halve(words: &mut Vec<u64>) {
    let half = words.len().div_ceil(2);
    for word in 0..half {
        let upper = words.get(2 * word + 1).map_or(0, |upper| even(*upper));
        words[word] = even(words[2 * word]) | upper << (u64::BITS / 2);
    }
    words.truncate(half);
}

/// The bits in even places, next to each other: an unshuffle (Warren, Hacker's Delight, section
/// 7-2).
fn even(word: u64) -> u64 {
    let word = word & 0x5555_5555_5555_5555;
    let word = (word | word >> 1) & 0x3333_3333_3333_3333;
    let word = (word | word >> 2) & 0x0f0f_0f0f_0f0f_0f0f;
    let word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
    let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
    (word | word >> 16) & 0x0000_0000_ffff_ffff
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Where it begins, how many heads it spans as a power of two, and what starts in it.
    fn stretch() -> impl Strategy<Value = (u64, u32, Vec<Segment>)> {
        (0_u64..1 << 40, 0_u32..=24).prop_flat_map(|(from, span)| {
            let starts = prop::collection::btree_set(from..from + (1_u64 << span), 0..300);
            (
                Just(from),
                Just(span),
                starts.prop_map(|starts| starts.into_iter().map(|at| (at, 0)).collect()),
            )
        })
    }

    /// Slots of this stride that have a segment start elsewhere than at their beginning.
    fn several(from: u64, shift: u32, segments: &[Segment]) -> usize {
        let inside = segments
            .iter()
            .map(|(at, _)| at - from)
            .filter(|offset| offset >> shift << shift != *offset);
        inside.map(|offset| offset >> shift).collect::<BTreeSet<_>>().len()
    }

    proptest! {
        #[test]
        fn the_cheapest_stride_is_taken(
            worth in 0_usize..5_000,
            (from, span, segments) in stretch(),
        ) {
            let chosen = stride(worth, from, span, &segments);
            let cost = |bits: u32| (1_usize << bits) + ((worth * several(from, span - bits, &segments)) >> bits);
            let most = (worth + 1).ilog2().min(span).min(MOST_STRIDE);
            let few = segments.len().checked_ilog2().unwrap_or(0).saturating_sub(3).min(most);
            prop_assert_eq!(Some(chosen), (few..=most).min_by_key(|bits| cost(*bits)));
        }

        #[test]
        fn the_cheapest_stride_of_blocks_is_taken(
            worth in 0_usize..500,
            (from, span, segments) in stretch(),
        ) {
            let crowded = |bits: u32| {
                let mut starts = vec![0; 1 << bits];
                for (at, _) in &segments {
                    starts[((at - from) >> (span - bits)) as usize] += 1;
                }
                starts.into_iter().filter(|starts| *starts > STARTS).count()
            };
            let cost = |bits: u32| (1_usize << bits) + ((worth * crowded(bits)) >> bits);
            let most = (worth + 1).ilog2().min(span);
            let chosen = block_stride(worth, from, span, &segments);
            prop_assert_eq!(Some(chosen), (0..=most).min_by_key(|bits| cost(*bits)));
        }
    }
}
