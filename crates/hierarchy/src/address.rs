//! The two address families as unsigned integers, so that everything below is written once.

/// An address as an integer: `u32` for IPv4, `u128` for IPv6.
pub(crate) trait Address: Copy + Ord + std::fmt::Debug {
    /// What is left of a segment's start once its bucket is known (see `segments`).
    type Low: Copy + Ord + std::fmt::Debug;

    const ZERO: Self;
    const MAX: Self;
    /// Fewest first-level bits for which `Low` still tells the addresses of a bucket apart.
    const LEAST_BUCKET_BITS: u32;

    fn next(self) -> Option<Self>;
    fn previous(self) -> Option<Self>;
    /// First and last address of the stretch of this prefix length around the address.
    fn stretch(self, prefix: u8) -> (Self, Self);
    /// Distance from `base`; `None` when this address lies before it.
    fn offset(self, base: Self) -> Option<Self>;
    /// The part of the address line that the first level covers, as its first address and the distance to its last, where
    /// all subnets but the root lie between `lowest` and `highest`.
    fn window(lowest: Self, highest: Self) -> (Self, Self);
    /// Bits needed to write this number.
    fn width(self) -> u32;
    /// Which bucket of `1 << shift` addresses an offset falls in.
    fn bucket(self, shift: u32) -> usize;
    /// The part of an offset that its bucket does not tell.
    fn low(self, shift: u32) -> Self::Low;
}

impl Address for u32 {
    type Low = u16;

    const ZERO: Self = 0;
    const MAX: Self = u32::MAX;
    const LEAST_BUCKET_BITS: u32 = 16;

    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }

    fn previous(self) -> Option<Self> {
        self.checked_sub(1)
    }

    fn stretch(self, prefix: u8) -> (Self, Self) {
        let inside = u32::MAX.checked_shr(prefix.into()).unwrap_or(0);
        (self & !inside, self | inside)
    }

    fn offset(self, base: Self) -> Option<Self> {
        self.checked_sub(base)
    }

    fn window(_lowest: Self, _highest: Self) -> (Self, Self) {
        (0, u32::MAX)
    }

    fn width(self) -> u32 {
        u32::BITS - self.leading_zeros()
    }

    fn bucket(self, shift: u32) -> usize {
        self.checked_shr(shift).unwrap_or(0) as usize
    }

    fn low(self, shift: u32) -> u16 {
        (self & !(u32::MAX << shift)) as u16
    }
}

impl Address for u128 {
    /// The whole offset: the last bucket may be far wider than the others.
    type Low = u128;

    const ZERO: Self = 0;
    const MAX: Self = u128::MAX;
    const LEAST_BUCKET_BITS: u32 = 4;

    fn next(self) -> Option<Self> {
        self.checked_add(1)
    }

    fn previous(self) -> Option<Self> {
        self.checked_sub(1)
    }

    fn stretch(self, prefix: u8) -> (Self, Self) {
        let inside = u128::MAX.checked_shr(prefix.into()).unwrap_or(0);
        (self & !inside, self | inside)
    }

    fn offset(self, base: Self) -> Option<Self> {
        self.checked_sub(base)
    }

    /// What is given out lies in a sixteenth of the line, mostly in 2000::/12 to 2c00::/12.
    fn window(lowest: Self, highest: Self) -> (Self, Self) {
        (lowest, highest.saturating_sub(lowest))
    }

    fn width(self) -> u32 {
        u128::BITS - self.leading_zeros()
    }

    fn bucket(self, shift: u32) -> usize {
        usize::try_from(self.checked_shr(shift).unwrap_or(0)).unwrap_or(usize::MAX)
    }

    fn low(self, _shift: u32) -> u128 {
        self
    }
}
