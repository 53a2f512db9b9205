//! Reports of a load, as text and as JSON.

use std::collections::BTreeMap;
use std::fmt;

use hierarchy::Registry;
use serde::Serialize;
use store::generations::Source;

use crate::delegated::Resource;
use crate::format::Format;
use crate::read::{Contents, SourceFile};
use crate::rejects::Example;
use crate::settle::SettleReport;
use crate::thousands::Thousands;

/// Counts of one text.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct SourceReport {
    /// Registry of the data; `None` for routes.
    pub registry: Option<&'static str>,
    /// Name of the file without the directory, and the name inside an archive.
    pub file: String,
    /// `delegated`, `rpsl`, `lacnic`, `arin`, `arin-xml`, `routing`, or `skipped`.
    pub format: &'static str,
    /// The registry's number of the edition; empty where the file has none.
    pub serial: String,
    /// Last day covered, `YYYY-MM-DD`, or the day on which the file was last modified where the
    /// text names none; `None` for a stream.
    pub date: Option<String>,
    /// Records or objects of every kind.
    pub records: u64,
    /// IPv4 ranges with a holder.
    pub ipv4: u64,
    /// IPv6 ranges with a holder.
    pub ipv6: u64,
    /// Organisations of a WHOIS dump.
    pub organisations: u64,
    /// Objects of a WHOIS dump by class, skipped ones included.
    pub objects: BTreeMap<String, u64>,
    /// Malformed records or objects.
    pub rejected: u64,
    /// The first malformed ones.
    pub examples: Vec<Example>,
}

/// Result of a load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadReport {
    /// Number of the new generation.
    pub generation: i64,
    /// Subnets: the two roots, the blocks and the delegated ranges.
    pub subnets: u64,
    /// Companies that hold a range.
    pub companies: u64,
    /// Seconds from the first byte read to the swap.
    pub build_seconds: f64,
    /// Ranges left out because another record had exactly the same.
    pub equal: u64,
    /// Ranges that overlapped another without one containing the other, and were cut.
    pub crossing: u64,
    /// Virtual subnets added where searches found addresses in different places.
    pub virtual_subnets: u64,
    /// Malformed records and objects that were skipped.
    pub rejected: u64,
    /// Counts of each rule of settling.
    pub settled: SettleReport,
    /// Registries without a file.
    pub missing: Vec<&'static str>,
    /// Counts of each file.
    pub sources: Vec<SourceReport>,
}

impl From<&SourceFile> for SourceReport {
    fn from(source: &SourceFile) -> Self {
        let name = source.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let rejects = source.rejects();
        let report = Self {
            registry: source.registry.map(Registry::as_str),
            file: source.member.as_ref().map_or(name.clone(), |member| format!("{name}, {member}")),
            date: source.modified.clone(),
            rejected: rejects.count,
            examples: rejects.examples.clone(),
            ..Self::default()
        };
        match &source.contents {
            Contents::Delegated(delegated) => Self {
                format: Format::Delegated.as_str(),
                serial: delegated.header.serial.clone(),
                date: delegated.header.end.clone().or(source.modified.clone()),
                records: delegated.records(),
                ipv4: delegated.count_of(Resource::Ipv4).held,
                ipv6: delegated.count_of(Resource::Ipv6).held,
                ..report
            },
            Contents::Whois(whois) => Self {
                format: whois.format.as_str(),
                records: whois.objects,
                ipv4: whois.ranges[0],
                ipv6: whois.ranges[1],
                organisations: whois.organisations,
                objects: whois.classes.clone(),
                ..report
            },
            Contents::Routing(routing) => {
                Self { format: Format::Routing.as_str(), records: routing.routes, ..report }
            }
            Contents::Skipped => Self { format: "skipped", ..report },
        }
    }
}

impl SourceReport {
    /// The part that is stored with the generation; `None` for a text of no registry, except
    /// routes.
    pub fn to_stored(&self) -> Option<Source> {
        let routes = (self.format == Source::ROUTES).then_some(Source::ROUTES);
        Some(Source {
            registry: self.registry.or(routes)?.to_owned(),
            file: self.file.clone(),
            serial: self.serial.clone(),
            date: self.date.clone(),
            records: self.records,
        })
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "Generation {} is in use: {} subnets, {} companies, in {:.1} s.",
            self.generation,
            Thousands(self.subnets),
            Thousands(self.companies),
            self.build_seconds
        )?;
        write_sources(f, &self.sources)?;
        if !self.missing.is_empty() {
            let missing = self.missing.join(", ");
            writeln!(f, "No file of {missing}: their addresses are unknown.")?;
        }
        for (count, what) in [
            (self.equal, "ranges left out because another record has them already"),
            (self.crossing, "ranges cut because they overlap another in part"),
            (self.virtual_subnets, "virtual subnets added that searches found"),
        ] {
            if count > 0 {
                writeln!(f, "{:>11}  {what}", Thousands(count))?;
            }
        }
        write!(f, "Settled:\n{}", self.settled)?;
        write_rejects(f, &self.sources)
    }
}

/// A table with one line for each text.
pub fn write_sources(f: &mut impl fmt::Write, sources: &[SourceReport]) -> fmt::Result {
    let width = sources.iter().map(|source| source.file.chars().count()).max().unwrap_or(0).max(4);
    writeln!(
        f,
        "  registry  up to       {:width$}  {:>9}  {:>9}  {:>9}",
        "file", "records", "IPv4 held", "IPv6 held"
    )?;
    for source in sources {
        writeln!(
            f,
            "  {:8}  {:10}  {:width$}  {:>9}  {:>9}  {:>9}",
            source.registry.unwrap_or("-"),
            source.date.as_deref().unwrap_or("unknown"),
            source.file,
            Thousands(source.records),
            Thousands(source.ipv4),
            Thousands(source.ipv6)
        )?;
    }
    Ok(())
}

/// Numbers of malformed objects, with the first examples of each text.
pub fn write_rejects(f: &mut impl fmt::Write, sources: &[SourceReport]) -> fmt::Result {
    for source in sources.iter().filter(|source| source.rejected > 0) {
        writeln!(f, "Skipped as malformed: {} in {}", Thousands(source.rejected), source.file)?;
        source.examples.iter().try_for_each(|example| writeln!(f, "  {example}"))?;
    }
    Ok(())
}
