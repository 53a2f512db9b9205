//! Large ranges in which nothing is recorded, cut into virtual subnets.
//!
//! Delegating a /8 as one subnet sends all its pages to one agent, however far its parts are from
//! each other. Where the registry knows nothing smaller, a policy may cut such a leaf into
//! stretches of a fixed prefix length; the search then has siblings to learn from. Without a policy
//! nothing is cut.

use std::str::FromStr;

use super::claim::{Bits, Claim};

/// A cut makes at most this many subnets of one leaf; a larger leaf is cut into larger ones.
const MOST_BITS: u8 = 12;

/// Leaves larger than a prefix of one length are cut into prefixes of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutLeaves {
    /// A leaf with more addresses than a prefix of this length is cut.
    pub above: u8,
    /// Length of the prefixes it is cut into.
    pub into: u8,
}

/// Text that is no such policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not ABOVE/INTO, two prefix lengths of which the second is longer, for example 16/22"
)]
pub struct NotAPolicy(String);

/// Reads `16/22`.
impl FromStr for CutLeaves {
    type Err = NotAPolicy;

    fn from_str(text: &str) -> Result<Self, NotAPolicy> {
        let parts = text
            .split_once('/')
            .and_then(|(above, into)| Some((above.parse().ok()?, into.parse().ok()?)));
        let good = parts.filter(|(above, into): &(u8, u8)| above < into && *into <= 128);
        good.map(|(above, into)| Self { above, into }).ok_or_else(|| NotAPolicy(text.to_owned()))
    }
}

/// The virtual subnets of one claim; none where it is small enough.
pub fn pieces<A: Bits>(
    claim: &Claim<A>,
    policy: CutLeaves,
) -> impl Iterator<Item = (A, A)> + use<A> {
    let into = piece_length(claim, policy);
    let (mut next, last) = (into.map(|_| claim.first), claim.last);
    std::iter::from_fn(move || {
        let first = next?;
        let end = first.end_of(into?).min(last);
        next = end.after().filter(|after| *after <= last);
        Some((first, end))
    })
}

/// `None` where nothing is to be cut.
fn piece_length<A: Bits>(claim: &Claim<A>, policy: CutLeaves) -> Option<u8> {
    let length = (0..=A::WIDTH).find(|length| claim.first.end_of(*length) <= claim.last)?;
    let large = length < policy.above
        || (length == policy.above && claim.first.end_of(length) < claim.last);
    (large && policy.into <= A::WIDTH).then(|| policy.into.min(length.saturating_add(MOST_BITS)))
}

/// The virtual subnets of every leaf of a sorted list: claims that no other lies in or crosses.
pub fn cut_leaves<A: Bits>(claims: &[Claim<A>], policy: CutLeaves) -> Vec<Claim<A>> {
    let mut reach: Option<A> = None;
    let mut cut = vec![];
    for (place, claim) in claims.iter().enumerate() {
        let next = claims.get(place + 1);
        let crossed = reach.is_some_and(|reach| reach >= claim.first && reach < claim.last);
        let leaf = !crossed && next.is_none_or(|next| next.first > claim.last);
        if leaf {
            cut.extend(pieces(claim, policy).map(|(first, last)| Claim { first, last, ..*claim }));
        }
        reach = Some(reach.map_or(claim.last, |reach| reach.max(claim.last)));
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::super::claim::tests::claim;
    use super::super::holder::Basis;
    use super::*;

    const POLICY: CutLeaves = CutLeaves { above: 24, into: 26 };

    fn plain(first: u32, last: u32) -> Claim<u32> {
        claim(first, last, None, Basis::Nobody)
    }

    fn cut(first: u32, last: u32) -> Vec<(u32, u32)> {
        pieces(&plain(first, last), POLICY).collect()
    }

    #[test]
    fn only_what_is_larger_is_cut_and_nothing_is_lost() {
        assert_eq!(cut(0, 255), []);
        assert_eq!(cut(256, 767).len(), 8);
        // Not aligned: the first and the last piece are short.
        let pieces = cut(100, 700);
        assert_eq!((pieces[0], pieces[1]), ((100, 127), (128, 191)));
        assert_eq!(pieces.last(), Some(&(640, 700)));
        assert!(pieces.windows(2).all(|pair| pair[0].1 + 1 == pair[1].0));
    }

    #[test]
    fn no_leaf_is_cut_into_too_many() {
        let all = pieces(&plain(0, u32::MAX), POLICY).count();
        assert_eq!(all, 1 << MOST_BITS);
    }

    #[test]
    fn only_leaves_are_cut() {
        let claims = [plain(0, 4095), plain(1024, 2047), plain(8192, 9215)];
        let cut = cut_leaves(&claims, POLICY);
        assert_eq!(cut.len(), 16 + 16);
        assert!(cut.iter().all(|piece| piece.first >= 1024));
        let crossing = [plain(0, 2047), plain(1024, 4095)];
        assert_eq!(cut_leaves(&crossing, POLICY), []);
    }

    #[test]
    fn a_policy_is_two_lengths() {
        assert_eq!("16/22".parse(), Ok(CutLeaves { above: 16, into: 22 }));
        for wrong in ["16", "22/16", "16/16", "16/129", "/", "a/b"] {
            assert!(wrong.parse::<CutLeaves>().is_err(), "{wrong}");
        }
    }
}
