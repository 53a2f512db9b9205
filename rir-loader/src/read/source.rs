//! One file: every text in it, each in its dialect.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use hierarchy::Registry;

use super::error::{FileError, ReadAllError};
use crate::delegated::{self, FileReport};
use crate::dialect::{Dialect, Foreign, dialect_of};
use crate::input::{Lines, each_text, is_stdin};
use crate::rejects::Rejects;
use crate::routing::{self, RoutingReport};
use crate::settle::Settler;
use crate::text_error::TextError;
use crate::watch::Watch;
use crate::whois::{self, Object, WhoisReport};

/// A text that was read: a file, or a member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// The file.
    pub path: PathBuf,
    /// Its name inside an archive.
    pub member: Option<String>,
    /// Whose data they are; `None` for routes and for texts without objects.
    pub registry: Option<Registry>,
    /// What was in it.
    pub contents: Contents,
}

/// What a text held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// A registry's statistics.
    Delegated(FileReport),
    /// A WHOIS dump.
    Whois(WhoisReport),
    /// Routes.
    Routing(RoutingReport),
    /// A text of an archive that was passed over, and why.
    Passed(Passed),
}

/// Why a text of an archive was passed over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Passed {
    /// It is no registry data.
    Foreign(Foreign),
    /// The archive has the same data in ARIN's other dialect, as text or as XML, under the same
    /// name.
    Twin,
}

impl SourceFile {
    /// What of it could not be read.
    pub fn rejects(&self) -> &Rejects {
        static NONE: Rejects = Rejects { count: 0, examples: vec![] };
        match &self.contents {
            Contents::Delegated(report) => &report.rejects,
            Contents::Whois(report) => &report.rejects,
            Contents::Routing(report) => &report.rejects,
            Contents::Passed(_) => &NONE,
        }
    }

    /// The path, and the name inside an archive.
    pub fn name(&self) -> String {
        name(&self.path, self.member.as_deref())
    }
}

fn name(path: &Path, member: Option<&str>) -> String {
    let file = if is_stdin(path) { "standard input".into() } else { path.display().to_string() };
    member.map_or(file.clone(), |member| format!("{file}, {member}"))
}

/// An error that does not know its file yet, or does.
enum Trouble {
    Open(io::Error),
    All(ReadAllError),
}

impl From<io::Error> for Trouble {
    fn from(source: io::Error) -> Self {
        Self::Open(source)
    }
}

impl From<FileError> for Trouble {
    fn from(error: FileError) -> Self {
        Self::All(error.into())
    }
}

/// Reads every text of a file into the settler, and says what was in it.
pub(super) fn read_file(
    path: &Path,
    force: bool,
    watch: Watch<'_>,
    settler: &mut Settler,
    files: &mut Vec<SourceFile>,
) -> Result<(), ReadAllError> {
    let before = files.len();
    let outcome = each_text(path, watch, &mut |member, text| {
        let number = u16::try_from(files.len()).map_err(|_| Trouble::All(ReadAllError::TooMany))?;
        let reading = Reading { path, member, number, force, before: &files[before..] };
        let file = reading.run(text, settler)?;
        files.push(file);
        Ok(())
    });
    match outcome {
        Ok(()) => refuse_empty_archive(path, &files[before..]),
        Err(Trouble::All(error)) => Err(error),
        Err(Trouble::Open(source)) => {
            Err(FileError::Open { file: name(path, None), source }.into())
        }
    }
}

/// Whether one text holds what ARIN wrote into the other, too, as `arin_db.txt` and `arin_db.xml`:
/// the first of them is read.
fn are_twins(read: &SourceFile, member: Option<&str>, dialect: Dialect) -> bool {
    const BOTH: [Dialect; 2] = [Dialect::ArinText, Dialect::ArinXml];
    let Contents::Whois(report) = &read.contents else { return false };
    let names = read.member.as_deref().zip(member).map(|(one, other)| [one, other].map(stem));
    let dialects = [report.dialect, dialect];
    names.is_some_and(|[one, other]| one == other)
        && (dialects == BOTH || dialects == [BOTH[1], BOTH[0]])
}

/// A name without its ending.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn refuse_empty_archive(path: &Path, files: &[SourceFile]) -> Result<(), ReadAllError> {
    if files.iter().any(|file| !matches!(file.contents, Contents::Passed(_))) {
        return Ok(());
    }
    let names: Vec<&str> = files.iter().filter_map(|file| file.member.as_deref()).collect();
    let inside = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Err(FileError::EmptyArchive { file: name(path, None), inside }.into())
}

/// One text on its way.
struct Reading<'f> {
    path: &'f Path,
    member: Option<&'f str>,
    number: u16,
    force: bool,
    /// What was read of the same archive before.
    before: &'f [SourceFile],
}

impl Reading<'_> {
    fn run(&self, text: Box<dyn Read + '_>, settler: &mut Settler) -> Result<SourceFile, Trouble> {
        let file = name(self.path, self.member);
        let mut lines = Lines::new(text, whois::LONGEST_LINE);
        let head = lines.head().map_err(|source| FileError::Read { file: file.clone(), source })?;
        let dialect = match dialect_of(head) {
            Ok(dialect) if self.before.iter().any(|read| are_twins(read, self.member, dialect)) => {
                return Ok(self.source(None, Contents::Passed(Passed::Twin)));
            }
            Ok(dialect) => dialect,
            Err(why) if self.member.is_some() => {
                return Ok(self.source(None, Contents::Passed(Passed::Foreign(why))));
            }
            Err(why) => return Err(FileError::Foreign { file, why }.into()),
        };
        match dialect {
            Dialect::Delegated => self.delegated(&file, lines, settler),
            Dialect::Routing => self.routing(&file, lines, settler),
            _ => self.whois(dialect, &file, lines, settler),
        }
    }

    fn delegated(
        &self,
        file: &str,
        mut lines: Lines<'_>,
        settler: &mut Settler,
    ) -> Result<SourceFile, Trouble> {
        lines.limit(delegated::LONGEST_LINE);
        let number = self.number;
        let report =
            delegated::read_lines(file, lines, self.force, &mut |row| settler.take(row, number));
        let report = report.map_err(FileError::from)?;
        Ok(self.source(Some(report.header.registry), Contents::Delegated(report)))
    }

    fn routing(
        &self,
        file: &str,
        mut lines: Lines<'_>,
        settler: &mut Settler,
    ) -> Result<SourceFile, Trouble> {
        lines.limit(routing::LONGEST_LINE);
        let report =
            routing::read_lines(lines, &mut |route| settler.take_route(route, self.number));
        let report = report.and_then(|report| {
            self.bearable(&report.rejects, report.routes)?;
            Ok(report)
        });
        let report = report.map_err(|why| FileError::Text { file: file.to_owned(), why })?;
        Ok(self.source(None, Contents::Routing(report)))
    }

    fn whois(
        &self,
        dialect: Dialect,
        file: &str,
        lines: Lines<'_>,
        settler: &mut Settler,
    ) -> Result<SourceFile, Trouble> {
        let mut objects = [0_u64; Registry::ALL.len()];
        let mut take = |object: &Object<'_>| {
            objects[object.registry() as usize] += 1;
            settler.take_object(object, self.number);
        };
        let read = match dialect {
            Dialect::ArinXml => whois::read_xml(lines.into_text(), &mut take),
            _ => whois::read_lines(dialect, lines, &mut take),
        };
        let report = read.and_then(|report| self.usable(report));
        let report = report.map_err(|why| FileError::Text { file: file.to_owned(), why })?;
        Ok(self.source(most(&objects), Contents::Whois(report)))
    }

    fn usable(&self, report: WhoisReport) -> Result<WhoisReport, TextError> {
        if report.is_routes() {
            return Err(TextError::Routes);
        }
        self.bearable(&report.rejects, report.objects)?;
        Ok(report)
    }

    fn bearable(&self, rejects: &Rejects, of: u64) -> Result<(), TextError> {
        match rejects.examples.first().filter(|_| !self.force && !rejects.bearable(of)) {
            Some(first) => {
                Err(TextError::Malformed { count: rejects.count, of, first: first.clone() })
            }
            None => Ok(()),
        }
    }

    fn source(&self, registry: Option<Registry>, contents: Contents) -> SourceFile {
        let (path, member) = (self.path.to_owned(), self.member.map(str::to_owned));
        SourceFile { path, member, registry, contents }
    }
}

/// The registry that most objects are of.
fn most(objects: &[u64; Registry::ALL.len()]) -> Option<Registry> {
    let counted = Registry::ALL.into_iter().zip(objects).filter(|(_, count)| **count > 0);
    counted.max_by_key(|(_, count)| **count).map(|(registry, _)| registry)
}
