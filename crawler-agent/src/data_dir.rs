//! The data directory: what lies where, and who the agent is.

use std::{
    fs::{DirBuilder, File},
    io::Write as _,
    os::unix::fs::DirBuilderExt as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use model::AgentId;
use protocol::key::AgentKey;
use serde::{Deserialize, Serialize};

use crate::{
    frontier::{Frontier, FrontierError},
    key::{self, KeyFileError},
};

/// The data directory can't be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// It can't be made, read or written.
    #[error("{path} can't be {attempt}")]
    File {
        /// What.
        path: PathBuf,
        /// What was attempted, as a participle.
        attempt: &'static str,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// The key failed.
    #[error(transparent)]
    Key(#[from] KeyFileError),
    /// The frontier failed.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
}

/// Who the agent is, once it has enrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// By the coordinator's count.
    pub agent: AgentId,
}

/// An agent's data directory.
#[derive(Debug, Clone)]
pub struct DataDir {
    dir: PathBuf,
}

impl DataDir {
    /// The directory `dir`, which is made if it is not there; only its owner may look into it.
    pub fn open(dir: &Path) -> Result<Self, DataDirError> {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(dir);
        made.map_err(|source| DataDirError::File {
            path: dir.to_owned(),
            attempt: "made",
            source,
        })?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The agent's key; made when there is none.
    pub fn key(&self) -> Result<Arc<AgentKey>, DataDirError> {
        Ok(Arc::new(key::load_or_make(&self.dir.join("agent.key"), rand::random())?))
    }

    /// The frontier; made when there is none, with the present moment as its epoch.
    pub fn frontier(&self) -> Result<Frontier, DataDirError> {
        let epoch = crate::clock::now().0.unsigned_abs();
        Ok(Frontier::open(&self.dir.join("frontier.redb"), epoch)?)
    }

    /// Who the agent is; none before it has enrolled.
    pub fn identity(&self) -> Result<Option<Identity>, DataDirError> {
        let path = self.dir.join(IDENTITY);
        match std::fs::read(&path) {
            Ok(json) => match serde_json::from_slice(&json) {
                Ok(identity) => Ok(Some(identity)),
                Err(error) => {
                    Err(DataDirError::File { path, attempt: "understood", source: error.into() })
                }
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(DataDirError::File { path, attempt: "read", source }),
        }
    }

    /// Remembers who the agent is.
    pub fn set_identity(&self, identity: Identity) -> Result<(), DataDirError> {
        let path = self.dir.join(IDENTITY);
        let write = || {
            let temporary = path.with_extension("tmp");
            let mut file = File::create(&temporary)?;
            file.write_all(&serde_json::to_vec(&identity)?)?;
            file.sync_all()?;
            std::fs::rename(&temporary, &path)?;
            File::open(&self.dir)?.sync_all()
        };
        write().map_err(|source| DataDirError::File {
            path: path.clone(),
            attempt: "written",
            source,
        })
    }
}

const IDENTITY: &str = "identity.json";

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_home_is_private_and_remembers() {
        let dir = TempDir::new().unwrap();
        let data_dir = DataDir::open(&dir.path().join("a/b")).unwrap();
        let mode = std::fs::metadata(data_dir.dir()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(data_dir.identity().unwrap(), None);
        let identity = Identity { agent: AgentId::new(7) };
        data_dir.set_identity(identity).unwrap();
        assert_eq!(data_dir.identity().unwrap(), Some(identity));
        assert_eq!(data_dir.key().unwrap().public(), data_dir.key().unwrap().public());
        assert!(data_dir.frontier().unwrap().epoch() > 1_000_000_000_000);
    }

    #[test]
    fn what_is_in_the_way_is_named() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        assert!(DataDir::open(&file).err().unwrap().to_string().contains("file can't be made"));
        let data_dir = DataDir::open(dir.path()).unwrap();
        std::fs::write(dir.path().join(IDENTITY), "{").unwrap();
        assert!(
            data_dir
                .identity()
                .err()
                .unwrap()
                .to_string()
                .contains("identity.json can't be understood")
        );
    }
}
