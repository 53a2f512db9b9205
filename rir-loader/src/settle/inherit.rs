//! Gives ranges without a holder to the holder of the smallest range around them.

use super::claim::{AddressBits, Claim};
use super::companies::CompanyNumber;

/// Fills in the holders of a sorted list and returns how many were found.
pub fn inherit_holders<A: AddressBits>(claims: &mut [Claim<A>]) -> u64 {
    // The ranges around the current one, innermost last: the list is sorted so that a range comes
    // before those inside it.
    let mut enclosing: Vec<(A, Option<CompanyNumber>)> = vec![];
    let mut found = 0;
    for claim in claims {
        while enclosing.last().is_some_and(|(last, _)| *last < claim.last) {
            enclosing.pop();
        }
        if claim.company.is_none() {
            claim.company = enclosing.last().and_then(|(_, company)| *company);
            found += u64::from(claim.company.is_some());
        }
        enclosing.push((claim.last, claim.company));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::claim::tests::claim;
    use super::super::companies::CompanyTable;
    use super::super::holder::Basis;
    use super::*;
    use hierarchy::Registry;

    #[test]
    fn the_holder_of_the_smallest_range_around_is_taken() {
        let mut table = CompanyTable::default();
        let mut company =
            |handle| Some(table.number(Registry::RipeNcc, Basis::Organisation, handle));
        let (outer, inner) = (company("OUTER"), company("INNER"));
        let nobody = |first, last| claim(first, last, None, Basis::Nobody);
        let held = |first, last, company| claim(first, last, company, Basis::Organisation);
        let mut claims = vec![
            held(0, 99, outer),
            nobody(0, 49),
            held(10, 19, inner),
            nobody(12, 12),
            nobody(20, 20),
            nobody(100, 100),
        ];
        assert_eq!(inherit_holders(&mut claims), 3);
        let companies: Vec<_> = claims.iter().map(|claim| claim.company).collect();
        assert_eq!(companies, [outer, outer, inner, inner, outer, None]);
    }

    #[test]
    fn a_crossing_range_passes_nothing_on() {
        let mut table = CompanyTable::default();
        let company = Some(table.number(Registry::RipeNcc, Basis::Organisation, "X"));
        let mut claims =
            vec![claim(0, 9, company, Basis::Organisation), claim(5, 14, None, Basis::Nobody)];
        assert_eq!(inherit_holders(&mut claims), 0);
    }
}
