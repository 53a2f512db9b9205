//! What changed from one set of files, or one generation, to another.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;

use hierarchy::{Hierarchy, Range, Subnet, SubnetKind};
use serde::Serialize;

use crate::inspect::company_name;
use crate::report::Thousands;

/// Examples of each kind of change.
const EXAMPLES: usize = 10;

/// What changed. Only ranges that somebody holds are compared: blocks follow from them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Diff {
    /// Ranges before.
    pub before: u64,
    /// Ranges now.
    pub after: u64,
    /// Ranges of which nothing changed.
    pub same: u64,
    /// Ranges that begin where none begins any more.
    pub gone: Changes,
    /// Ranges that begin where none began before.
    pub new: Changes,
    /// Ranges that begin where one began before, but end elsewhere.
    pub resized: Changes,
    /// Ranges that another company holds now.
    pub company_changed: Changes,
    /// Ranges that are in another country now.
    pub country_changed: Changes,
    /// Ranges that another registry maintains now.
    pub registry_changed: Changes,
}

/// Changes of one kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// How many.
    pub count: u64,
    /// The first few, in words.
    pub examples: Vec<String>,
}

impl Changes {
    fn add(&mut self, example: impl FnOnce() -> String) {
        self.count += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push(example());
        }
    }
}

impl Diff {
    /// Compares two hierarchies.
    pub fn of(before: &Hierarchy, after: &Hierarchy) -> Self {
        let (old_starts, new_starts) = (starts(before), starts(after));
        let mut diff = Self {
            before: held(before).count() as u64,
            after: held(after).count() as u64,
            ..Self::default()
        };
        for old in held(before) {
            if after
                .find(&old.range())
                .is_none_or(|id| after.subnet(id).kind() != SubnetKind::Delegated)
            {
                diff.lost(&old, before, &new_starts);
            }
        }
        for new in held(after) {
            let there = before.find(&new.range()).map(|id| before.subnet(id));
            match there.filter(|old| old.kind() == SubnetKind::Delegated) {
                Some(old) => diff.compare((&old, before), (&new, after)),
                None if old_starts.contains_key(&new.range().first()) => {}
                None => diff.new.add(|| told(&new, after)),
            }
        }
        diff
    }

    fn lost(&mut self, old: &Subnet<'_>, before: &Hierarchy, new_starts: &HashMap<IpAddr, Range>) {
        match new_starts.get(&old.range().first()) {
            Some(range) => self.resized.add(|| format!("{} -> {range}", told(old, before))),
            None => self.gone.add(|| told(old, before)),
        }
    }

    fn compare(&mut self, old: (&Subnet<'_>, &Hierarchy), new: (&Subnet<'_>, &Hierarchy)) {
        let range = new.0.range();
        let companies = [company_name(old.1, old.0), company_name(new.1, new.0)];
        let countries =
            [old.0.country(), new.0.country()].map(|country| country.map(|c| c.to_string()));
        let registries =
            [old.0.registry(), new.0.registry()].map(|registry| registry.map(|r| r.to_string()));
        let differs = |[one, other]: &[Option<String>; 2]| one != other;
        let arrow = |[one, other]: &[Option<String>; 2]| {
            let word = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
            format!("{range} {} -> {}", word(one), word(other))
        };
        if !differs(&companies) && !differs(&countries) && !differs(&registries) {
            self.same += 1;
        }
        for (values, changes) in [
            (&companies, &mut self.company_changed),
            (&countries, &mut self.country_changed),
            (&registries, &mut self.registry_changed),
        ] {
            if differs(values) {
                changes.add(|| arrow(values));
            }
        }
    }
}

fn held(hierarchy: &Hierarchy) -> impl Iterator<Item = Subnet<'_>> {
    hierarchy.iter().filter(|subnet| subnet.kind() == SubnetKind::Delegated)
}

/// The largest range that begins at an address.
fn starts(hierarchy: &Hierarchy) -> HashMap<IpAddr, Range> {
    let mut starts = HashMap::new();
    for subnet in held(hierarchy) {
        starts.entry(subnet.range().first()).or_insert_with(|| subnet.range());
    }
    starts
}

fn told(subnet: &Subnet<'_>, hierarchy: &Hierarchy) -> String {
    let company = company_name(hierarchy, subnet).unwrap_or_else(|| "nobody".to_owned());
    let registry = subnet.registry().map_or("-", hierarchy::Registry::as_str);
    format!("{} {registry} {company}", subnet.range())
}

/// A table, then examples.
impl fmt::Display for Diff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, what) in [
            (self.before, "ranges before"),
            (self.after, "ranges now"),
            (self.same, "the same in all"),
        ] {
            writeln!(f, "{:>11}  {what}", Thousands(count))?;
        }
        for (changes, what) in [
            (&self.gone, "gone"),
            (&self.new, "new"),
            (&self.resized, "resized"),
            (&self.company_changed, "held by another company"),
            (&self.country_changed, "in another country"),
            (&self.registry_changed, "maintained by another registry"),
        ] {
            writeln!(f, "{:>11}  {what}", Thousands(changes.count))?;
            changes
                .examples
                .iter()
                .try_for_each(|example| writeln!(f, "{:>11}    {example}", ""))?;
            if changes.count > changes.examples.len() as u64 {
                writeln!(f, "{:>11}    …", "")?;
            }
        }
        Ok(())
    }
}
