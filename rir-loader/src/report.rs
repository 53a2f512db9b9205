//! What came of it, for a person and for a program.

mod thousands;

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use hierarchy::{Generation, Registry};
use serde::Serialize;

use crate::delegated::Resource;
use crate::dialect::Dialect;
use crate::read::{Contents, Nested, SourceFile};
use crate::rejects::Example;
use crate::settle::SettleReport;

pub use thousands::Thousands;

/// What one text contributed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// Registry whose data it holds; `None` for routes.
    pub registry: Option<&'static str>,
    /// Its name, without the directory.
    pub file: String,
    /// The way it is written in: delegated, rpsl, lacnic, arin, arin-xml or routing.
    pub dialect: &'static str,
    /// The registry's number of the edition; empty where the file has none.
    pub serial: String,
    /// Day up to which it speaks, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Records or objects in it, of every kind.
    pub records: u64,
    /// IPv4 ranges that somebody holds.
    pub ipv4: u64,
    /// IPv6 ranges that somebody holds.
    pub ipv6: u64,
    /// Organisations that are described.
    pub organisations: u64,
    /// Objects by their first key, those included that are passed over.
    pub objects: BTreeMap<String, u64>,
    /// Malformed records or objects.
    pub rejected: u64,
    /// The first of them.
    pub examples: Vec<Example>,
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
    /// Parts of subnets that searches found to be in different places, put in as virtual subnets.
    pub parts: u64,
    /// Malformed records and objects that were passed over.
    pub rejected: u64,
    /// What each rule of settling did.
    pub settled: SettleReport,
    /// Registries of which there was no file.
    pub missing: Vec<&'static str>,
    /// Each file.
    pub sources: Vec<SourceReport>,
}

impl From<&SourceFile> for SourceReport {
    fn from(source: &SourceFile) -> Self {
        let name = source
            .path
            .file_name()
            .map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        let rejects = source.rejects();
        let empty = Self {
            registry: source.registry.map(Registry::as_str),
            file: source.member.as_ref().map_or(name.clone(), |member| format!("{name}, {member}")),
            dialect: "",
            serial: String::new(),
            date: None,
            records: 0,
            ipv4: 0,
            ipv6: 0,
            organisations: 0,
            objects: BTreeMap::new(),
            rejected: rejects.count,
            examples: rejects.examples.clone(),
        };
        empty.with(&source.contents)
    }
}

impl SourceReport {
    fn with(self, contents: &Contents) -> Self {
        match contents {
            Contents::Delegated(report) => Self {
                dialect: Dialect::Delegated.as_str(),
                serial: report.header.serial.clone(),
                date: report.header.end.map(|day| day.to_string()),
                records: report.records(),
                ipv4: report.of(Resource::Ipv4).held,
                ipv6: report.of(Resource::Ipv6).held,
                ..self
            },
            Contents::Whois(report) => Self {
                dialect: report.dialect.as_str(),
                records: report.objects,
                ipv4: report.ranges[0],
                ipv6: report.ranges[1],
                organisations: report.organisations,
                objects: report.classes.clone(),
                ..self
            },
            Contents::Routing(report) => {
                Self { dialect: Dialect::Routing.as_str(), records: report.routes, ..self }
            }
            Contents::Passed(_) => Self { dialect: "passed over", ..self },
        }
    }

    /// As it is kept with the generation.
    pub fn to_stored(&self) -> store::generations::Source {
        store::generations::Source {
            registry: self.registry.unwrap_or(self.dialect).to_owned(),
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
        parts: u64,
        took: Duration,
        sources: Vec<SourceReport>,
    ) -> Self {
        Self {
            generation: generation.get(),
            subnets: nested.hierarchy.len() as u64 + parts,
            companies: nested.hierarchy.companies().len() as u64,
            build_seconds: took.as_secs_f64(),
            equal: nested.build.equal,
            crossing: nested.build.crossing,
            parts,
            rejected: nested.rejected(),
            settled: nested.settled.clone(),
            missing: nested.missing().into_iter().map(Registry::as_str).collect(),
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
            writeln!(
                f,
                "No file of {}: nothing is known of their addresses.",
                self.missing.join(", ")
            )?;
        }
        if self.equal > 0 {
            writeln!(
                f,
                "Left out: {} ranges that another record has already.",
                Thousands(self.equal)
            )?;
        }
        if self.crossing > 0 {
            writeln!(f, "Cut: {} ranges that overlap another in part.", Thousands(self.crossing))?;
        }
        if self.parts > 0 {
            let parts = Thousands(self.parts);
            writeln!(
                f,
                "Put in: {parts} parts of ranges that searches found to be in different places."
            )?;
        }
        write!(f, "Settled:\n{}", self.settled)?;
        write_rejects(f, &self.sources)
    }
}

/// One line a text, under a heading.
pub fn write_sources(f: &mut impl fmt::Write, sources: &[SourceReport]) -> fmt::Result {
    let width = sources.iter().map(|source| source.file.chars().count()).max().unwrap_or(0).max(4);
    writeln!(
        f,
        "  registry  up to       {:width$}  {:>9}  {:>9}  {:>9}",
        "file", "records", "IPv4 held", "IPv6 held"
    )?;
    for source in sources {
        let (registry, date) =
            (source.registry.unwrap_or("-"), source.date.as_deref().unwrap_or("unknown"));
        let [records, v4, v6] = [source.records, source.ipv4, source.ipv6].map(Thousands);
        let file = &source.file;
        writeln!(f, "  {registry:8}  {date:10}  {file:width$}  {records:>9}  {v4:>9}  {v6:>9}")?;
    }
    Ok(())
}

/// What could not be read, with the first examples of each text.
pub fn write_rejects(f: &mut impl fmt::Write, sources: &[SourceReport]) -> fmt::Result {
    for source in sources.iter().filter(|source| source.rejected > 0) {
        writeln!(f, "Passed over as malformed: {} in {}", Thousands(source.rejected), source.file)?;
        source.examples.iter().try_for_each(|example| writeln!(f, "  {example}"))?;
    }
    Ok(())
}
