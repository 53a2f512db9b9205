//! What a set of files amounts to.

mod loaded;

use std::collections::BTreeMap;
use std::fmt;

use hierarchy::{Hierarchy, SubnetKind};
use serde::Serialize;
use store::generations::Facts;

use crate::read::Nested;
use crate::report::{SourceReport, Thousands, write_rejects, write_sources};
use crate::settle::SettleReport;
use crate::settle::holder::readable;

pub use loaded::{Aged, Loaded};

/// Companies that are named in [`Stats::largest`].
const LARGEST: usize = 10;

/// Figures about a hierarchy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Stats {
    /// All subnets: the two roots, the blocks and the delegated ranges.
    pub subnets: u64,
    /// Delegated ranges.
    pub delegated: u64,
    /// Blocks that group them.
    pub blocks: u64,
    /// Parts that were cut out of large ranges.
    pub virtual_subnets: u64,
    /// Subnets of IPv4; the others are of IPv6.
    pub ipv4: u64,
    /// Companies.
    pub companies: u64,
    /// Delegated ranges that are not a prefix.
    pub non_cidr: u64,
    /// Delegated ranges without a country.
    pub no_country: u64,
    /// Delegated ranges without a company.
    pub no_company: u64,
    /// Malformed records and objects, which were passed over.
    pub rejected: u64,
    /// Ranges left out because another record had exactly the same.
    pub equal: u64,
    /// Ranges that overlapped another in part, and were cut.
    pub crossing: u64,
    /// Subnets around the innermost subnet.
    pub max_depth: u64,
    /// Subnets by the number of subnets around them.
    pub depths: BTreeMap<u64, u64>,
    /// Companies by the number of ranges they hold, the small ones first.
    pub company_sizes: Vec<Size>,
    /// The companies with the most ranges.
    pub largest: Vec<Holder>,
    /// Bytes of the subnets in memory.
    pub heap_bytes: u64,
    /// What each rule of settling did; `None` for a generation that is loaded already.
    pub settled: Option<SettleReport>,
    /// Each text that was read.
    pub sources: Vec<SourceReport>,
    /// What the generation in use was made from; `None` for files.
    pub loaded: Option<Loaded>,
}

/// Companies of about the same size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Size {
    /// Fewest ranges that such a company holds.
    pub least: u64,
    /// Most ranges; `None` where there is no end.
    pub most: Option<u64>,
    /// How many there are.
    pub companies: u64,
}

/// A company and how much it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// The registry whose handle it is.
    pub registry: &'static str,
    /// The holder's name; the registry's handle for it where no name is known.
    pub company: String,
    /// How many ranges it holds.
    pub ranges: u64,
}

impl Stats {
    /// Counts what was read.
    pub fn of(nested: &Nested) -> Self {
        Self {
            rejected: nested.rejected(),
            equal: nested.build.equal + nested.settled.duplicates + nested.settled.transfers,
            crossing: nested.build.crossing,
            settled: Some(nested.settled.clone()),
            sources: nested.files.iter().map(SourceReport::from).collect(),
            ..Self::of_hierarchy(&nested.hierarchy)
        }
    }

    /// Counts the generation in use; `now_ms`, in milliseconds since 1970, tells how old it is.
    pub fn of_loaded(facts: &Facts, hierarchy: &Hierarchy, now_ms: i64) -> Self {
        Self { loaded: Some(Loaded::of(facts, now_ms)), ..Self::of_hierarchy(hierarchy) }
    }

    /// Counts a hierarchy of which nothing else is known.
    pub fn of_hierarchy(hierarchy: &Hierarchy) -> Self {
        let count = |wanted: &dyn Fn(&hierarchy::Subnet<'_>) -> bool| {
            hierarchy.iter().filter(wanted).count() as u64
        };
        let held = |subnet: &hierarchy::Subnet<'_>| subnet.kind() == SubnetKind::Delegated;
        let depths = depths(hierarchy);
        Self {
            subnets: hierarchy.len() as u64,
            delegated: count(&held),
            blocks: count(&|subnet| subnet.kind() == SubnetKind::Block && !subnet.is_virtual()),
            virtual_subnets: count(&|subnet| subnet.is_virtual()),
            ipv4: count(&|subnet| subnet.range().is_v4()),
            companies: hierarchy.companies().len() as u64,
            non_cidr: count(&|subnet| held(subnet) && subnet.range().cidr().is_none()),
            no_country: count(&|subnet| held(subnet) && subnet.country().is_none()),
            no_company: count(&|subnet| held(subnet) && subnet.company().is_none()),
            rejected: 0,
            equal: 0,
            crossing: 0,
            max_depth: depths.keys().next_back().copied().unwrap_or(0),
            depths,
            company_sizes: company_sizes(hierarchy),
            largest: largest(hierarchy),
            heap_bytes: hierarchy.heap_bytes().subnets as u64,
            settled: None,
            sources: vec![],
            loaded: None,
        }
    }
}

fn depths(hierarchy: &Hierarchy) -> BTreeMap<u64, u64> {
    let mut depths = BTreeMap::new();
    for subnet in hierarchy.iter() {
        *depths.entry(subnet.depth() as u64).or_default() += 1;
    }
    depths
}

fn ranges_of(hierarchy: &Hierarchy) -> impl Iterator<Item = (hierarchy::CompanyId, usize)> {
    hierarchy.companies().iter().map(|(id, _)| (id, hierarchy.company_subnets(id).len()))
}

fn company_sizes(hierarchy: &Hierarchy) -> Vec<Size> {
    let counts: Vec<u64> = ranges_of(hierarchy).map(|(_, ranges)| ranges as u64).collect();
    let sizes = [(1, Some(1)), (2, Some(5)), (6, Some(20)), (21, Some(100)), (101, None)];
    let size = |(least, most): (u64, Option<u64>)| {
        let such = |ranges: &&u64| **ranges >= least && most.is_none_or(|most| **ranges <= most);
        Size { least, most, companies: counts.iter().filter(such).count() as u64 }
    };
    sizes.into_iter().map(size).collect()
}

fn largest(hierarchy: &Hierarchy) -> Vec<Holder> {
    let mut all: Vec<_> = ranges_of(hierarchy).collect();
    all.sort_by_key(|(id, ranges)| (std::cmp::Reverse(*ranges), *id));
    all.truncate(LARGEST);
    let holder = |(id, ranges): (_, usize)| {
        let company = hierarchy.company(id)?;
        Some(Holder {
            registry: company.registry.as_str(),
            company: company.name.unwrap_or_else(|| readable(company.handle)).to_owned(),
            ranges: ranges as u64,
        })
    };
    all.into_iter().filter_map(holder).collect()
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>11}  with {}", Thousands(self.companies), self.least)?;
        match self.most {
            Some(most) if most == self.least => Ok(()),
            Some(most) => write!(f, " to {most}"),
            None => write!(f, " or more"),
        }
    }
}

/// Some lines for a person.
impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v6 = self.subnets - self.ipv4;
        let bytes = self.heap_bytes.checked_div(self.subnets).unwrap_or(0);
        for (count, what) in [
            (self.subnets, "subnets"),
            (self.delegated, "delegated ranges"),
            (self.blocks, "blocks that group them"),
            (self.virtual_subnets, "virtual subnets cut out of them"),
            (self.ipv4, "subnets of IPv4"),
            (v6, "subnets of IPv6"),
            (self.companies, "companies"),
            (self.non_cidr, "ranges that are not a prefix"),
            (self.no_country, "ranges without a country"),
            (self.no_company, "ranges without a company"),
            (self.rejected, "malformed records passed over"),
            (self.equal, "ranges left out because another record has them already"),
            (self.crossing, "ranges cut because they overlap another in part"),
            (bytes, "bytes of memory a subnet"),
        ] {
            writeln!(f, "{:>11}  {what}", Thousands(count))?;
        }
        writeln!(f, "Subnets by depth (0 = root):")?;
        self.depths
            .iter()
            .try_for_each(|(depth, n)| writeln!(f, "{:>11}  at depth {depth}", Thousands(*n)))?;
        writeln!(f, "Companies by number of ranges:")?;
        self.company_sizes.iter().try_for_each(|size| writeln!(f, "{size}"))?;
        writeln!(f, "Companies with the most ranges:")?;
        for holder in &self.largest {
            writeln!(
                f,
                "{:>11}  {} {}",
                Thousands(holder.ranges),
                holder.registry,
                holder.company
            )?;
        }
        if let Some(settled) = &self.settled {
            write!(f, "Settled:\n{settled}")?;
        }
        if let Some(loaded) = &self.loaded {
            write!(f, "{loaded}")?;
        }
        if self.sources.is_empty() {
            return Ok(());
        }
        writeln!(f, "Files:")?;
        write_sources(f, &self.sources)?;
        write_rejects(f, &self.sources)
    }
}
