//! An unfinished download.

use std::fs::TryLockError;
use std::io::{self, ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};

use reqwest::header::{ETAG, HeaderMap, LAST_MODIFIED};
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncSeekExt, AsyncWriteExt};

use super::error::FetchError;

/// `NAME.part` with the bytes so far and `NAME.etag` with the validator of their edition. Locked
/// against other processes while open.
#[derive(Debug)]
pub(super) struct PartialDownload {
    path: PathBuf,
    validator_path: PathBuf,
    file: File,
    len: u64,
    /// A strong entity tag or a date, for `If-Range` (RFC 9110, section 13.1.5).
    validator: Option<String>,
}

impl PartialDownload {
    /// Opens or creates the unfinished file for `path`.
    pub(super) async fn open(path: &Path) -> Result<Self, FetchError> {
        let part = with_suffix(path, ".part");
        let validator_path = with_suffix(path, ".etag");
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        let file = options.open(&part).await.map_err(FetchError::disk("create", &part))?;
        let file = lock(file, &part).await?;
        let validator =
            fs::read_to_string(&validator_path).await.ok().filter(|text| !text.is_empty());
        let mut partial = Self { path: part, validator_path, file, len: 0, validator };
        if partial.validator.is_some() {
            let end = partial.file.seek(SeekFrom::End(0)).await;
            partial.len = end.map_err(partial.error("look at"))?;
        } else {
            // The bytes of an unknown edition cannot be continued.
            partial.restart(None).await?;
        }
        Ok(partial)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Bytes so far.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The edition to continue, where there are bytes of it.
    pub(super) fn validator(&self) -> Option<&str> {
        self.validator.as_deref().filter(|_| self.len > 0)
    }

    /// Removes the bytes and remembers the edition that these headers announce.
    pub(super) async fn restart(&mut self, headers: Option<&HeaderMap>) -> Result<(), FetchError> {
        self.file.set_len(0).await.map_err(self.error("empty"))?;
        self.file.rewind().await.map_err(self.error("empty"))?;
        self.len = 0;
        self.validator = headers.and_then(validator_in);
        let saved = match &self.validator {
            Some(validator) => fs::write(&self.validator_path, validator).await,
            None => remove(&self.validator_path).await,
        };
        saved.map_err(FetchError::disk("write", &self.validator_path))
    }

    pub(super) async fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.file.write_all(bytes).await.map_err(self.error("write"))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    pub(super) async fn flush(&mut self) -> Result<(), FetchError> {
        self.file.flush().await.map_err(self.error("write"))
    }

    /// Renames the complete file.
    pub(super) async fn finish(self, name: &Path) -> Result<(), FetchError> {
        self.file.sync_all().await.map_err(self.error("write"))?;
        fs::rename(&self.path, name).await.map_err(self.error("rename"))?;
        self.remove_validator().await
    }

    /// Removes the bytes.
    pub(super) async fn discard(self) -> Result<(), FetchError> {
        remove(&self.path).await.map_err(self.error("remove"))?;
        self.remove_validator().await
    }

    async fn remove_validator(&self) -> Result<(), FetchError> {
        let removed = remove(&self.validator_path).await;
        removed.map_err(FetchError::disk("remove", &self.validator_path))
    }

    fn error(&self, action: &'static str) -> impl FnOnce(io::Error) -> FetchError + use<> {
        FetchError::disk(action, &self.path)
    }
}

/// The path of a file beside another.
pub(super) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

async fn lock(file: File, path: &Path) -> Result<File, FetchError> {
    let file = file.into_std().await;
    match file.try_lock() {
        Ok(()) => Ok(File::from_std(file)),
        Err(TryLockError::WouldBlock) => Err(FetchError::Busy { path: path.to_owned() }),
        Err(TryLockError::Error(source)) => Err(FetchError::disk("lock", path)(source)),
    }
}

async fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path).await {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The validator in the headers. A weak entity tag does not promise the same bytes, so a download
/// cannot be continued with it.
fn validator_in(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text(ETAG).filter(|tag| !tag.starts_with("W/")).or_else(|| text(LAST_MODIFIED))
}
