//! Opaque ids that stand for many strangers.
//!
//! Registries keep national registries, and what was given out before there were registries, under
//! one opaque id: in October 2018 APNIC's A9113FEF had 1,752 Australian ranges of the year 1993,
//! A92E1062 had 1,109 of CNNIC's customers. Large organisations have hundreds, too, and are spread
//! over the world: of holders with more than 20 ranges 65 % have two that are more than 500 km
//! apart. So a holder's word on where its ranges are *weighs* less the more it has, and where it
//! has more than [`CAP`] ranges, whatever a WHOIS object names instead counts more.

/// Delegated ranges above which an opaque id is no single company.
pub const CAP: u32 = 500;

/// Ranges of one holder that are mostly near each other.
const NEAR: u32 = 5;

/// Whether so many delegated ranges are too many for one company.
pub fn is_umbrella(ranges: u32) -> bool {
    ranges > CAP
}

/// How much it says about a range that it has the same holder as another, from 0 to 1: 1 up to five
/// ranges, then less and less.
pub fn weight(ranges: u32) -> f64 {
    f64::from(NEAR) / f64::from(ranges.max(NEAR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_are_known_by_their_size() {
        assert!(is_umbrella(1_752) && is_umbrella(1_109));
        assert!(!is_umbrella(420) && !is_umbrella(CAP));
    }

    #[test]
    fn the_more_ranges_the_less_weight() {
        assert!((weight(1) - 1.0).abs() < f64::EPSILON && (weight(5) - 1.0).abs() < f64::EPSILON);
        assert!(weight(20) > weight(100) && weight(100) > weight(2_000) && weight(u32::MAX) > 0.0);
    }
}
