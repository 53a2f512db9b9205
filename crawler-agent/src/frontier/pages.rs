//! Pages that are visited again.

use delegation::calibration::Baseline;
use model::UnixMillis;
use serde::{Deserialize, Serialize};

/// Stored record of a page: a few hundred bytes, however often it was fetched.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PageRecord {
    /// Path and query of the normalised URL.
    pub path: String,
    /// Number of links from a routed URL to this one.
    pub depth: u16,
    /// ETag header of the last answer with content.
    pub etag: Option<String>,
    /// Last-Modified header of the last answer with content.
    pub last_modified: Option<String>,
    /// SHA-256 of the decoded body; none when there was no document to index.
    pub sha256: Option<[u8; 32]>,
    /// Response times so far.
    pub past: PageHistory,
}

impl PageRecord {
    /// A URL that has brought no content yet and is visited again.
    pub fn without_content(path: String, depth: u16) -> Self {
        let past = PageHistory::default();
        Self { path, depth, etag: None, last_modified: None, sha256: None, past }
    }

    /// Whether the URL has brought content that is known.
    pub fn has_content(&self) -> bool {
        self.sha256.is_some() || self.etag.is_some() || self.last_modified.is_some()
    }

    /// The page as one whose content is unknown, so that its next answer is reported as a new page.
    #[must_use]
    pub fn forget_content(self) -> Self {
        Self { etag: None, last_modified: None, sha256: None, ..self }
    }
}

/// Response times of a page, for answers with content and answers without. The paper compares the
/// times of HTTP HEAD commands (IPMicra section III.F); here a conditional GET that is answered
/// with 304 takes their place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct PageHistory {
    /// Baseline of answers with content.
    pub get: Baseline,
    /// Baseline of 304 answers.
    pub head: Baseline,
}

/// A page with the time of its last visit.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownPage {
    /// Time of the last visit.
    pub visited: UnixMillis,
    /// Record of that visit.
    pub record: PageRecord,
}
