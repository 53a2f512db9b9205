//! Both address families as unsigned integers, so that generic code serves both.

use std::net::IpAddr;

use zerocopy::{FromBytes, Immutable, IntoBytes};

/// An address as an integer: `u32` for IPv4, `u128` for IPv6.
pub trait Address: Copy + Ord + std::fmt::Debug + Default {
    /// The first address of the family.
    const ZERO: Self;
    /// The last address of the family.
    const MAX: Self;
    /// Bits of an address.
    const WIDTH: u8;

    /// The integer as an address.
    fn to_ip(self) -> IpAddr;
    /// The next address; `None` after the last.
    fn next(self) -> Option<Self>;
    /// The address before; `None` before the first.
    fn previous(self) -> Option<Self>;
    /// First and last address of the prefix of this length that holds the address.
    #[must_use]
    fn prefix(self, length: u8) -> (Self, Self);
}

/// The address after this one; `None` after the last of its family.
pub(crate) fn after(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => address.to_bits().next().map(Address::to_ip),
        IpAddr::V6(address) => address.to_bits().next().map(Address::to_ip),
    }
}

/// The address before this one; `None` before the first of its family.
pub(crate) fn before(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(address) => address.to_bits().previous().map(Address::to_ip),
        IpAddr::V6(address) => address.to_bits().previous().map(Address::to_ip),
    }
}

/// An address as the columns store it.
pub(crate) trait ColumnAddress: Address + FromBytes + IntoBytes + Immutable {
    /// The leading bits that the columns store of every first address: all 32 of IPv4, the upper 64
    /// of IPv6, because hardly any registered range is smaller than a /64.
    type Head: Copy
        + Ord
        + std::fmt::Debug
        + Default
        + Into<u64>
        + FromBytes
        + IntoBytes
        + Immutable;

    /// Whether the head is the whole address.
    const HEAD_IS_ALL: bool;

    fn head(self) -> Self::Head;
    /// The first address with this head.
    fn of_head(head: Self::Head) -> Self;
    fn next_head(head: Self::Head) -> Option<Self::Head>;
    /// The logarithm to base two of the number of addresses from `first` to `self`; `None` where
    /// that number is no power of two.
    fn span_bits(self, first: Self) -> Option<u8>;
    /// The last of `1 << bits` addresses from `self` on; `None` beyond the last address.
    fn last_of(self, bits: u8) -> Option<Self>;
    /// Whether this address is one of the `1 << bits` from `first` on. It must not come before
    /// `first`.
    fn within(self, first: Self, bits: u8) -> bool;
}

macro_rules! address {
    ($integer:ty, $head:ty, $variant:path) => {
        impl Address for $integer {
            const ZERO: Self = 0;
            const MAX: Self = Self::MAX;
            const WIDTH: u8 = Self::BITS as u8;

            fn to_ip(self) -> IpAddr {
                $variant(self.into())
            }

            fn next(self) -> Option<Self> {
                self.checked_add(1)
            }

            fn previous(self) -> Option<Self> {
                self.checked_sub(1)
            }

            fn prefix(self, length: u8) -> (Self, Self) {
                let host_bits = Self::MAX.checked_shr(length.into()).unwrap_or(0);
                (self & !host_bits, self | host_bits)
            }
        }

        impl ColumnAddress for $integer {
            type Head = $head;

            const HEAD_IS_ALL: bool = Self::BITS == <$head>::BITS;

            fn head(self) -> $head {
                (self >> (Self::BITS - <$head>::BITS)) as $head
            }

            fn of_head(head: $head) -> Self {
                Self::from(head) << (Self::BITS - <$head>::BITS)
            }

            fn next_head(head: $head) -> Option<$head> {
                head.checked_add(1)
            }

            fn span_bits(self, first: Self) -> Option<u8> {
                // The distance is one less than the number of addresses. It has the form 0…01…1 if
                // that number is a power of two.
                let distance = self.checked_sub(first)?;
                let bits = distance.trailing_ones();
                (bits == Self::BITS - distance.leading_zeros()).then_some(bits as u8)
            }

            fn last_of(self, bits: u8) -> Option<Self> {
                let unused = Self::BITS.checked_sub(bits.into())?;
                self.checked_add(Self::MAX.checked_shr(unused).unwrap_or(0))
            }

            fn within(self, first: Self, bits: u8) -> bool {
                self.wrapping_sub(first).checked_shr(bits.into()).unwrap_or(0) == 0
            }
        }
    };
}

address!(u32, u32, IpAddr::V4);
address!(u128, u64, IpAddr::V6);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_of_a_power_of_two_is_encoded_by_its_bits() {
        assert_eq!(7_u32.span_bits(0), Some(3));
        assert_eq!(8_u32.span_bits(1), Some(3), "aligned or not");
        assert_eq!(5_u32.span_bits(5), Some(0));
        assert_eq!(6_u32.span_bits(0), None);
        assert_eq!(u32::MAX.span_bits(0), Some(32));
        assert_eq!(u128::MAX.span_bits(0), Some(128));
        assert_eq!(4_u32.span_bits(5), None);
        for (first, bits) in [(0_u32, 32), (1, 0), (3, 8), (u32::MAX, 0)] {
            let last = first.last_of(bits).unwrap();
            assert_eq!(last.span_bits(first), Some(bits));
            assert!(
                last.within(first, bits) && (last == u32::MAX || !(last + 1).within(first, bits))
            );
        }
        assert_eq!(1_u32.last_of(32), None);
        assert_eq!(0_u32.last_of(33), None);
    }

    #[test]
    fn a_head_is_the_leading_bits() {
        let address = 0x2001_0db8_0000_0001_0000_0000_0000_0002_u128;
        assert_eq!(address.head(), 0x2001_0db8_0000_0001);
        assert_eq!(u128::of_head(address.head()), address - 2);
        assert_eq!(u32::of_head(77_u32.head()), 77);
    }
}
