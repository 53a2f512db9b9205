//! Which edition of a file is at hand, so that the server can say that there is no newer one.

use std::path::{Path, PathBuf};

use reqwest::RequestBuilder;
use reqwest::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use tokio::fs;

use super::error::FetchError;
use super::partial::beside;

/// What the server called the edition: an entity tag, in quotes, or a date (RFC 9110, sections
/// 8.8.2 and 8.8.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edition(String);

impl Edition {
    /// That of a file which is there; `None` when it is not, or not as it was when it was fetched.
    pub(super) async fn of(path: &Path) -> Option<Self> {
        let bytes = fs::metadata(path).await.ok()?.len();
        let noted = fs::read_to_string(place(path)).await.ok()?;
        let (length, edition) = noted.trim_end().split_once('\n')?;
        (length.parse() == Ok(bytes) && !edition.is_empty()).then(|| Self(edition.to_owned()))
    }

    /// Notes it beside a file of so many bytes; without one the file will be fetched again.
    pub(super) async fn note(
        edition: Option<&str>,
        path: &Path,
        bytes: u64,
    ) -> Result<(), FetchError> {
        let place = place(path);
        let text = format!("{bytes}\n{}\n", edition.unwrap_or_default());
        fs::write(&place, text).await.map_err(FetchError::disk("write", &place))
    }

    /// Asks only for something newer (RFC 9110, section 13.1).
    pub(super) fn condition(&self, request: RequestBuilder) -> RequestBuilder {
        let name = if self.0.ends_with('"') { IF_NONE_MATCH } else { IF_MODIFIED_SINCE };
        request.header(name, &self.0)
    }
}

fn place(path: &Path) -> PathBuf {
    beside(path, ".edition")
}
