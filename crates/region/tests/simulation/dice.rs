//! Seeded random numbers: SplitMix64 (Steele, Lea, Flood, 2014).

/// A source of random numbers that depends on nothing but its seed.
#[derive(Debug, Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xA076_1D64_78BD_642F) ^ 0xE703_7ED1_A0B4_28DB)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        bits ^ (bits >> 31)
    }

    /// A number from `from` to `to`, both included.
    pub(crate) fn between(&mut self, from: u64, to: u64) -> u64 {
        from + self.bits() % (to - from + 1)
    }

    /// An index of a list with this length.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        (self.bits() % len as u64) as usize
    }

    /// True in this many of a thousand cases.
    pub(crate) fn per_mille(&mut self, share: u64) -> bool {
        self.bits() % 1_000 < share
    }
}
