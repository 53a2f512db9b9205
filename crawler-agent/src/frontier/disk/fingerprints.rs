//! Runs of fingerprints as the file has them: sorted, in the code of Elias and Fano.
//!
//! Fingerprints are spread evenly over their 56 bits, so that sorted ones share their first bits.
//! Of each, the low bits are stored as they are. The high bits of all are one sequence: as many
//! zeros as they rise from the one before, then a one. 100 fingerprints take 6.4 bytes each.

use crate::frontier::{
    FrontierError,
    state::seen::{SEEN_BITS, SeenUrl},
};

/// Bytes of the number of fingerprints.
const COUNT: usize = 4;

/// Encodes sorted fingerprints.
pub(super) fn encode(values: &[SeenUrl]) -> Vec<u8> {
    let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
    let low = low_bits(values.len());
    let mut bits = BitWriter { bytes: count.to_le_bytes().to_vec(), filled: 0 };
    for value in values {
        bits.push(*value, low);
    }
    let mut last = 0;
    for value in values {
        let high = value >> low;
        for _ in last..high {
            bits.push(0, 1);
        }
        bits.push(1, 1);
        last = high;
    }
    bits.bytes
}

/// Decodes fingerprints; they are sorted.
pub(super) fn decode(bytes: &[u8]) -> Result<Vec<SeenUrl>, FrontierError> {
    let (count, rest) = bytes.split_first_chunk::<COUNT>().ok_or(FrontierError::Seen)?;
    let count = u32::from_le_bytes(*count) as usize;
    // Each fingerprint takes at least one bit. So a damaged number cannot cause a large allocation.
    if count > rest.len() * 8 {
        return Err(FrontierError::Seen);
    }
    let low = low_bits(count);
    let mut lows = BitReader { bytes: rest, at: 0 };
    let mut highs = BitReader { bytes: rest, at: count * low as usize };
    let mut high = 0_u64;
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        while highs.take(1)? == 0 {
            high += 1;
        }
        let value = high << low | lows.take(low)?;
        values.push(value);
    }
    Ok(values)
}

/// Bits of each of this many fingerprints that are stored as they are: those in which they differ.
fn low_bits(count: usize) -> u32 {
    SEEN_BITS - count.next_power_of_two().trailing_zeros().min(SEEN_BITS)
}

struct BitWriter {
    bytes: Vec<u8>,
    /// Bits used of the last byte; 0 where it is full.
    filled: u32,
}

impl BitWriter {
    /// Appends the lowest `count` bits of a value, the lowest first.
    fn push(&mut self, mut value: u64, mut count: u32) {
        while count > 0 {
            if self.filled == 0 {
                self.bytes.push(0);
            }
            let taken = count.min(8 - self.filled);
            let part = (value & ((1 << taken) - 1)) as u8;
            if let Some(last) = self.bytes.last_mut() {
                *last |= part << self.filled;
            }
            self.filled = (self.filled + taken) % 8;
            value >>= taken;
            count -= taken;
        }
    }
}

struct BitReader<'b> {
    bytes: &'b [u8],
    /// Number of the next bit.
    at: usize,
}

impl BitReader<'_> {
    /// Reads `count` bits, the lowest first.
    fn take(&mut self, count: u32) -> Result<u64, FrontierError> {
        let mut value = 0;
        let mut read = 0;
        while read < count {
            let byte = self.bytes.get(self.at / 8).ok_or(FrontierError::Seen)?;
            let from = (self.at % 8) as u32;
            let taken = (count - read).min(8 - from);
            let part = (u64::from(*byte) >> from) & ((1 << taken) - 1);
            value |= part << read;
            read += taken;
            self.at += taken as usize;
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;
    use crate::frontier::state::seen::shortened;

    const MOST: u64 = (1 << SEEN_BITS) - 1;

    proptest! {
        #[test]
        fn any_sorted_values_come_back(
            values in prop::collection::btree_set(0..=MOST, 0..300),
            near in prop::collection::btree_set(0_u64..1_000, 0..300),
        ) {
            for values in [values, near] {
                let values: Vec<u64> = values.into_iter().collect();
                prop_assert_eq!(decode(&encode(&values)).unwrap(), values);
            }
        }

        #[test]
        fn damaged_bytes_are_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            if let Ok(values) = decode(&bytes) {
                prop_assert!(values.len() <= bytes.len() * 8);
            }
        }
    }

    #[test]
    fn the_ends_of_the_range_are_values() {
        for values in [vec![], vec![0], vec![MOST], vec![0, MOST]] {
            assert_eq!(decode(&encode(&values)).unwrap(), values);
        }
    }

    #[test]
    fn a_hundred_take_few_bytes() {
        let spread = |number: u64| shortened(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let values: BTreeSet<u64> = (1..=100).map(spread).collect();
        let values: Vec<u64> = values.into_iter().collect();
        assert!(encode(&values).len() < 650, "{} bytes", encode(&values).len());
    }
}
