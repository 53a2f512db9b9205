//! Files to a hierarchy.

mod error;
mod source;

use std::path::PathBuf;

use hierarchy::{BuildReport, Generation, Hierarchy, Range, Registry};

use self::source::read_file;
use crate::settle::{CutLeaves, Origins, Policy, SettleReport, Settler};
use crate::watch::{Step, Watch};

pub use error::{FileError, ReadAllError};
pub use source::{Contents, Passed, SourceFile};

/// How to read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Take files, too, of which more than one in a hundred objects is malformed.
    pub force: bool,
    /// Which large leaves of IPv4 to cut.
    pub cut_v4: Option<CutLeaves>,
    /// Which large leaves of IPv6 to cut.
    pub cut_v6: Option<CutLeaves>,
    /// Whether to remember which file each range is from; costs up to 40 bytes a range.
    pub origins: bool,
    /// Whether files in which nobody holds an address make a hierarchy, too: of the two roots.
    pub may_be_empty: bool,
}

/// What a set of files became.
#[derive(Debug)]
pub struct Nested {
    /// The hierarchy; its generation has no number yet and says 0.
    pub hierarchy: Hierarchy,
    /// What had to be settled while nesting.
    pub build: BuildReport,
    /// What each rule of settling did.
    pub settled: SettleReport,
    /// Each text and what it held, in the order in which they were read; an archive has several.
    pub files: Vec<SourceFile>,
    origins: Origins,
}

impl Nested {
    /// Registries of which nothing was read, so that their addresses are unknown.
    pub fn missing(&self) -> Vec<Registry> {
        let read =
            |registry: &Registry| self.files.iter().any(|file| file.registry == Some(*registry));
        Registry::ALL.into_iter().filter(|registry| !read(registry)).collect()
    }

    /// Malformed objects and records in all files.
    pub fn rejected(&self) -> u64 {
        self.files.iter().map(|file| file.rejects().count).sum()
    }

    /// The file that a range is from; known only where [`Options::origins`] asked for it.
    pub fn file_of(&self, range: &Range) -> Option<String> {
        let number = self.origins.of(range)?;
        self.files.get(usize::from(number)).map(SourceFile::name)
    }
}

/// Reads the files one after the other and nests what they hold. Either all are good or nothing
/// comes of it.
pub fn read(paths: &[PathBuf], watch: Watch<'_>) -> Result<Nested, ReadAllError> {
    read_with(paths, Options::default(), watch)
}

/// [`read`], as it is told.
pub fn read_with(
    paths: &[PathBuf],
    options: Options,
    watch: Watch<'_>,
) -> Result<Nested, ReadAllError> {
    let mut settler = Settler::default();
    let mut files: Vec<SourceFile> = vec![];
    for path in paths {
        read_file(path, options.force, watch, &mut settler, &mut files)?;
        watch(Step::Done);
        refuse_second(&files)?;
    }
    if settler.ranges() == 0 && !options.may_be_empty {
        return Err(ReadAllError::Nothing);
    }
    watch(Step::Nest { records: settler.ranges() });
    let policy = Policy { v4: options.cut_v4, v6: options.cut_v6, origins: options.origins };
    let settled = settler.nest(Generation::new(0), policy);
    watch(Step::Done);
    let (hierarchy, build) = (settled.hierarchy, settled.build);
    Ok(Nested { hierarchy, build, settled: settled.report, files, origins: settled.origins })
}

/// A registry has one delegated file; two editions of it would contradict each other.
fn refuse_second(files: &[SourceFile]) -> Result<(), ReadAllError> {
    let delegated = |file: &&SourceFile| matches!(file.contents, Contents::Delegated(_));
    let Some((last, before)) = files.split_last().filter(|(last, _)| delegated(last)) else {
        return Ok(());
    };
    let other = before.iter().filter(delegated).find(|other| other.registry == last.registry);
    match (other, last.registry) {
        (Some(other), Some(registry)) => Err(ReadAllError::TwoOfOne {
            registry,
            first: other.path.display().to_string(),
            second: last.path.display().to_string(),
        }),
        _ => Ok(()),
    }
}
