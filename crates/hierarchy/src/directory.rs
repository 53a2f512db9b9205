//! The first level of a lookup: which places of a sorted column can hold what is looked for.
//!
//! The stretch from the lowest head to the highest is cut into up to 2^20 equal buckets, and a table says where each one's
//! places begin. A lookup then reads one entry of a table that mostly stays in the cache, and searches among a few heads.

use std::ops::Range;

/// Above this the table outgrows the caches that make it worth having.
const MOST_BITS: u32 = 20;
/// Below this a table saves nothing.
const LEAST_BITS: u32 = 4;

#[derive(Debug, Clone)]
pub(crate) struct Directory {
    /// The lowest head, where the first bucket begins.
    base: u64,
    /// A bucket spans `1 << shift` heads; the last one reaches to the end of the line.
    shift: u32,
    /// The places of bucket *b* are `table[b]..table[b + 1]`.
    table: Vec<u32>,
}

impl Directory {
    /// For a sorted column, whose first place is a root and lies before all else.
    pub(crate) fn new<H: Copy + Into<u64>>(heads: &[H]) -> Self {
        let below = heads.get(1..).unwrap_or_default();
        let base = below.first().map_or(0, |head| (*head).into());
        let span = below.last().map_or(0, |head| (*head).into() - base);
        let bits = heads.len().checked_ilog2().unwrap_or(0).clamp(LEAST_BITS, MOST_BITS);
        let shift = (u64::BITS - span.leading_zeros()).saturating_sub(bits);
        let buckets = (span >> shift) as usize + 1;
        let mut table = Vec::with_capacity(buckets + 1);
        for (place, head) in (1_u32..).zip(below) {
            let bucket = (((*head).into() - base) >> shift) as usize;
            table.resize(table.len().max(bucket + 1), place);
        }
        table.resize(buckets + 1, below.len() as u32 + 1);
        Self { base, shift, table }
    }

    /// The places whose head shares a bucket with this one. Everything before them has a smaller head, everything after them
    /// a larger one.
    pub(crate) fn places(&self, head: u64) -> Range<usize> {
        let Some(offset) = head.checked_sub(self.base) else { return 1..1 };
        let bucket = ((offset >> self.shift) as usize).min(self.table.len() - 2);
        self.table[bucket] as usize..self.table[bucket + 1] as usize
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.table.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_all_places_of_its_heads() {
        let heads: Vec<u32> = vec![0, 5, 5, 9, 700, 701, 4_000_000_000];
        let directory = Directory::new(&heads);
        for wanted in heads.iter().flat_map(|head| [head.saturating_sub(1), *head, head + 1]) {
            let places = directory.places(wanted.into());
            let after = heads.partition_point(|head| *head <= wanted).max(1);
            assert!((places.start..=places.end).contains(&after), "{wanted}: {places:?}, not {after}");
        }
    }

    #[test]
    fn nothing_but_a_root_is_no_special_case() {
        assert_eq!(Directory::new(&[0_u64]).places(77), 1..1);
    }
}
