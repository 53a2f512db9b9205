//! Registry, country and kind of a subnet in two bytes.
//!
//! Bits 0 to 9 hold the country (0 = none), 10 to 12 the registry (0 = none), 13 to 15 the kind.
//! They are packed, because ten million subnets must fit into memory with everything else.

use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::country::Country;
use crate::record::SubnetKind;
use crate::registry::Registry;

const REGISTRY_SHIFT: u32 = 10;
const KIND_SHIFT: u32 = 13;
/// The country has all bits below the registry.
const COUNTRY_MASK: u16 = (1 << REGISTRY_SHIFT) - 1;
/// Three bits: those of the registry and those of the kind.
const SMALL_MASK: u16 = 0b111;

#[derive(Debug, Clone, Copy, PartialEq, Eq, FromBytes, IntoBytes, Immutable)]
#[repr(transparent)]
pub(crate) struct Attributes(u16);

impl Attributes {
    pub(crate) fn new(
        kind: SubnetKind,
        registry: Option<Registry>,
        country: Option<Country>,
    ) -> Self {
        let country = country.map_or(0, Country::number);
        let registry = registry.map_or(0, |r| r as u16 + 1);
        Self(country | registry << REGISTRY_SHIFT | (kind as u16) << KIND_SHIFT)
    }

    pub(crate) fn kind(self) -> SubnetKind {
        match self.0 >> KIND_SHIFT & SMALL_MASK {
            0 => SubnetKind::Root,
            1 => SubnetKind::Block,
            2 => SubnetKind::Delegated,
            _ => SubnetKind::Virtual,
        }
    }

    pub(crate) fn registry(self) -> Option<Registry> {
        let number = (self.0 >> REGISTRY_SHIFT & SMALL_MASK) as usize;
        number.checked_sub(1).and_then(|place| Registry::ALL.get(place).copied())
    }

    pub(crate) fn country(self) -> Option<Country> {
        Country::from_number(self.0 & COUNTRY_MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packing_keeps_every_combination() {
        for kind in SubnetKind::ALL {
            for registry in Registry::ALL.map(Some).into_iter().chain([None]) {
                for country in [None, Some("AA"), Some("CY"), Some("ZZ")] {
                    let country = country.map(|c| c.parse().unwrap());
                    let packed = Attributes::new(kind, registry, country);
                    assert_eq!(
                        (packed.kind(), packed.registry(), packed.country()),
                        (kind, registry, country)
                    );
                }
            }
        }
    }
}
