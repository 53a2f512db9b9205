//! Sets of IPv4 and IPv6 networks, over the radix tries of `iprange`.

use std::net::IpAddr;

use ipnet::{IpNet, Ipv4Net, Ipv6Net};
use iprange::IpRange;

/// A set of addresses, built from prefixes of both families. A lookup takes one step per bit,
/// however many prefixes there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressSet {
    v4: IpRange<Ipv4Net>,
    v6: IpRange<Ipv6Net>,
}

impl AddressSet {
    /// Union of both sets.
    #[must_use]
    pub fn merge(&self, other: &Self) -> Self {
        Self { v4: self.v4.merge(&other.v4), v6: self.v6.merge(&other.v6) }
    }

    /// The addresses of this set that are not in `other`.
    #[must_use]
    pub fn exclude(&self, other: &Self) -> Self {
        Self { v4: self.v4.exclude(&other.v4), v6: self.v6.exclude(&other.v6) }
    }

    /// Whether the set holds the address. An IPv4-mapped address is an IPv6 address here.
    pub fn contains(&self, address: IpAddr) -> bool {
        self.prefix_of(address).is_some()
    }

    /// Largest prefix within the set that holds the address. Adjacent prefixes may have been
    /// joined, so it need not be one of those that the set was built from.
    pub fn prefix_of(&self, address: IpAddr) -> Option<IpNet> {
        match address {
            IpAddr::V4(address) => self.v4.supernet(&address).map(IpNet::V4),
            IpAddr::V6(address) => self.v6.supernet(&address).map(IpNet::V6),
        }
    }
}

impl FromIterator<IpNet> for AddressSet {
    fn from_iter<T: IntoIterator<Item = IpNet>>(prefixes: T) -> Self {
        let mut set = Self::default();
        for prefix in prefixes {
            match prefix {
                IpNet::V4(prefix) => {
                    set.v4.add(prefix);
                }
                IpNet::V6(prefix) => {
                    set.v6.add(prefix);
                }
            }
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    /// Prefixes whose bits lie in two bytes, so that they often overlap, nest and touch.
    fn prefix() -> impl Strategy<Value = IpNet> {
        let v4 = (any::<u16>(), 0u8..=16).prop_map(|(bits, length)| {
            IpNet::new(IpAddr::V4(Ipv4Addr::from(u32::from(bits) << 16)), length)
        });
        let v6 = (any::<u16>(), 0u8..=16).prop_map(|(bits, length)| {
            IpNet::new(IpAddr::V6(Ipv6Addr::from(u128::from(bits) << 112)), length)
        });
        prop_oneof![v4, v6].prop_map(|net| net.unwrap().trunc())
    }

    fn address() -> impl Strategy<Value = IpAddr> {
        prop_oneof![
            any::<u16>().prop_map(|bits| Ipv4Addr::from(u32::from(bits) << 16).into()),
            any::<u16>().prop_map(|bits| Ipv6Addr::from(u128::from(bits) << 112).into()),
        ]
    }

    fn naive(prefixes: &[IpNet], address: IpAddr) -> bool {
        prefixes.iter().any(|prefix| prefix.contains(&address))
    }

    proptest! {
        #[test]
        fn set_operations_agree_with_lists_of_prefixes(
            left in prop::collection::vec(prefix(), 0..8),
            right in prop::collection::vec(prefix(), 0..8),
            addresses in prop::collection::vec(address(), 1..20),
        ) {
            let a: AddressSet = left.iter().copied().collect();
            let b: AddressSet = right.iter().copied().collect();
            let merged = a.merge(&b);
            let excluded = a.exclude(&b);
            for address in addresses {
                let in_left = naive(&left, address);
                let in_right = naive(&right, address);
                prop_assert_eq!(a.contains(address), in_left);
                prop_assert_eq!(merged.contains(address), in_left || in_right);
                prop_assert_eq!(excluded.contains(address), in_left && !in_right);
                let prefix = a.prefix_of(address);
                prop_assert!(prefix.is_none_or(|prefix| prefix.contains(&address)));
            }
        }
    }
}
