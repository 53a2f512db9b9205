//! Splits large ranges in which nothing smaller is recorded into virtual subnets.
//!
//! Delegating a /8 as one subnet sends all its pages to one agent, however far its parts are from
//! each other. Where the registry records nothing smaller, a policy may split such a leaf into
//! prefixes of a fixed length; the search then has siblings to learn from. Without a policy nothing
//! is split.

use hierarchy::{Address, SplitLeaves};

use super::claim::Claim;

/// A leaf is split into at most 2 to this power subnets; a larger leaf is split into larger ones.
const MAX_SPLIT_BITS: u8 = 12;

/// Splitting in both families; `None` splits nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SplitPolicy {
    /// Leaves of IPv4.
    pub v4: Option<SplitLeaves>,
    /// Leaves of IPv6.
    pub v6: Option<SplitLeaves>,
}

/// The virtual subnets of one claim; empty where it is small enough.
pub(super) fn split<A: Address>(claim: &Claim<A>, policy: SplitLeaves) -> Vec<(A, A)> {
    let mut subnets = vec![];
    let Some(length) = subnet_length(claim, policy) else { return subnets };
    // A range that is not aligned begins and ends with a shorter subnet.
    let mut next = Some(claim.first);
    while let Some(first) = next.filter(|first| *first <= claim.last) {
        let last = first.prefix(length).1.min(claim.last);
        subnets.push((first, last));
        next = last.next();
    }
    subnets
}

/// Prefix length of the virtual subnets of a claim; `None` where it is small enough.
fn subnet_length<A: Address>(claim: &Claim<A>, policy: SplitLeaves) -> Option<u8> {
    let length = (0..=A::WIDTH).find(|length| claim.first.prefix(*length).1 <= claim.last)?;
    let is_large = length < policy.above
        || (length == policy.above && claim.first.prefix(length).1 < claim.last);
    is_large.then(|| policy.into.min(length.saturating_add(MAX_SPLIT_BITS)))
}

/// The virtual subnets of every leaf of a sorted list: claims that no other lies in or crosses.
pub(super) fn split_leaves<A: Address>(claims: &[Claim<A>], policy: SplitLeaves) -> Vec<Claim<A>> {
    // Largest last address of the claims before the current one.
    let mut reach: Option<A> = None;
    let mut subnets = vec![];
    for (index, claim) in claims.iter().enumerate() {
        let next = claims.get(index + 1);
        let is_crossed = reach.is_some_and(|reach| reach >= claim.first && reach < claim.last);
        if !is_crossed && next.is_none_or(|next| next.first > claim.last) {
            let ranges = split(claim, policy).into_iter();
            subnets.extend(ranges.map(|(first, last)| Claim { first, last, ..*claim }));
        }
        reach = Some(reach.map_or(claim.last, |reach| reach.max(claim.last)));
    }
    subnets
}

#[cfg(test)]
mod tests {
    use super::super::holder::CompanyKey;
    use super::*;

    const POLICY: SplitLeaves = SplitLeaves { above: 24, into: 26 };

    fn plain(first: u32, last: u32) -> Claim<u32> {
        Claim::of_ripe(first, last, None, CompanyKey::Nobody)
    }

    fn ranges(first: u32, last: u32) -> Vec<(u32, u32)> {
        split(&plain(first, last), POLICY)
    }

    #[test]
    fn only_larger_ranges_are_split_and_no_address_is_lost() {
        assert_eq!(ranges(0, 255), []);
        assert_eq!(ranges(256, 767).len(), 8);
        // Not aligned: the first and the last subnet are short.
        let subnets = ranges(100, 700);
        assert_eq!((subnets[0], subnets[1]), ((100, 127), (128, 191)));
        assert_eq!(subnets.last(), Some(&(640, 700)));
        assert!(subnets.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
    }

    #[test]
    fn no_leaf_is_split_into_too_many() {
        let all = split(&plain(0, u32::MAX), POLICY).len();
        assert_eq!(all, 1 << MAX_SPLIT_BITS);
    }

    #[test]
    fn only_leaves_are_split() {
        let claims = [plain(0, 4095), plain(1024, 2047), plain(8192, 9215)];
        let subnets = split_leaves(&claims, POLICY);
        assert_eq!(subnets.len(), 16 + 16);
        assert!(subnets.iter().all(|subnet| subnet.first >= 1024));
        let crossing = [plain(0, 2047), plain(1024, 4095)];
        assert_eq!(split_leaves(&crossing, POLICY), []);
    }
}
