//! Remembers which edition of a file is local, so that the server can answer that it is the newest.

use std::path::{Path, PathBuf};

use reqwest::RequestBuilder;
use reqwest::header::{IF_MODIFIED_SINCE, IF_NONE_MATCH};
use tokio::fs;

use super::error::FetchError;
use super::partial::with_suffix;

/// The server's identifier of an edition: an entity tag in quotes, or a date (RFC 9110, sections
/// 8.8.2 and 8.8.3). Saved in `NAME.edition` together with the size of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Validator(String);

impl Validator {
    /// The validator of a local file; `None` where it is unknown or the file was changed since.
    pub(super) async fn of_file(path: &Path) -> Option<Self> {
        let bytes = fs::metadata(path).await.ok()?.len();
        let saved = fs::read_to_string(saved_path(path)).await.ok()?;
        let (length, validator) = saved.trim_end().split_once('\n')?;
        (length.parse() == Ok(bytes) && !validator.is_empty()).then(|| Self(validator.to_owned()))
    }

    /// Saves the validator of a file of this many bytes.
    pub(super) async fn save(
        validator: Option<&str>,
        path: &Path,
        bytes: u64,
    ) -> Result<(), FetchError> {
        let path = saved_path(path);
        let text = format!("{bytes}\n{}\n", validator.unwrap_or_default());
        fs::write(&path, text).await.map_err(FetchError::disk("write", &path))
    }

    /// Requests the file only if it is newer (RFC 9110, section 13.1).
    pub(super) fn add_condition(&self, request: RequestBuilder) -> RequestBuilder {
        let name = if self.0.ends_with('"') { IF_NONE_MATCH } else { IF_MODIFIED_SINCE };
        request.header(name, &self.0)
    }
}

fn saved_path(path: &Path) -> PathBuf {
    with_suffix(path, ".edition")
}
