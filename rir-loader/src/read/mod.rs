//! Reads a set of registry files and builds the hierarchy.

mod detect;
mod source;

use std::io;
use std::path::PathBuf;

use hierarchy::{BuildReport, Generation, Hierarchy, Range, Registry};

use self::source::read_file;
use crate::format::UnknownFormat;
use crate::progress::{Progress, Step};
use crate::settle::{Origins, SettleReport, Settler, SplitPolicy};
use crate::text_error::TextError;

pub use detect::detect_format;
pub use source::{Contents, SourceFile};

/// How to read.
#[expect(clippy::struct_excessive_bools, reason = "independent options of a command line")]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Accept files of which more than one in a hundred objects is malformed.
    pub force: bool,
    /// Keep records of special-purpose space.
    pub special_purpose: bool,
    /// Which large leaves to split into virtual subnets.
    pub split: SplitPolicy,
    /// Remember the file of each range; costs up to 40 bytes a range.
    pub origins: bool,
    /// Accept files without a delegated address; the hierarchy then has the two roots only.
    pub may_be_empty: bool,
}

/// Contents of a set of registry files.
#[derive(Debug)]
pub struct RegistryData {
    /// The hierarchy; its generation number is 0 until it is loaded.
    pub hierarchy: Hierarchy,
    /// Equal and crossing ranges found while building the hierarchy.
    pub build: BuildReport,
    /// What each rule of settling did.
    pub settled: SettleReport,
    /// The texts in the order in which they were read; an archive has several.
    pub files: Vec<SourceFile>,
    origins: Origins,
}

/// Why a set of files is refused.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file does not exist or may not be read.
    #[error("cannot open {file}")]
    Open {
        /// Path of the file.
        file: String,
        /// Error of the file system or of the archive.
        source: io::Error,
    },
    /// A directory without registry files.
    #[error(
        "{dir} holds no registry data: no file named delegated-…, ripe.db…, apnic.db…, \
         afrinic.db…, lacnic.db… or arin_db…; fetch today's delegated files with `rir-loader \
         fetch --dir {dir}`"
    )]
    NoFiles {
        /// Path of the directory.
        dir: String,
    },
    /// The text is malformed, cut short or damaged.
    #[error("{file}: {error}")]
    Text {
        /// Path of the file, and the name inside an archive.
        file: String,
        /// What is wrong with it.
        #[source]
        error: TextError,
    },
    /// The file has none of the known formats.
    #[error("{file} cannot be used: {reason}")]
    UnknownFormat {
        /// Path of the file.
        file: String,
        /// What it is instead.
        reason: UnknownFormat,
    },
    /// No member of an archive has a known format.
    #[error("{file} holds no registry data; inside are: {members}")]
    EmptyArchive {
        /// Path of the archive.
        file: String,
        /// Names of its members.
        members: String,
    },
    /// Two delegated files of one registry would contradict each other.
    #[error("{first} and {second} are both of {registry}; give one of them")]
    TwoOfOneRegistry {
        /// The registry of both.
        registry: Registry,
        /// Path of the first file, and the name inside an archive.
        first: String,
        /// The same of the second file.
        second: String,
    },
    /// More files than the origin of a range can number.
    #[error("more than 65,535 files")]
    TooManyFiles,
    /// No address in them has a holder.
    #[error("the files hold no delegated address at all; nothing was changed")]
    NoAddresses,
}

impl RegistryData {
    /// Registries without a file, whose addresses are therefore unknown.
    pub fn missing(&self) -> Vec<Registry> {
        let is_missing =
            |registry: &Registry| self.files.iter().all(|file| file.registry != Some(*registry));
        Registry::ALL.into_iter().filter(is_missing).collect()
    }

    /// Malformed objects and records in all files.
    pub fn rejected(&self) -> u64 {
        self.files.iter().map(|file| file.rejects().count).sum()
    }

    /// The file of a range; known only with [`Options::origins`].
    pub fn file_of(&self, range: &Range) -> Option<String> {
        let number = self.origins.of(range)?;
        self.files.get(usize::from(number)).map(SourceFile::name)
    }
}

/// Reads the files one after the other and builds the hierarchy of all. One bad file refuses all of
/// them.
pub fn read(
    paths: &[PathBuf],
    options: Options,
    progress: Progress<'_>,
) -> Result<RegistryData, ReadError> {
    let mut settler = Settler::new(options.special_purpose);
    let mut files: Vec<SourceFile> = vec![];
    for path in paths {
        read_file(path, options.force, progress, &mut settler, &mut files)?;
        progress(Step::Done);
    }
    if settler.ranges() == 0 && !options.may_be_empty {
        return Err(ReadError::NoAddresses);
    }
    progress(Step::Build { ranges: settler.ranges() });
    let outcome = settler.build(Generation::new(0), options.split, options.origins);
    progress(Step::Done);
    Ok(RegistryData {
        hierarchy: outcome.hierarchy,
        build: outcome.build,
        settled: outcome.report,
        files,
        origins: outcome.origins,
    })
}

/// Compares a delegated file with those before it.
fn refuse_second_edition(files: &[SourceFile], second: &SourceFile) -> Result<(), ReadError> {
    let Some(registry) = registry_of_delegated(second) else { return Ok(()) };
    let same = |first: &&SourceFile| registry_of_delegated(first) == Some(registry);
    files.iter().find(same).map_or(Ok(()), |first| {
        let second = second.name();
        Err(ReadError::TwoOfOneRegistry { registry, first: first.name(), second })
    })
}

/// The registry of a delegated file; `None` for other texts.
fn registry_of_delegated(file: &SourceFile) -> Option<Registry> {
    file.registry.filter(|_| matches!(file.contents, Contents::Delegated(_)))
}
