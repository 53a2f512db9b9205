//! Settles the claims of one address family.

use hierarchy::{Address, Registry};

use super::claim::{Claim, Statement};
use super::companies::{CompanyNumber, CompanyTable};
use super::duplicates::{precedence, remove_duplicates};
use super::holder::CompanyKey;
use super::inherit::inherit_holders;
use super::maintained::Space;
use super::report::SettleReport;

/// Claims of one family, and the space that each registry maintains.
#[derive(Debug)]
pub(super) struct FamilyClaims<A> {
    pub(super) claims: Vec<Claim<A>>,
    /// Ranges of the delegated files by registry.
    pub(super) space: [Vec<(A, A)>; Registry::ALL.len()],
}

impl<A> Default for FamilyClaims<A> {
    fn default() -> Self {
        Self { claims: vec![], space: std::array::from_fn(|_| vec![]) }
    }
}

impl<A> FamilyClaims<A> {
    pub(super) fn add(
        &mut self,
        first: A,
        last: A,
        says: Option<Statement>,
        space: Option<Registry>,
    ) where
        A: Copy,
    {
        self.claims.extend(says.map(|says| Claim { first, last, says }));
        if let Some(registry) = space {
            self.space[registry as usize].push((first, last));
        }
    }
}

/// Lowers the basis of what umbrella ids hold.
pub(super) fn mark_umbrellas<A>(
    claims: &mut [Claim<A>],
    is_umbrella: impl Fn(CompanyNumber) -> bool,
) {
    for Claim { says, .. } in claims {
        if says.basis == CompanyKey::Delegated && says.company.is_some_and(&is_umbrella) {
            says.basis = CompanyKey::Umbrella;
        }
    }
}

/// Applies the rules to all claims. `with_file` tells for each registry whether its delegated file
/// was read.
pub(super) fn settle_family<A: Address>(
    family: FamilyClaims<A>,
    with_file: [bool; Registry::ALL.len()],
    companies: &CompanyTable,
    report: &mut SettleReport,
) -> Vec<Claim<A>> {
    let spaces = family.space.map(Space::of);
    let mut claims = family.claims;
    keep_maintained(&mut claims, &spaces, with_file, report);
    claims.sort_unstable_by(|one, other| one.order(other).then_with(|| precedence(one, other)));
    let removed = remove_duplicates(&mut claims);
    report.duplicates += removed.duplicates;
    report.transfers += removed.transfers;
    report.confirmed += removed.confirmed;
    inherit_holders(&mut claims);
    for claim in &claims {
        *report.holders.entry(claim.says.basis).or_default() += 1;
    }
    for Claim { says, .. } in claims.iter_mut().filter(|claim| claim.says.country.is_none()) {
        says.country = says.company.and_then(|company| companies.get(company).country);
        report.country_of_company += u64::from(says.country.is_some());
    }
    claims
}

/// Restricts claims to the space of their registry. Without a registry's delegated file all of its
/// claims are kept.
fn keep_maintained<A: Address>(
    claims: &mut Vec<Claim<A>>,
    spaces: &[Space<A>; Registry::ALL.len()],
    with_file: [bool; Registry::ALL.len()],
    report: &mut SettleReport,
) {
    let mut parts = vec![];
    claims.retain(|claim| {
        let Some(registry) = claim.says.registry.filter(|registry| with_file[*registry as usize])
        else {
            return true;
        };
        let maintained = spaces[registry as usize].intersect(claim.first, claim.last);
        let maintained: Vec<_> = maintained.collect();
        match maintained[..] {
            [] => report.unmaintained += 1,
            [range] if range == (claim.first, claim.last) => return true,
            // RIPE's importer drops such an object as a whole. Here its maintained part is kept,
            // because that is reliable.
            _ => {
                report.partly_maintained += 1;
                let part = |(first, last)| Claim { first, last, ..*claim };
                parts.extend(maintained.into_iter().map(part));
            }
        }
        false
    });
    claims.extend(parts);
}
