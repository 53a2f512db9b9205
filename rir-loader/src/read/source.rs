//! Reads one file: every text in it by its format.

use std::fs::Metadata;
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};

use hierarchy::Registry;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::detect::detect_format;
use super::{ReadError, refuse_second_edition};
use crate::delegated::{self, DelegatedReport};
use crate::format::Format;
use crate::input::{for_each_text, is_stdin, split_head};
use crate::progress::Progress;
use crate::rejects::Rejects;
use crate::routing::{self, RoutingReport};
use crate::settle::Settler;
use crate::text_error::TextError;
use crate::whois::{self, Object, WhoisReport};

/// Bytes by which a format is recognised; the notes at the top of a dump may be long.
const HEAD: u64 = 64 * 1024;

/// A text that was read: a file, or a member of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFile {
    /// Path of the file or of the archive.
    pub path: PathBuf,
    /// Name inside an archive.
    pub member: Option<String>,
    /// Day on which the file was last modified, `YYYY-MM-DD`; `None` for a stream.
    pub modified: Option<String>,
    /// Registry of the data; `None` for routes and for texts without objects.
    pub registry: Option<Registry>,
    /// Counts of what was read.
    pub contents: Contents,
}

/// Counts of a text by kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Contents {
    /// A delegated file.
    Delegated(DelegatedReport),
    /// A WHOIS dump.
    Whois(WhoisReport),
    /// A routing layer.
    Routing(RoutingReport),
    /// A member of an archive that was not read: it is not registry data, or the archive has the
    /// same data in ARIN's other format, text or XML, under the same name.
    Skipped,
}

impl SourceFile {
    /// Malformed objects or records.
    pub fn rejects(&self) -> &Rejects {
        static NONE: Rejects = Rejects { count: 0, examples: vec![] };
        match &self.contents {
            Contents::Delegated(report) => &report.rejects,
            Contents::Whois(report) => &report.rejects,
            Contents::Routing(report) => &report.rejects,
            Contents::Skipped => &NONE,
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

/// An error of one text, or one of opening and unpacking the file.
enum FileError {
    Open(io::Error),
    Read(ReadError),
}

impl From<io::Error> for FileError {
    fn from(source: io::Error) -> Self {
        Self::Open(source)
    }
}

/// Passes every record of a file to the settler and appends its texts to `files`.
pub(super) fn read_file(
    path: &Path,
    force: bool,
    progress: Progress<'_>,
    settler: &mut Settler,
    files: &mut Vec<SourceFile>,
) -> Result<(), ReadError> {
    let before = files.len();
    let modified = modified(path);
    let result = for_each_text(path, progress, &mut |member, input| {
        let number = u16::try_from(files.len());
        let number = number.map_err(|_| FileError::Read(ReadError::TooManyFiles))?;
        let mut text =
            TextReader { path, member, modified: modified.as_deref(), number, force, settler };
        let file = text.read(input, &files[before..]).map_err(FileError::Read)?;
        refuse_second_edition(files, &file).map_err(FileError::Read)?;
        files.push(file);
        Ok(())
    });
    match result {
        Ok(()) => refuse_empty_archive(path, &files[before..]),
        Err(FileError::Read(error)) => Err(error),
        Err(FileError::Open(source)) => Err(ReadError::Open { file: name(path, None), source }),
    }
}

/// The day on which a regular file was last modified, in UTC.
fn modified(path: &Path) -> Option<String> {
    if is_stdin(path) {
        return None;
    }
    let file = path.metadata().ok().filter(Metadata::is_file)?;
    let moment = Timestamp::try_from(file.modified().ok()?).ok()?;
    Some(moment.to_zoned(TimeZone::UTC).date().to_string())
}

fn refuse_empty_archive(path: &Path, files: &[SourceFile]) -> Result<(), ReadError> {
    if files.iter().any(|file| !matches!(file.contents, Contents::Skipped)) {
        return Ok(());
    }
    let names: Vec<&str> = files.iter().filter_map(|file| file.member.as_deref()).collect();
    let members = if names.is_empty() { "nothing".to_owned() } else { names.join(", ") };
    Err(ReadError::EmptyArchive { file: name(path, None), members })
}

/// Whether ARIN's archive holds the data of a text that was read in the other format, too
/// (`arin_db.txt` and `arin_db.xml`).
fn is_same_data(read: &SourceFile, member: &str, format: Format) -> bool {
    let Contents::Whois(report) = &read.contents else { return false };
    let stem = |name: &str| name.rsplit_once('.').map_or(name, |(stem, _)| stem).to_owned();
    let same_name = read.member.as_deref().is_some_and(|other| stem(other) == stem(member));
    let formats = (report.format, format);
    same_name
        && matches!(
            formats,
            (Format::ArinText, Format::ArinXml) | (Format::ArinXml, Format::ArinText)
        )
}

struct TextReader<'f> {
    path: &'f Path,
    member: Option<&'f str>,
    modified: Option<&'f str>,
    /// Number of the text among all that are read.
    number: u16,
    force: bool,
    settler: &'f mut Settler,
}

impl TextReader<'_> {
    /// `read_before`: other members of the same archive.
    fn read(
        &mut self,
        input: Box<dyn BufRead + '_>,
        read_before: &[SourceFile],
    ) -> Result<SourceFile, ReadError> {
        let file = name(self.path, self.member);
        let (head, input) = split_head(input, HEAD).map_err(|source| ReadError::Text {
            file: file.clone(),
            error: TextError::Read { line: 0, source },
        })?;
        let format = match (detect_format(&head), self.member) {
            (Ok(format), Some(member))
                if read_before.iter().any(|read| is_same_data(read, member, format)) =>
            {
                return Ok(self.source(None, Contents::Skipped));
            }
            (Ok(format), _) => format,
            // An archive may hold a licence or a README beside the data.
            (Err(_), Some(_)) => return Ok(self.source(None, Contents::Skipped)),
            (Err(reason), None) => return Err(ReadError::UnknownFormat { file, reason }),
        };
        let result = match format {
            Format::Delegated => self.read_delegated(input),
            Format::Routing => self.read_routing(input),
            _ => self.read_whois(format, input),
        };
        result.map_err(|error| ReadError::Text { file, error })
    }

    fn read_delegated(&mut self, input: impl BufRead) -> Result<SourceFile, TextError> {
        let report =
            delegated::read(input, &mut |record| self.settler.add_record(record, self.number))?;
        self.check(&report.rejects, report.records())?;
        Ok(self.source(Some(report.header.registry), Contents::Delegated(report)))
    }

    fn read_routing(&mut self, input: impl BufRead) -> Result<SourceFile, TextError> {
        let report = routing::read(input, &mut |route| self.settler.add_route(route, self.number))?;
        self.check(&report.rejects, report.routes)?;
        Ok(self.source(None, Contents::Routing(report)))
    }

    fn read_whois(&mut self, format: Format, input: impl BufRead) -> Result<SourceFile, TextError> {
        let mut objects = [0_u64; Registry::ALL.len()];
        let mut handler = |object: &Object<'_>| {
            objects[object.registry() as usize] += 1;
            self.settler.add_object(object, self.number);
        };
        let report = match format {
            Format::ArinXml => whois::xml::read(input, &mut handler)?,
            _ => whois::text::read(format, input, &mut handler)?,
        };
        if report.is_routes() {
            return Err(TextError::Routes);
        }
        self.check(&report.rejects, report.objects)?;
        Ok(self.source(most_frequent(&objects), Contents::Whois(report)))
    }

    fn check(&self, rejects: &Rejects, objects: u64) -> Result<(), TextError> {
        if self.force { Ok(()) } else { rejects.check(objects) }
    }

    fn source(&self, registry: Option<Registry>, contents: Contents) -> SourceFile {
        let member = self.member.map(str::to_owned);
        let modified = self.modified.map(str::to_owned);
        SourceFile { path: self.path.to_owned(), member, modified, registry, contents }
    }
}

/// The registry with the most objects: RIPE's dumps hold copies of some objects of others.
fn most_frequent(objects: &[u64; Registry::ALL.len()]) -> Option<Registry> {
    let counted = Registry::ALL.into_iter().zip(objects).filter(|(_, count)| **count > 0);
    counted.max_by_key(|(_, count)| **count).map(|(registry, _)| registry)
}
