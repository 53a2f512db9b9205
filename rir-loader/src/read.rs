//! Files to a hierarchy.

use std::path::PathBuf;

use hierarchy::{BuildReport, Generation, Hierarchy, Registry};

use crate::delegated::{self, FileReport, ReadError};
use crate::settle::Settler;
use crate::watch::{Step, Watch};

/// Why a set of files was refused.
#[derive(Debug, thiserror::Error)]
pub enum ReadAllError {
    /// One of them is malformed, cut short or unreadable.
    #[error(transparent)]
    File(#[from] ReadError),
    /// Two of them are of the same registry.
    #[error("{first} and {second} are both of {registry}; give one of them")]
    TwoOfOne {
        /// The registry.
        registry: Registry,
        /// Path of the one.
        first: String,
        /// Path of the other.
        second: String,
    },
    /// Nothing in them that anybody holds.
    #[error("the files hold no delegated address at all; nothing was changed")]
    Nothing,
}

/// What a set of files became.
#[derive(Debug)]
pub struct Nested {
    /// The hierarchy; its generation has no number yet and says 0.
    pub hierarchy: Hierarchy,
    /// What had to be settled while nesting.
    pub build: BuildReport,
    /// Each file and what it held, in the order in which they were read.
    pub files: Vec<(PathBuf, FileReport)>,
}

impl Nested {
    /// Registries of which no file was read, so that their addresses are unknown.
    pub fn missing(&self) -> Vec<Registry> {
        let read =
            |registry: &Registry| self.files.iter().any(|(_, report)| report.header.registry == *registry);
        Registry::ALL.into_iter().filter(|registry| !read(registry)).collect()
    }

    /// The file that speaks for a registry.
    pub fn file_of(&self, registry: Registry) -> Option<&PathBuf> {
        self.files.iter().find(|(_, report)| report.header.registry == registry).map(|(path, _)| path)
    }
}

/// Reads the files one after the other and nests what they hold. Either all are good or nothing comes of it.
pub fn read(paths: &[PathBuf], watch: Watch<'_>) -> Result<Nested, ReadAllError> {
    let mut settler = Settler::default();
    let mut files: Vec<(PathBuf, FileReport)> = vec![];
    for path in paths {
        let report = delegated::read(path, watch, &mut |row| settler.take(row))?;
        watch(Step::Done);
        refuse_second(&files, path, &report)?;
        files.push((path.clone(), report));
    }
    if settler.ranges() == 0 {
        return Err(ReadAllError::Nothing);
    }
    watch(Step::Nest { records: settler.ranges() });
    let (hierarchy, build) = settler.nest(Generation::new(0));
    watch(Step::Done);
    Ok(Nested { hierarchy, build, files })
}

fn refuse_second(
    files: &[(PathBuf, FileReport)],
    path: &std::path::Path,
    report: &FileReport,
) -> Result<(), ReadAllError> {
    let registry = report.header.registry;
    let Some((other, _)) = files.iter().find(|(_, other)| other.header.registry == registry) else {
        return Ok(());
    };
    let (first, second) = (other.display().to_string(), path.display().to_string());
    Err(ReadAllError::TwoOfOne { registry, first, second })
}
