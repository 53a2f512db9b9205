//! How old is the generation in use, file by file?

use std::fmt;

use serde::Serialize;
use store::generations::Facts;

use crate::report::Thousands;

/// Days after which registry data should be fetched anew, unless the coordinator is told otherwise:
/// every three months, as the paper rebuilds its hierarchy.
const PERIOD_DAYS: u64 = 90;

/// The generation in use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Loaded {
    /// Its number.
    pub generation: i64,
    /// What it was made from.
    pub files: Vec<Aged>,
}

/// A file and its age.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Aged {
    /// Whose data it holds.
    pub registry: String,
    /// Its name, without the directory.
    pub file: String,
    /// Day up to which it speaks, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Days since then; since it was loaded, where it names no day.
    pub age_days: u64,
    /// Whether it is older than 90 days.
    pub outdated: bool,
    /// Records or objects in it, of every kind.
    pub records: u64,
}

impl Loaded {
    /// As of `now_ms`, in milliseconds since 1970.
    pub fn of(facts: &Facts, now_ms: i64) -> Self {
        let aged = |source: &store::generations::Source| {
            let age_days = source.age_days(facts.read_at.0, now_ms);
            let (registry, file, date) =
                (source.registry.clone(), source.file.clone(), source.date.clone());
            let outdated = age_days > PERIOD_DAYS;
            Aged { registry, file, date, age_days, outdated, records: source.records }
        };
        Self { generation: facts.id.get(), files: facts.sources.iter().map(aged).collect() }
    }
}

impl fmt::Display for Loaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Generation {}, in use, was made from:", self.generation)?;
        self.files.iter().try_for_each(|file| writeln!(f, "{file}"))?;
        if self.files.iter().any(|file| file.outdated) {
            writeln!(
                f,
                "Outdated is what is older than {PERIOD_DAYS} days; `rir-loader fetch` gets newer files."
            )?;
        }
        Ok(())
    }
}

/// `41 days  apnic     2018-10-13  delegated-apnic-extended  (120,000 records)`
impl fmt::Display for Aged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = self.date.as_deref().unwrap_or("no date");
        let days = format!(
            "{} {}",
            Thousands(self.age_days),
            if self.age_days == 1 { "day" } else { "days" }
        );
        let (registry, file, records) = (&self.registry, &self.file, Thousands(self.records));
        write!(f, "{days:>11}  {registry:8}  {date:10}  {file}  ({records} records)")?;
        if self.outdated { write!(f, "  outdated") } else { Ok(()) }
    }
}
