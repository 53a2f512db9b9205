//! Removes duplicates: several claims to exactly the same range.
//!
//! A range stands in a delegated file and in a WHOIS dump, in a plain dump and its `.utf8` twin,
//! or, after a transfer, in the dumps of two registries. The claim that identifies its holder best
//! is kept (see [`CompanyKey`]), among equals the one that changed last, among those the one that
//! was read first. Values that it lacks are taken from the others.

use std::cmp::{Ordering, Reverse};

use hierarchy::Address;

use super::claim::{Claim, Statement};
use super::holder::CompanyKey;

/// Numbers of claims that were removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct RemovedClaims {
    /// Of the same registry, both from WHOIS dumps or both not.
    pub(super) duplicates: u64,
    /// Of another registry: the range was transferred.
    pub(super) transfers: u64,
    /// A WHOIS object beside a delegated record or a route.
    pub(super) confirmed: u64,
}

/// Order of claims to the same range, the best first.
pub(super) fn precedence<A>(one: &Claim<A>, other: &Claim<A>) -> Ordering {
    let key = |says: &Statement| (says.basis, Reverse(says.changed), says.source);
    key(&one.says).cmp(&key(&other.says))
}

/// Keeps the first claim to each range of a list sorted by range and precedence.
pub(super) fn remove_duplicates<A: Address>(claims: &mut Vec<Claim<A>>) -> RemovedClaims {
    let mut removed = RemovedClaims::default();
    claims.dedup_by(|later, kept| {
        let is_equal = (later.first, later.last) == (kept.first, kept.last);
        if is_equal {
            removed.count(&kept.says, &later.says);
            complete(&mut kept.says, &later.says);
        }
        is_equal
    });
    removed
}

impl RemovedClaims {
    fn count(&mut self, kept: &Statement, removed: &Statement) {
        let is_whois = |says: &Statement| {
            !matches!(says.basis, CompanyKey::Delegated | CompanyKey::Umbrella | CompanyKey::Route)
        };
        let registries = kept.registry.zip(removed.registry);
        if registries.is_some_and(|(one, other)| one != other) {
            self.transfers += 1;
        } else if is_whois(kept) == is_whois(removed) {
            self.duplicates += 1;
        } else {
            self.confirmed += 1;
        }
    }
}

/// Takes from a removed claim what the kept one lacks.
fn complete(kept: &mut Statement, removed: &Statement) {
    kept.registry = kept.registry.or(removed.registry);
    // After a transfer, the country at the former registry is out of date.
    if kept.registry == removed.registry {
        kept.country = kept.country.or(removed.country);
    }
    if kept.company.is_none() {
        kept.company = removed.company;
        kept.basis = removed.basis;
    }
}

#[cfg(test)]
mod tests {
    use super::super::companies::CompanyTable;
    use super::*;
    use hierarchy::Registry;

    fn settled(mut claims: Vec<Claim<u32>>) -> (Vec<Claim<u32>>, RemovedClaims) {
        claims.sort_by(|one, other| one.order(other).then_with(|| precedence(one, other)));
        let removed = remove_duplicates(&mut claims);
        (claims, removed)
    }

    #[test]
    fn the_claim_that_identifies_its_holder_best_is_kept() {
        let mut table = CompanyTable::default();
        let mut holder = |basis, text| Some(table.number(Registry::RipeNcc, basis, text));
        let id = holder(CompanyKey::Delegated, "abc");
        let org = holder(CompanyKey::Organisation, "ORG-1");
        let mut delegated = Claim::of_ripe(0, 9, id, CompanyKey::Delegated);
        delegated.says.country = Some("NL".parse().unwrap());
        let (kept, removed) = settled(vec![
            delegated,
            Claim::of_ripe(0, 9, org, CompanyKey::Organisation),
            Claim::of_ripe(0, 4, None, CompanyKey::Nobody),
        ]);
        assert_eq!(kept.len(), 2);
        assert_eq!((kept[0].says.company, kept[0].says.country), (org, delegated.says.country));
        assert_eq!(removed, RemovedClaims { confirmed: 1, ..RemovedClaims::default() });
    }

    #[test]
    fn after_a_transfer_the_latest_claim_counts() {
        let mut old = Claim::of_ripe(0, 9, None, CompanyKey::Organisation);
        old.says.changed = 20_100_101;
        let mut new = old;
        new.says.registry = Some(Registry::Apnic);
        new.says.changed = 20_180_101;
        let (kept, removed) = settled(vec![old, new]);
        assert_eq!((kept, removed.transfers), (vec![new], 1));
    }

    #[test]
    fn an_object_that_is_read_twice_counts_once() {
        let twice = vec![Claim::of_ripe(0, 9, None, CompanyKey::Description); 2];
        let (kept, removed) = settled(twice);
        assert_eq!(
            (kept.len(), removed),
            (1, RemovedClaims { duplicates: 1, ..RemovedClaims::default() })
        );
    }
}
