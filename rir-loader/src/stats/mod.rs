//! Figures about a set of files or the current generation.

mod current;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;

use hierarchy::{Hierarchy, SubnetKind};
use serde::Serialize;
use store::generations::Facts;

use crate::read::RegistryData;
use crate::report::{SourceReport, write_rejects, write_sources};
use crate::settle::SettleReport;
use crate::settle::readable;
use crate::thousands::Thousands;

pub use current::{CurrentGeneration, SourceAge};

/// Companies listed in [`Stats::largest`].
const MAX_LARGEST: usize = 10;

/// Figures about a hierarchy.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// All subnets: the two roots, the blocks and the delegated ranges.
    pub subnets: u64,
    /// Ranges with a record of their own.
    pub delegated: u64,
    /// Blocks that group them.
    pub blocks: u64,
    /// Pieces of large or split ranges, and of unregistered space.
    pub virtual_subnets: u64,
    /// Subnets of IPv4; the others are of IPv6.
    pub ipv4: u64,
    /// Companies that hold a range.
    pub companies: u64,
    /// Delegated ranges that are not a prefix.
    pub non_cidr: u64,
    /// Delegated ranges without a country.
    pub no_country: u64,
    /// Delegated ranges without a company.
    pub no_company: u64,
    /// Malformed records and objects, which were skipped.
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
    pub company_sizes: Vec<SizeClass>,
    /// The companies with the most ranges.
    pub largest: Vec<LargeCompany>,
    /// Bytes of the subnets in memory.
    pub heap_bytes: u64,
    /// Counts of each rule of settling; `None` for the current generation.
    pub settled: Option<SettleReport>,
    /// Counts of each file; empty for the current generation.
    pub sources: Vec<SourceReport>,
    /// Sources of the current generation; `None` for files.
    pub loaded: Option<CurrentGeneration>,
}

/// Companies of about the same size.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SizeClass {
    /// Fewest ranges of such a company.
    pub least: u64,
    /// Most ranges; `None` without a limit.
    pub most: Option<u64>,
    /// Number of such companies.
    pub companies: u64,
}

/// A company with many ranges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LargeCompany {
    /// Registry of the company's handle.
    pub registry: &'static str,
    /// Name, or the registry's handle where no name is known.
    pub company: String,
    /// Ranges that it holds.
    pub ranges: u64,
}

impl Stats {
    /// Figures about files.
    pub fn of(data: &RegistryData) -> Self {
        Self {
            rejected: data.rejected(),
            equal: data.build.equal + data.settled.duplicates + data.settled.transfers,
            crossing: data.build.crossing,
            settled: Some(data.settled.clone()),
            sources: data.files.iter().map(SourceReport::from).collect(),
            ..Self::of_hierarchy(&data.hierarchy)
        }
    }

    /// Figures about the current generation at `now_ms`, in milliseconds since 1970.
    pub fn of_current(facts: &Facts, hierarchy: &Hierarchy, now_ms: i64) -> Self {
        let loaded = Some(CurrentGeneration::of(facts, now_ms));
        Self { loaded, ..Self::of_hierarchy(hierarchy) }
    }

    fn of_hierarchy(hierarchy: &Hierarchy) -> Self {
        let mut stats = Self {
            subnets: hierarchy.len() as u64,
            companies: hierarchy.companies().len() as u64,
            company_sizes: company_sizes(hierarchy),
            largest: largest(hierarchy),
            heap_bytes: hierarchy.heap_bytes() as u64,
            ..Self::default()
        };
        for subnet in hierarchy.iter() {
            *stats.depths.entry(subnet.depth() as u64).or_default() += 1;
            stats.ipv4 += u64::from(subnet.range().is_v4());
            match subnet.kind() {
                SubnetKind::Root => {}
                SubnetKind::Block => stats.blocks += 1,
                SubnetKind::Virtual => stats.virtual_subnets += 1,
                SubnetKind::Delegated => {
                    stats.delegated += 1;
                    stats.non_cidr += u64::from(subnet.range().cidr().is_none());
                    stats.no_country += u64::from(subnet.country().is_none());
                    stats.no_company += u64::from(subnet.company().is_none());
                }
            }
        }
        stats.max_depth = stats.depths.keys().next_back().copied().unwrap_or(0);
        stats
    }
}

/// The number of ranges that each company holds, in the order of the companies.
fn ranges_by_company(hierarchy: &Hierarchy) -> Vec<u64> {
    let mut ranges = vec![0; hierarchy.companies().len()];
    for company in hierarchy.iter().filter_map(|subnet| subnet.company()) {
        ranges[company.get() as usize] += 1;
    }
    ranges
}

fn company_sizes(hierarchy: &Hierarchy) -> Vec<SizeClass> {
    let sizes = [(1, Some(1)), (2, Some(5)), (6, Some(20)), (21, Some(100)), (101, None)];
    let mut classes = sizes.map(|(least, most)| SizeClass { least, most, companies: 0 });
    for ranges in ranges_by_company(hierarchy) {
        if let Some(class) = classes.iter_mut().rev().find(|class| ranges >= class.least) {
            class.companies += 1;
        }
    }
    classes.into()
}

fn largest(hierarchy: &Hierarchy) -> Vec<LargeCompany> {
    let ids = hierarchy.companies().iter().map(|(id, _)| id);
    let mut companies: Vec<_> = ids.zip(ranges_by_company(hierarchy)).collect();
    companies.sort_by_key(|(id, ranges)| (Reverse(*ranges), *id));
    let large = companies.into_iter().take(MAX_LARGEST).filter_map(|(id, ranges)| {
        let company = hierarchy.company(id)?;
        Some(LargeCompany {
            registry: company.registry.as_str(),
            company: company.name.unwrap_or_else(|| readable(company.handle)).to_owned(),
            ranges,
        })
    });
    large.collect()
}

impl fmt::Display for SizeClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:>11}  with {}", Thousands(self.companies), self.least)?;
        match self.most {
            Some(most) if most == self.least => Ok(()),
            Some(most) => write!(f, " to {most}"),
            None => write!(f, " or more"),
        }
    }
}

impl fmt::Display for Stats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.heap_bytes.checked_div(self.subnets).unwrap_or(0);
        for (count, what) in [
            (self.subnets, "subnets"),
            (self.delegated, "delegated ranges"),
            (self.blocks, "blocks that group them"),
            (self.virtual_subnets, "virtual subnets"),
            (self.ipv4, "subnets of IPv4"),
            (self.subnets - self.ipv4, "subnets of IPv6"),
            (self.companies, "companies"),
            (self.non_cidr, "ranges that are not a prefix"),
            (self.no_country, "ranges without a country"),
            (self.no_company, "ranges without a company"),
            (self.rejected, "malformed records skipped"),
            (self.equal, "ranges left out because another record has them already"),
            (self.crossing, "ranges cut because they overlap another in part"),
            (bytes, "bytes of memory per subnet"),
        ] {
            writeln!(f, "{:>11}  {what}", Thousands(count))?;
        }
        writeln!(f, "Subnets by depth (0 = root):")?;
        for (depth, count) in &self.depths {
            writeln!(f, "{:>11}  at depth {depth}", Thousands(*count))?;
        }
        writeln!(f, "Companies by number of ranges:")?;
        self.company_sizes.iter().try_for_each(|size| writeln!(f, "{size}"))?;
        writeln!(f, "Companies with the most ranges:")?;
        for LargeCompany { registry, company, ranges } in &self.largest {
            writeln!(f, "{:>11}  {registry} {company}", Thousands(*ranges))?;
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
