//! Constraints on companies: a company whose handle a new generation does not have.
//!
//! Registries' files name many companies by numbers or names that change: a number is replaced by a
//! handle once a dump is loaded as well, and the spelling of a name may change. The ranges stay.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::id::CompanyId;
use crate::range::Range;
use crate::registry::Registry;
use crate::scope::Scope;
use crate::tree::Hierarchy;

/// Whether this generation has the company of a scope; a scope of another kind names none that is
/// missing.
pub fn has_company(hierarchy: &Hierarchy, scope: &Scope) -> bool {
    let Scope::Company { registry, handle } = scope else { return true };
    hierarchy.companies().iter().any(|(_, one)| one.registry == *registry && one.handle == handle)
}

/// The registry and the handle that have most addresses of the company's subnets in the new
/// generation. None where none of these subnets is recorded there for a company: a wider record
/// around them may be of a provider with many customers.
pub fn successor_of_company(
    old: &Hierarchy,
    new: &Hierarchy,
    scope: &Scope,
) -> Option<(Registry, String)> {
    let mut held: HashMap<CompanyId, u128> = HashMap::new();
    for subnet in scope.subnets(old) {
        let range = old.subnet(subnet).range();
        for (company, addresses) in holders(new, &range) {
            let sum = held.entry(company).or_default();
            *sum = sum.saturating_add(addresses);
        }
    }
    let (company, _) = held.into_iter().max_by_key(|(company, sum)| (*sum, Reverse(*company)))?;
    let company = new.company(company)?;
    Some((company.registry, company.handle.to_owned()))
}

/// The present holders of a range: its own if it is still a subnet, else those of its parts.
fn holders(new: &Hierarchy, range: &Range) -> Vec<(CompanyId, u128)> {
    let same = new.find(range);
    let parts = new.inside(range).filter(|_| same.is_none());
    same.into_iter()
        .chain(parts)
        .filter_map(|id| {
            let subnet = new.subnet(id);
            Some((subnet.company()?, subnet.range().addresses()))
        })
        .collect()
}
