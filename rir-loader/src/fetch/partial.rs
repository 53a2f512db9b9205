//! An unfinished download: the bytes so far, and which edition they are of.

use std::fs::TryLockError;
use std::io::{ErrorKind, SeekFrom};
use std::path::{Path, PathBuf};

use reqwest::header::{ETAG, HeaderMap, LAST_MODIFIED};
use tokio::fs::{self, File, OpenOptions};
use tokio::io::{AsyncSeekExt, AsyncWriteExt};

use super::error::FetchError;

/// `NAME.part` with the bytes and `NAME.etag` with the edition. Locked against other processes
/// while open.
#[derive(Debug)]
pub(super) struct Partial {
    path: PathBuf,
    edition_path: PathBuf,
    file: File,
    /// Bytes that are there.
    len: u64,
    /// What the server called the edition: a strong ETag or a date, as `If-Range` wants it (RFC
    /// 9110, section 13.1.5).
    edition: Option<String>,
}

impl Partial {
    /// Opens or creates the unfinished file for `path`.
    pub(super) async fn open(path: &Path) -> Result<Self, FetchError> {
        let (part, edition_path) = (beside(path, ".part"), beside(path, ".etag"));
        let options =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).clone();
        let file = options.open(&part).await.map_err(FetchError::disk("create", &part))?;
        let file = lock(file, &part).await?;
        let edition = fs::read_to_string(&edition_path).await.ok().filter(|text| !text.is_empty());
        let mut partial = Self { path: part, edition_path, file, len: 0, edition };
        if partial.edition.is_some() {
            partial.len =
                partial.file.seek(SeekFrom::End(0)).await.map_err(partial.disk("look at"))?;
        } else {
            // Bytes of an unknown edition are worth nothing.
            partial.restart(None).await?;
        }
        Ok(partial)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// The edition to go on with, when there is something to go on from.
    pub(super) fn edition(&self) -> Option<&str> {
        self.edition.as_deref().filter(|_| self.len > 0)
    }

    /// Forgets the bytes; those that come next are of this edition.
    pub(super) async fn restart(&mut self, headers: Option<&HeaderMap>) -> Result<(), FetchError> {
        self.file.set_len(0).await.map_err(self.disk("empty"))?;
        self.file.rewind().await.map_err(self.disk("empty"))?;
        self.len = 0;
        self.edition = headers.and_then(edition);
        match &self.edition {
            Some(edition) => fs::write(&self.edition_path, edition).await,
            None => remove(&self.edition_path).await,
        }
        .map_err(FetchError::disk("write", &self.edition_path))
    }

    pub(super) async fn append(&mut self, bytes: &[u8]) -> Result<(), FetchError> {
        self.file.write_all(bytes).await.map_err(self.disk("write"))?;
        self.len += bytes.len() as u64;
        Ok(())
    }

    /// Writes out what is still in memory.
    pub(super) async fn flush(&mut self) -> Result<(), FetchError> {
        self.file.flush().await.map_err(self.disk("write"))
    }

    /// The bytes are whole: gives them their name.
    pub(super) async fn finish(self, name: &Path) -> Result<(), FetchError> {
        self.file.sync_all().await.map_err(self.disk("write"))?;
        fs::rename(&self.path, name).await.map_err(self.disk("rename"))?;
        remove(&self.edition_path).await.map_err(FetchError::disk("remove", &self.edition_path))
    }

    /// The bytes are worth nothing.
    pub(super) async fn discard(self) -> Result<(), FetchError> {
        remove(&self.path).await.map_err(self.disk("remove"))?;
        remove(&self.edition_path).await.map_err(FetchError::disk("remove", &self.edition_path))
    }

    fn disk(&self, doing: &'static str) -> impl FnOnce(std::io::Error) -> FetchError + use<> {
        FetchError::disk(doing, &self.path)
    }
}

pub(super) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
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

async fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path).await {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// A weak ETag does not promise the same bytes, so that it is no good for going on.
fn edition(headers: &HeaderMap) -> Option<String> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    text(ETAG).filter(|tag| !tag.starts_with("W/")).or_else(|| text(LAST_MODIFIED))
}
