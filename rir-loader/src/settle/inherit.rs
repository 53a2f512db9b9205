//! A range that nobody is named for is held by whoever holds the smallest range around it.

use super::claim::{Bits, Claim};
use super::companies::CompanyNo;

/// Fills in the holders of a sorted list; returns how many were found that way.
pub fn inherit<A: Bits>(claims: &mut [Claim<A>]) -> u64 {
    let mut around: Vec<(A, Option<CompanyNo>)> = vec![];
    let mut found = 0;
    for claim in claims {
        while around.last().is_some_and(|(last, _)| *last < claim.last) {
            around.pop();
        }
        if claim.company.is_none() {
            claim.company = around.last().and_then(|(_, company)| *company);
            found += u64::from(claim.company.is_some());
        }
        around.push((claim.last, claim.company));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::claim::tests::claim;
    use super::super::companies::CompanyBook;
    use super::super::holder::Basis;
    use super::*;
    use hierarchy::Registry;

    #[test]
    fn the_nearest_holder_around_is_taken() {
        let mut delegation_table = CompanyBook::default();
        let mut company =
            |handle| Some(delegation_table.number(Registry::RipeNcc, Basis::Organisation, handle));
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
        assert_eq!(inherit(&mut claims), 3);
        let companies: Vec<_> = claims.iter().map(|claim| claim.company).collect();
        assert_eq!(companies, [outer, outer, inner, inner, outer, None]);
    }

    #[test]
    fn a_range_that_sticks_out_is_not_around() {
        let mut delegation_table = CompanyBook::default();
        let company = Some(delegation_table.number(Registry::RipeNcc, Basis::Organisation, "X"));
        let mut claims =
            vec![claim(0, 9, company, Basis::Organisation), claim(5, 14, None, Basis::Nobody)];
        assert_eq!(inherit(&mut claims), 0);
    }
}
