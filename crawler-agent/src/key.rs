//! The agent's key: made here, kept in one file that only its owner can read, and never sent
//! anywhere.

use std::{
    fs::{File, OpenOptions},
    io::{ErrorKind, Write as _},
    os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
};

use data_encoding::BASE64URL_NOPAD;
use protocol::key::AgentKey;

/// The key can't be had.
#[derive(Debug, thiserror::Error)]
pub enum KeyFileError {
    /// The file can't be read or written.
    #[error("the key file {path} can't be {attempt}")]
    File {
        /// Which file.
        path: PathBuf,
        /// What was attempted, as a participle.
        attempt: &'static str,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// Others can read it.
    #[error("the key file {0} can be read by others; run: chmod 600 {0}")]
    Open(PathBuf),
    /// It holds something else.
    #[error(
        "the key file {0} holds no key; restore it from a backup, or delete it to enrol as a new agent"
    )]
    Content(PathBuf),
}

/// The key in the file `path`. When there is none it is made from `seed`, 32 bytes of a
/// cryptographic random source.
pub fn load_or_make(path: &Path, seed: [u8; 32]) -> Result<AgentKey, KeyFileError> {
    let file =
        |attempt| move |source| KeyFileError::File { path: path.to_owned(), attempt, source };
    match std::fs::read_to_string(path) {
        Ok(text) => {
            let mode = std::fs::metadata(path).map_err(file("read"))?.permissions().mode();
            if mode & 0o077 != 0 {
                return Err(KeyFileError::Open(path.to_owned()));
            }
            parse(&text).ok_or_else(|| KeyFileError::Content(path.to_owned()))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            write(path, seed).map_err(file("written"))?;
            Ok(AgentKey::from_seed(seed))
        }
        Err(error) if error.kind() == ErrorKind::InvalidData => {
            Err(KeyFileError::Content(path.to_owned()))
        }
        Err(error) => Err(file("read")(error)),
    }
}

fn parse(text: &str) -> Option<AgentKey> {
    let bytes = BASE64URL_NOPAD.decode(text.trim().as_bytes()).ok()?;
    Some(AgentKey::from_seed(bytes.try_into().ok()?))
}

/// Whole or not at all: a crash must not leave half a key.
fn write(path: &Path, seed: [u8; 32]) -> std::io::Result<()> {
    let temporary = path.with_extension("tmp");
    let mut file =
        OpenOptions::new().create(true).write(true).truncate(true).mode(0o600).open(&temporary)?;
    writeln!(file, "{}", BASE64URL_NOPAD.encode(&seed))?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)?;
    File::open(path.parent().unwrap_or(Path::new(".")))?.sync_all()
}

#[cfg(test)]
mod tests {
    use std::fs::{self, Permissions};

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_key_is_made_once_and_only_its_owner_can_read_it() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("agent.key");
        let made = load_or_make(&path, [1; 32]).unwrap().public();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(load_or_make(&path, [2; 32]).unwrap().public(), made);
    }

    #[test]
    fn a_key_that_others_can_read_is_not_used() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("agent.key");
        load_or_make(&path, [1; 32]).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        let error = load_or_make(&path, [1; 32]).err().unwrap();
        assert!(error.to_string().contains("chmod 600"), "{error}");
    }

    #[test]
    fn rubbish_is_not_replaced() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("agent.key");
        for rubbish in [&b"short"[..], b"", b"\xff\xfe\xff"] {
            fs::write(&path, rubbish).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
            assert!(matches!(load_or_make(&path, [1; 32]), Err(KeyFileError::Content(_))));
            assert_eq!(fs::read(&path).unwrap(), rubbish);
        }
    }
}
