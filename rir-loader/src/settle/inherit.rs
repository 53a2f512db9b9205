//! Gives ranges without a holder to the holder of the smallest range around them.

use hierarchy::Address;

use super::claim::Claim;
use super::companies::CompanyNumber;
use super::holder::CompanyKey;

/// Fills in the holders of a sorted list.
pub(super) fn inherit_holders<A: Address>(claims: &mut [Claim<A>]) {
    // The ranges around the current one, innermost last: the list is sorted so that a range comes
    // before those inside it.
    let mut enclosing: Vec<(A, Option<CompanyNumber>)> = vec![];
    for claim in claims {
        while enclosing.last().is_some_and(|(last, _)| *last < claim.last) {
            enclosing.pop();
        }
        let says = &mut claim.says;
        if says.company.is_none() {
            says.company = enclosing.last().and_then(|(_, company)| *company);
            if says.company.is_some() {
                says.basis = CompanyKey::Ancestor;
            }
        }
        enclosing.push((claim.last, says.company));
    }
}

#[cfg(test)]
mod tests {
    use super::super::companies::CompanyTable;
    use super::*;
    use hierarchy::Registry;

    #[test]
    fn the_holder_of_the_smallest_range_around_is_taken() {
        let mut table = CompanyTable::default();
        let mut company =
            |handle| Some(table.number(Registry::RipeNcc, CompanyKey::Organisation, handle));
        let outer = company("OUTER");
        let inner = company("INNER");
        let nobody = |first, last| Claim::of_ripe(first, last, None, CompanyKey::Nobody);
        let held =
            |first, last, company| Claim::of_ripe(first, last, company, CompanyKey::Organisation);
        let mut claims = vec![
            held(0, 99, outer),
            nobody(0, 49),
            held(10, 19, inner),
            nobody(12, 12),
            nobody(20, 20),
            nobody(100, 100),
        ];
        inherit_holders(&mut claims);
        let inherited = claims.iter().filter(|claim| claim.says.basis == CompanyKey::Ancestor);
        assert_eq!(inherited.count(), 3);
        let companies: Vec<_> = claims.iter().map(|claim| claim.says.company).collect();
        assert_eq!(companies, [outer, outer, inner, inner, outer, None]);
    }

    #[test]
    fn a_crossing_range_passes_nothing_on() {
        let mut table = CompanyTable::default();
        let company = Some(table.number(Registry::RipeNcc, CompanyKey::Organisation, "X"));
        let mut claims = vec![
            Claim::of_ripe(0, 9, company, CompanyKey::Organisation),
            Claim::of_ripe(5, 14, None, CompanyKey::Nobody),
        ];
        inherit_holders(&mut claims);
        assert_eq!(claims[1].says.company, None);
    }
}
