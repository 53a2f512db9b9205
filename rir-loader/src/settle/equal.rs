//! Several claims to exactly the same range.
//!
//! A range stands in a delegated file and in a WHOIS dump, in a plain dump and its `.utf8` twin,
//! or, after a transfer, in the dumps of two registries. The claim that names its holder best is
//! kept (see [`Basis`]), among equals the one that changed last, among those the one that was read
//! first. What it does not say is taken from the others.

use std::cmp::{Ordering, Reverse};

use super::claim::{Bits, Claim};
use super::holder::Basis;

/// What lost claims were.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Equals {
    /// The same registry's word a second time, in a WHOIS dump.
    pub duplicates: u64,
    /// Another registry's word: the range was transferred.
    pub transfers: u64,
    /// A WHOIS object and a delegated record, or a route, that speak of the same range.
    pub confirmed: u64,
}

/// Best first among claims to the same range.
pub fn precedence<A: Bits>(one: &Claim<A>, other: &Claim<A>) -> Ordering {
    let key = |claim: &Claim<A>| (claim.basis, Reverse(claim.changed), claim.source);
    key(one).cmp(&key(other))
}

/// Keeps one claim of each range of a sorted list.
pub fn merge<A: Bits>(claims: &mut Vec<Claim<A>>) -> Equals {
    let mut equals = Equals::default();
    claims.dedup_by(|later, kept| {
        let equal = (later.first, later.last) == (kept.first, kept.last);
        if equal {
            equals.count(kept, later);
            fill(kept, later);
        }
        equal
    });
    equals
}

impl Equals {
    fn count<A>(&mut self, kept: &Claim<A>, lost: &Claim<A>) {
        let whois = |claim: &Claim<A>| {
            !matches!(claim.basis, Basis::Delegated | Basis::Umbrella | Basis::Route)
        };
        if kept.registry.is_some() && lost.registry.is_some() && kept.registry != lost.registry {
            self.transfers += 1;
        } else if whois(kept) == whois(lost) {
            self.duplicates += 1;
        } else {
            self.confirmed += 1;
        }
    }
}

fn fill<A>(kept: &mut Claim<A>, lost: &Claim<A>) {
    kept.registry = kept.registry.or(lost.registry);
    if kept.registry == lost.registry {
        kept.country = kept.country.or(lost.country);
    }
    if kept.company.is_none() {
        (kept.company, kept.basis) = (lost.company, lost.basis);
    }
}

#[cfg(test)]
mod tests {
    use super::super::claim::tests::claim;
    use super::super::companies::CompanyBook;
    use super::*;
    use hierarchy::Registry;

    fn settled(mut claims: Vec<Claim<u32>>) -> (Vec<Claim<u32>>, Equals) {
        claims.sort_by(|one, other| one.order(other).then_with(|| precedence(one, other)));
        let equals = merge(&mut claims);
        (claims, equals)
    }

    #[test]
    fn the_claim_that_names_its_holder_best_is_kept() {
        let mut delegation_table = CompanyBook::default();
        let mut holder =
            |basis, text| Some(delegation_table.number(Registry::RipeNcc, basis, text));
        let (id, org) = (holder(Basis::Delegated, "abc"), holder(Basis::Organisation, "ORG-1"));
        let mut delegated = claim(0, 9, id, Basis::Delegated);
        delegated.country = Some("NL".parse().unwrap());
        let (kept, equals) = settled(vec![
            delegated,
            claim(0, 9, org, Basis::Organisation),
            claim(0, 4, None, Basis::Nobody),
        ]);
        assert_eq!(kept.len(), 2);
        assert_eq!((kept[0].company, kept[0].country), (org, delegated.country));
        assert_eq!(equals, Equals { confirmed: 1, ..Equals::default() });
    }

    #[test]
    fn after_a_transfer_the_latest_word_counts() {
        let mut old = claim(0, 9, None, Basis::Organisation);
        old.changed = 20_100_101;
        let new = Claim { registry: Some(Registry::Apnic), changed: 20_180_101, ..old };
        let (kept, equals) = settled(vec![old, new]);
        assert_eq!((kept, equals.transfers), (vec![new], 1));
    }

    #[test]
    fn the_same_object_twice_is_one() {
        let twice = vec![claim(0, 9, None, Basis::Description); 2];
        let (kept, equals) = settled(twice);
        assert_eq!((kept.len(), equals), (1, Equals { duplicates: 1, ..Equals::default() }));
    }
}
