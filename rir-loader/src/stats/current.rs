//! Age of the current generation, file by file.

use std::fmt;

use serde::Serialize;
use store::generations::{Facts, Source};

use crate::thousands::Thousands;

/// Age in days above which registry data is outdated: the paper rebuilds its hierarchy every three
/// months.
const MAX_AGE_DAYS: u64 = 90;

/// Sources of the current generation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CurrentGeneration {
    /// Number of the generation.
    pub generation: i64,
    /// Files it was made from.
    pub files: Vec<SourceAge>,
}

/// A file and its age.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceAge {
    /// Registry, name, edition and size of the file.
    #[serde(flatten)]
    pub source: Source,
    /// Days since the last day covered or the last change of the file; since the load, where
    /// neither is known.
    pub age_days: u64,
    /// Whether it is older than 90 days.
    pub outdated: bool,
}

impl CurrentGeneration {
    pub(super) fn of(facts: &Facts, now_ms: i64) -> Self {
        let age = |source: &Source| {
            let age_days = source.age_days(facts.read_at.0, now_ms);
            SourceAge { source: source.clone(), age_days, outdated: age_days > MAX_AGE_DAYS }
        };
        Self { generation: facts.id.get(), files: facts.sources.iter().map(age).collect() }
    }
}

impl fmt::Display for CurrentGeneration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "Generation {}, in use, was made from:", self.generation)?;
        self.files.iter().try_for_each(|file| writeln!(f, "{file}"))?;
        if self.files.iter().any(|file| file.outdated) {
            writeln!(
                f,
                "Outdated files are older than {MAX_AGE_DAYS} days; `rir-loader fetch` gets newer \
                 ones."
            )?;
        }
        Ok(())
    }
}

/// `41 days  apnic     2018-10-13  delegated-apnic-extended  (120,000 records)`
impl fmt::Display for SourceAge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.age_days == 1 { "day" } else { "days" };
        let age = format!("{} {unit}", Thousands(self.age_days));
        let Source { registry, file, date, records, .. } = &self.source;
        let date = date.as_deref().unwrap_or("no date");
        let records = Thousands(*records);
        write!(f, "{age:>11}  {registry:8}  {date:10}  {file}  ({records} records)")?;
        if self.outdated { write!(f, "  outdated") } else { Ok(()) }
    }
}
