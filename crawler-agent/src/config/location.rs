//! Location of a mistake in the configuration file.

use std::{
    fmt,
    ops::Range,
    path::{Path, PathBuf},
};

/// A file, and a line and column in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    path: PathBuf,
    /// Line and column, both from 1; none when the whole file is meant.
    at: Option<(usize, usize)>,
}

impl Location {
    /// Location of the first byte of `span` in `text`, which came from `path`.
    pub(super) fn new(path: &Path, text: &str, span: Option<Range<usize>>) -> Self {
        let before = span.and_then(|span| text.get(..span.start));
        let at = before.map(|before| {
            let line = before.matches('\n').count() + 1;
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            (line, column)
        });
        Self { path: path.to_owned(), at }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.at {
            Some((line, column)) => write!(f, "{path}, line {line}, column {column}"),
            None => write!(f, "{path}"),
        }
    }
}
