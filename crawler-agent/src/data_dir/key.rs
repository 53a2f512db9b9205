//! The agent's key file: made on this machine, readable by its owner only, never sent anywhere.

use std::{io::ErrorKind, os::unix::fs::PermissionsExt as _, path::Path};

use data_encoding::BASE64URL_NOPAD;
use protocol::key::AgentKey;

use super::DataDirError;
use crate::file::{self, FileError};

/// Loads the key in the file `path`. Where there is none it is made from `seed`, 32 bytes of a
/// cryptographic random source.
pub(super) fn load_or_make(path: &Path, seed: [u8; 32]) -> Result<AgentKey, DataDirError> {
    // A damaged key is never replaced: the identity would be lost for good.
    if path.try_exists().map_err(FileError::at(path, "read"))? {
        return load(path);
    }
    let text = format!("{}\n", BASE64URL_NOPAD.encode(&seed));
    file::write_atomically(path, text.as_bytes())?;
    Ok(AgentKey::from_seed(seed))
}

/// Loads the key in the file `path`.
pub(super) fn load(path: &Path) -> Result<AgentKey, DataDirError> {
    let content = || DataDirError::KeyContent(path.to_owned());
    let text = match std::fs::read_to_string(path) {
        // The content is not text.
        Err(error) if error.kind() == ErrorKind::InvalidData => return Err(content()),
        read => read.map_err(FileError::at(path, "read"))?,
    };
    let mode = std::fs::metadata(path).map_err(FileError::at(path, "read"))?.permissions().mode();
    if mode & 0o077 != 0 {
        return Err(DataDirError::KeyExposed(path.to_owned()));
    }
    parse(&text).ok_or_else(content)
}

fn parse(text: &str) -> Option<AgentKey> {
    let bytes = BASE64URL_NOPAD.decode(text.trim().as_bytes()).ok()?;
    Some(AgentKey::from_seed(bytes.try_into().ok()?))
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
            assert!(matches!(load_or_make(&path, [1; 32]), Err(DataDirError::KeyContent(_))));
            assert_eq!(fs::read(&path).unwrap(), rubbish);
        }
    }
}
