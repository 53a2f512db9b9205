//! Differences between two sets of files or generations.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, Subnet, SubnetKind};
use serde::Serialize;

use crate::inspect::company_name;
use crate::thousands::Thousands;

/// Examples of each kind of change.
const MAX_EXAMPLES: usize = 10;

/// Differences of the delegated ranges. Blocks follow from them and are not compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Number of ranges before.
    pub before: u64,
    /// Number of ranges now.
    pub after: u64,
    /// Ranges without any change.
    pub same: u64,
    /// Ranges that are not there any more, without those of another size now.
    pub gone: Changes,
    /// Ranges that were not there before, without those of another size then.
    pub new: Changes,
    /// Ranges with the same first address, but another last address.
    pub resized: Changes,
    /// Ranges with another holder.
    pub company_changed: Changes,
    /// Ranges in another country.
    pub country_changed: Changes,
    /// Ranges of another registry.
    pub registry_changed: Changes,
}

/// Changes of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Number of changed ranges.
    pub count: u64,
    /// Descriptions of the first ones.
    pub examples: Vec<String>,
}

impl Changes {
    fn add(&mut self, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < MAX_EXAMPLES {
            self.examples.push(example());
        }
    }

    /// Adds a change of a value where there is one.
    fn compare(&mut self, range: Range, before: Option<String>, after: Option<String>) -> bool {
        let differs = before != after;
        if differs {
            let text = |value: Option<String>| value.unwrap_or_else(|| "-".to_owned());
            self.add(|| format!("{range} {} -> {}", text(before), text(after)));
        }
        differs
    }
}

impl Diff {
    /// Compares two hierarchies.
    pub fn of(before: &Hierarchy, after: &Hierarchy) -> Self {
        let mut diff = Self {
            before: delegated(before).count() as u64,
            after: delegated(after).count() as u64,
            ..Self::default()
        };
        let mut replacements = largest_new(before, after);
        let mut used = HashSet::new();
        for old in delegated(before).filter(|old| find(after, old).is_none()) {
            match replacements.remove(&old.range().first()) {
                Some(range) => {
                    used.insert(range);
                    diff.resized.add(|| format!("{} -> {range}", describe(&old, before)));
                }
                None => diff.gone.add(|| describe(&old, before)),
            }
        }
        for new in delegated(after) {
            match find(before, &new) {
                Some(old) => diff.compare((&old, before), (&new, after)),
                // Counted as resized above.
                None if used.contains(&new.range()) => {}
                None => diff.new.add(|| describe(&new, after)),
            }
        }
        diff
    }

    fn compare(&mut self, old: (&Subnet<'_>, &Hierarchy), new: (&Subnet<'_>, &Hierarchy)) {
        let range = new.0.range();
        let company = |(subnet, hierarchy): (&Subnet<'_>, &_)| company_name(hierarchy, subnet);
        let country = |subnet: &Subnet<'_>| subnet.country().map(|country| country.to_string());
        let registry = |subnet: &Subnet<'_>| subnet.registry().map(|registry| registry.to_string());
        let changed = [
            self.company_changed.compare(range, company(old), company(new)),
            self.country_changed.compare(range, country(old.0), country(new.0)),
            self.registry_changed.compare(range, registry(old.0), registry(new.0)),
        ];
        self.same += u64::from(!changed.contains(&true));
    }
}

fn delegated(hierarchy: &Hierarchy) -> impl Iterator<Item = Subnet<'_>> {
    hierarchy.iter().filter(|subnet| subnet.kind() == SubnetKind::Delegated)
}

/// The delegated range with the same addresses.
fn find<'h>(hierarchy: &'h Hierarchy, subnet: &Subnet<'_>) -> Option<Subnet<'h>> {
    let found = hierarchy.find(&subnet.range()).map(|id| hierarchy.subnet(id));
    found.filter(|found| found.kind() == SubnetKind::Delegated)
}

/// The largest new range by first address. If a range that stays begins at the same address, the
/// new one is a new range within it and not another size of it.
fn largest_new(before: &Hierarchy, after: &Hierarchy) -> HashMap<IpAddr, Range> {
    let mut largest = HashMap::new();
    for subnet in delegated(after).filter(|subnet| find(before, subnet).is_none()) {
        largest.entry(subnet.range().first()).or_insert_with(|| subnet.range());
    }
    largest
}

fn describe(subnet: &Subnet<'_>, hierarchy: &Hierarchy) -> String {
    let company = company_name(hierarchy, subnet).unwrap_or_else(|| "nobody".to_owned());
    let registry = subnet.registry().map_or("-", hierarchy::Registry::as_str);
    format!("{} {registry} {company}", subnet.range())
}

/// A table with examples.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{:>11}  ranges before", Thousands(self.before))?;
        writeln!(f, "{:>11}  ranges now", Thousands(self.after))?;
        writeln!(f, "{:>11}  the same in all", Thousands(self.same))?;
        for (changes, what) in [
            (&self.gone, "gone"),
            (&self.new, "new"),
            (&self.resized, "resized"),
            (&self.company_changed, "held by another company"),
            (&self.country_changed, "in another country"),
            (&self.registry_changed, "maintained by another registry"),
        ] {
            writeln!(f, "{:>11}  {what}", Thousands(changes.count))?;
            for example in &changes.examples {
                writeln!(f, "{:>11}    {example}", "")?;
            }
            if changes.count > changes.examples.len() as u64 {
                writeln!(f, "{:>11}    …", "")?;
            }
        }
        Ok(())
    }
}
