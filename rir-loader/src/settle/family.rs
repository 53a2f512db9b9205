//! The claims of one address family, from what is said to what holds.

use hierarchy::Registry;

use super::claim::{Bits, Claim};
use super::companies::{CompanyBook, CompanyNo};
use super::equal::{Equals, merge, precedence};
use super::holder::Basis;
use super::inherit::inherit;
use super::maintained::{Kept, Space, maintained};
use super::report::SettleReport;

/// One family's claims, and the space of each registry.
#[derive(Debug)]
pub(super) struct FamilyClaims<A> {
    pub(super) claims: Vec<Claim<A>>,
    /// By registry.
    pub(super) space: [Vec<(A, A)>; Registry::ALL.len()],
}

impl<A> Default for FamilyClaims<A> {
    fn default() -> Self {
        Self { claims: vec![], space: std::array::from_fn(|_| vec![]) }
    }
}

/// What such a company holds is an umbrella's.
pub(super) fn mark<A>(claims: &mut [Claim<A>], pool: impl Fn(&CompanyNo) -> bool) {
    let delegated = claims.iter_mut().filter(|claim| claim.basis == Basis::Delegated);
    delegated.filter(|claim| claim.company.as_ref().is_some_and(&pool)).for_each(|claim| {
        claim.basis = Basis::Umbrella;
    });
}

/// Settles what is claimed; `read` says for each registry whether its delegated file was.
pub(super) fn settle_family<A: Bits>(
    family: FamilyClaims<A>,
    read: [bool; Registry::ALL.len()],
    companies: &CompanyBook,
    report: &mut SettleReport,
) -> Vec<Claim<A>> {
    let spaces = family.space.map(Space::of);
    let mut claims = family.claims;
    keep_maintained(&mut claims, &spaces, read, report);
    claims.sort_unstable_by(|one, other| one.order(other).then_with(|| precedence(one, other)));
    let Equals { duplicates, transfers, confirmed } = merge(&mut claims);
    report.duplicates += duplicates;
    report.transfers += transfers;
    report.confirmed += confirmed;
    for claim in &claims {
        report.holders.count(claim.basis);
    }
    let inherited = inherit(&mut claims);
    report.holders.ancestor += inherited;
    report.holders.nobody -= inherited;
    for claim in claims.iter_mut().filter(|claim| claim.country.is_none()) {
        claim.country = claim.company.and_then(|company| companies.country(company));
        report.country_of_company += u64::from(claim.country.is_some());
    }
    claims
}

/// Where the delegated file of a registry was read, its WHOIS objects count only inside the space
/// it lists.
fn keep_maintained<A: Bits>(
    claims: &mut Vec<Claim<A>>,
    spaces: &[Space<A>; Registry::ALL.len()],
    read: [bool; Registry::ALL.len()],
    report: &mut SettleReport,
) {
    let mut parts = vec![];
    claims.retain(|claim| {
        let known = claim.registry.filter(|registry| read[*registry as usize]);
        let Some(registry) = known else { return true };
        let space = &spaces[registry as usize];
        match maintained(claim, space) {
            Kept::Whole => return true,
            Kept::Nothing => report.unmaintained += 1,
            Kept::Parts(kept) => {
                report.partly_maintained += 1;
                parts.extend(kept.into_iter().map(|(first, last)| Claim { first, last, ..*claim }));
            }
        }
        false
    });
    claims.extend(parts);
}
