//! Pages that are visited again.

use std::collections::HashMap;

use delegation::calibration::Baseline;
use model::{CrawlPolicy, Fingerprint, UnixMillis};
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
    /// Hash of the page as it was reported; none when there was no document to index.
    pub sha256: Option<[u8; 32]>,
    /// Response times so far.
    pub past: PageHistory,
    /// How often its content changes, and when it is visited again for that reason.
    pub changes: ChangeRate,
}

impl PageRecord {
    /// A URL that has brought no content yet and is visited again.
    pub fn without_content(path: String, depth: u16) -> Self {
        Self {
            path,
            depth,
            etag: None,
            last_modified: None,
            sha256: None,
            past: PageHistory::default(),
            changes: ChangeRate::default(),
        }
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

    /// The page, visited at `visited`, with its revisit base.
    pub(super) fn with_revisit_base(mut self, visited: UnixMillis) -> (UnixMillis, Self) {
        // Times are never negative, also where the clock or a bundle is wrong.
        let visited = UnixMillis(visited.0.max(0));
        let most_s = u32::try_from(visited.0 / 1_000).unwrap_or(u32::MAX);
        self.changes.advance_s = self.changes.advance_s.min(most_s);
        (visited.plus_ms(-self.changes.advance_ms()), self)
    }
}

/// How often the content of a page changes, by its revisits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeRate {
    /// The first 8 bytes of the SHA-256 of title, headings and text, and of a sitemap or feed of
    /// its URLs and their times; none where no content was seen.
    pub text_hash: Option<[u8; 8]>,
    /// Estimated age at which the page is visited again, in seconds; none before the first
    /// estimate.
    pub interval_s: Option<u32>,
    /// How much earlier the page is visited again than at the age `revisit_s` of the policy, in
    /// seconds.
    pub advance_s: u32,
}

impl ChangeRate {
    fn advance_ms(&self) -> i64 {
        i64::from(self.advance_s) * 1_000
    }

    /// Time of the last visit of a page with this revisit base.
    pub(super) fn visited(&self, revisit_base: UnixMillis) -> UnixMillis {
        revisit_base.plus_ms(self.advance_ms())
    }
}

/// The ages between which pages are visited again, in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RevisitAges {
    /// The shortest age.
    pub least_s: u32,
    /// The longest age, and that of a page whose changes are not known.
    pub longest_s: u32,
}

impl RevisitAges {
    /// The ages of the policy; none when the operator wants no revisits.
    pub fn of(policy: &CrawlPolicy) -> Option<Self> {
        let longest_s = policy.revisit_s;
        let least_s = policy.revisit_least_s.clamp(1, longest_s.max(1));
        (longest_s > 0).then_some(Self { least_s, longest_s })
    }

    /// The age at which a page with this estimate is visited again.
    pub fn interval_s(self, estimate: Option<u32>) -> u32 {
        estimate.unwrap_or(self.longest_s).clamp(self.least_s, self.longest_s)
    }

    /// How much earlier than at the longest age a page is visited again that has changed since its
    /// last visit, by the word of its site: at half its interval.
    ///
    /// This bounds sites that say so of all pages at every time. A visit that finds a page
    /// unchanged makes its interval longer, as without the word, until it is the longest one. So
    /// such a site has its pages fetched at most twice as often, and never more often than at the
    /// shortest age.
    fn advance_after_change_s(self, estimate: Option<u32>) -> u32 {
        self.longest_s - (self.interval_s(estimate) / 2).max(self.least_s)
    }
}

/// When pages of a host changed, as its sitemap states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatedChanges {
    /// Times by the fingerprints of URLs.
    pub times: HashMap<Fingerprint, UnixMillis>,
    /// Ages at which pages are visited again.
    pub ages: RevisitAges,
}

impl StatedChanges {
    /// The advance of a page that changed after its visit and is visited again earlier for that
    /// reason; none of others.
    pub(super) fn advance_s(
        &self,
        url: Fingerprint,
        visited: UnixMillis,
        changes: ChangeRate,
    ) -> Option<u32> {
        let has_changed = self.times.get(&url).is_some_and(|changed| *changed > visited);
        let advance_s = self.ages.advance_after_change_s(changes.interval_s);
        (has_changed && advance_s > changes.advance_s).then_some(advance_s)
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

/// A page with the time by which its revisit is ordered.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownPage {
    /// Revisit base: the page is visited again `revisit_s` of the policy after this time. It is the
    /// time of the last visit, minus the page's advance.
    pub revisit_base: UnixMillis,
    /// Record of the last visit.
    pub record: PageRecord,
}

impl KnownPage {
    /// Time of the last visit.
    pub fn visited(&self) -> UnixMillis {
        self.record.changes.visited(self.revisit_base)
    }
}
