//! Ranges of pins: where the subnets of pins begin, in one generation of the hierarchy.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use delegation::constraints::Pin;
use hierarchy::{Hierarchy, Range, Scope};

/// The ranges that were computed last. For a company or a country all subnets are read, which is
/// too much for each run of a task.
#[derive(Debug, Default)]
pub struct PinnedRanges(Mutex<Option<Computed>>);

#[derive(Debug)]
struct Computed {
    hierarchy: Weak<Hierarchy>,
    scopes: Vec<Scope>,
    ranges: Arc<[Range]>,
}

impl PinnedRanges {
    /// Ranges in which the subnets of these pins begin.
    pub(super) fn of(&self, hierarchy: &Arc<Hierarchy>, pins: &[&Pin]) -> Arc<[Range]> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = last.as_ref().filter(|known| {
            let scopes = pins.iter().map(|pin| &pin.scope);
            known.hierarchy.as_ptr() == Arc::as_ptr(hierarchy) && known.scopes.iter().eq(scopes)
        });
        if let Some(known) = known {
            return Arc::clone(&known.ranges);
        }
        let ranges: Arc<[Range]> =
            pins.iter().flat_map(|pin| ranges_of(hierarchy, &pin.scope)).collect();
        let scopes = pins.iter().map(|pin| pin.scope.clone()).collect();
        let hierarchy = Arc::downgrade(hierarchy);
        *last = Some(Computed { hierarchy, scopes, ranges: Arc::clone(&ranges) });
        ranges
    }
}

fn ranges_of(hierarchy: &Hierarchy, scope: &Scope) -> Vec<Range> {
    match scope {
        Scope::Range(range) => vec![*range],
        Scope::Company { .. } | Scope::Country(_) => {
            let subnets = scope.subnets(hierarchy);
            subnets.map(|subnet| hierarchy.subnet(subnet).range()).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use hierarchy::{Builder, CompanyIndex, Generation, Record, Registry, SubnetKind};
    use model::{AgentId, PinId};

    use super::*;

    fn hierarchy(ranges: &[&str]) -> Arc<Hierarchy> {
        let mut companies = CompanyIndex::default();
        let mut builder = Builder::default();
        for range in ranges {
            builder.add(Record {
                range: range.parse().unwrap(),
                kind: SubnetKind::Delegated,
                registry: Some(Registry::RipeNcc),
                company: Some(companies.number(Registry::RipeNcc, "north")),
                country: None,
            });
        }
        Arc::new(builder.build(Generation::new(0), companies.into_companies()).0)
    }

    #[test]
    fn ranges_are_computed_once_for_the_same_pins_and_subnets() {
        let north = Scope::Company { registry: Registry::RipeNcc, handle: "north".into() };
        let range: Range = "203.0.113.0/24".parse().unwrap();
        let pin = |id, scope| Pin { id: PinId::new(id), scope, agent: AgentId::new(1) };
        let company = pin(1, north);
        let other = pin(2, Scope::Range(range));
        let one = hierarchy(&["198.51.100.0/26"]);
        let two = hierarchy(&["198.51.100.0/26", "198.51.100.64/26"]);
        let ranges = PinnedRanges::default();
        let first = ranges.of(&one, &[&company]);
        assert_eq!(*first, ["198.51.100.0/26".parse().unwrap()]);
        assert!(Arc::ptr_eq(&first, &ranges.of(&one, &[&company])));
        assert_eq!(ranges.of(&one, &[&company, &other]).len(), 2);
        assert_eq!(ranges.of(&two, &[&company, &other]).len(), 3);
        assert_eq!(ranges.of(&two, &[]).len(), 0);
    }
}
