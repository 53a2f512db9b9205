//! The data directory: paths and access rights of what the agent keeps on disk.

use std::{
    fs::DirBuilder,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use model::AgentId;
use protocol::key::AgentKey;
use serde::{Deserialize, Serialize};

use crate::{
    atomic_file,
    frontier::{Frontier, FrontierError},
    key::{self, KeyFileError},
};

/// The data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// An operation on a file or directory failed.
    #[error("{path} cannot be {attempt}")]
    File {
        /// File or directory.
        path: PathBuf,
        /// What was attempted, as a participle.
        attempt: &'static str,
        /// Error of the operating system or of the parser.
        #[source]
        source: std::io::Error,
    },
    /// The key file cannot be used.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// The frontier cannot be opened.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
}

/// Content of `identity.json`, written once the agent has enrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Identifier that the coordinator gave the agent.
    pub agent: AgentId,
}

/// An agent's data directory.
#[derive(Debug, Clone)]
pub struct DataDir {
    dir: PathBuf,
}

impl DataDir {
    /// Opens the directory `dir`; creates it, for its owner alone, where it does not exist.
    pub fn open(dir: &Path) -> Result<Self, DataDirError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|source| DataDirError::File {
            path: dir.to_owned(),
            attempt: "created",
            source,
        })?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// Loads the agent's key; makes one where there is none.
    pub fn key(&self) -> Result<Arc<AgentKey>, DataDirError> {
        Ok(Arc::new(key::load_or_make(&self.dir.join("agent.key"), rand::random())?))
    }

    /// Opens the frontier; makes an empty one, with the present time as its epoch, where there is
    /// none.
    pub fn frontier(&self) -> Result<Frontier, DataDirError> {
        let epoch = crate::clock::now().0.unsigned_abs();
        Ok(Frontier::open(&self.dir.join("frontier.redb"), epoch)?)
    }

    /// Loads the identity; none before the agent has enrolled.
    pub fn identity(&self) -> Result<Option<Identity>, DataDirError> {
        let path = self.dir.join(IDENTITY);
        match std::fs::read(&path) {
            Ok(json) => serde_json::from_slice(&json).map(Some).map_err(|error| {
                DataDirError::File { path, attempt: "parsed", source: error.into() }
            }),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(DataDirError::File { path, attempt: "read", source }),
        }
    }

    /// Stores the identity.
    pub fn set_identity(&self, identity: Identity) -> Result<(), DataDirError> {
        let path = self.dir.join(IDENTITY);
        let json = serde_json::to_vec(&identity).map_err(std::io::Error::from);
        json.and_then(|json| atomic_file::write(&path, &json, atomic_file::SHARED))
            .map_err(|source| DataDirError::File { path, attempt: "written", source })
    }
}

const IDENTITY: &str = "identity.json";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_data_directory_is_private_and_remembers() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("a/b");
        let data_dir = DataDir::open(&path).unwrap();
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(data_dir.identity().unwrap(), None);
        let identity = Identity { agent: AgentId::new(7) };
        data_dir.set_identity(identity).unwrap();
        assert_eq!(data_dir.identity().unwrap(), Some(identity));
        assert_eq!(data_dir.key().unwrap().public(), data_dir.key().unwrap().public());
        assert!(data_dir.frontier().unwrap().epoch() > 1_000_000_000_000);
    }

    #[test]
    fn errors_name_the_file() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let error = DataDir::open(&file).err().unwrap();
        assert!(error.to_string().contains("file cannot be created"), "{error}");
        let data_dir = DataDir::open(dir.path()).unwrap();
        std::fs::write(dir.path().join(IDENTITY), "{").unwrap();
        let error = data_dir.identity().err().unwrap();
        assert!(error.to_string().contains("identity.json cannot be parsed"), "{error}");
    }
}
