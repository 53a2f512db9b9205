//! What came of it, for a person and for a program.

mod thousands;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use hierarchy::Generation;
use serde::Serialize;

use crate::delegated::{FileReport, Resource};
use crate::read::Nested;

pub use thousands::Thousands;

/// What one file contributed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// Registry that published it.
    pub registry: &'static str,
    /// Its name, without the directory.
    pub file: String,
    /// The registry's number of the edition.
    pub serial: String,
    /// Day up to which it speaks, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Records in it, of every kind.
    pub records: u64,
    /// IPv4 ranges that somebody holds.
    pub ipv4: u64,
    /// IPv6 ranges that somebody holds.
    pub ipv6: u64,
}

/// What a load did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadReport {
    /// Number of the new generation.
    pub generation: i64,
    /// Its subnets: the two roots, the blocks and the delegated ranges.
    pub subnets: u64,
    /// Its companies.
    pub companies: u64,
    /// Seconds from the first byte read to the swap.
    pub build_seconds: f64,
    /// Ranges left out because another record had exactly the same.
    pub equal: u64,
    /// Ranges that overlapped another without one holding the other, and were cut.
    pub crossing: u64,
    /// Registries of which there was no file.
    pub missing: Vec<&'static str>,
    /// Each file.
    pub sources: Vec<SourceReport>,
}

impl From<&(PathBuf, FileReport)> for SourceReport {
    fn from((path, report): &(PathBuf, FileReport)) -> Self {
        Self {
            registry: report.header.registry.as_str(),
            file: path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned()),
            serial: report.header.serial.clone(),
            date: report.header.end.map(|day| day.to_string()),
            records: report.records(),
            ipv4: report.of(Resource::Ipv4).held,
            ipv6: report.of(Resource::Ipv6).held,
        }
    }
}

impl SourceReport {
    /// As it is kept with the generation.
    pub fn to_stored(&self) -> store::generations::Source {
        store::generations::Source {
            registry: self.registry.to_owned(),
            file: self.file.clone(),
            serial: self.serial.clone(),
            date: self.date.clone(),
            records: self.records,
        }
    }
}

impl LoadReport {
    pub(crate) fn new(
        generation: Generation,
        nested: &Nested,
        took: Duration,
        sources: Vec<SourceReport>,
    ) -> Self {
        Self {
            generation: generation.get(),
            subnets: nested.hierarchy.len() as u64,
            companies: nested.hierarchy.companies().len() as u64,
            build_seconds: took.as_secs_f64(),
            equal: nested.build.equal,
            crossing: nested.build.crossing,
            missing: nested.missing().into_iter().map(hierarchy::Registry::as_str).collect(),
            sources,
        }
    }
}

/// A few lines for a person.
impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (subnets, companies) = (Thousands(self.subnets), Thousands(self.companies));
        let (generation, seconds) = (self.generation, self.build_seconds);
        writeln!(
            f,
            "Generation {generation} is in use: {subnets} subnets, {companies} companies, in {seconds:.1} s."
        )?;
        write_sources(f, &self.sources)?;
        if !self.missing.is_empty() {
            writeln!(f, "No file of {}: nothing is known of their addresses.", self.missing.join(", "))?;
        }
        if self.equal > 0 {
            writeln!(f, "Left out: {} ranges that another record has already.", Thousands(self.equal))?;
        }
        if self.crossing > 0 {
            writeln!(f, "Cut: {} ranges that overlap another in part.", Thousands(self.crossing))?;
        }
        Ok(())
    }
}

/// One line a file, under a heading.
pub fn write_sources(f: &mut impl fmt::Write, sources: &[SourceReport]) -> fmt::Result {
    let width = sources.iter().map(|source| source.file.chars().count()).max().unwrap_or(0).max(4);
    writeln!(
        f,
        "  registry  up to       {:width$}  {:>9}  {:>9}  {:>9}",
        "file", "records", "IPv4 held", "IPv6 held"
    )?;
    for source in sources {
        let date = source.date.as_deref().unwrap_or("unknown");
        let [records, v4, v6] = [source.records, source.ipv4, source.ipv6].map(Thousands);
        let (registry, file) = (source.registry, &source.file);
        writeln!(f, "  {registry:8}  {date:10}  {file:width$}  {records:>9}  {v4:>9}  {v6:>9}")?;
    }
    Ok(())
}
