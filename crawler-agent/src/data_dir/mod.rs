//! The data directory: paths and access rights of what the agent keeps on disk.

pub mod control_socket;
mod flag;
mod key;
pub mod removal;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use model::AgentId;
use protocol::key::{AgentKey, PublicKey};
use serde::{Deserialize, Serialize};

use crate::{
    file::{self, FileError},
    frontier::{Frontier, FrontierError, Rebuilt},
};

pub use flag::{Flag, LEAVE_REQUEST, OWNERS_PAUSE};

/// The data directory cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum DataDirError {
    /// An operation on a file or directory failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// The directory is one that other programs use.
    #[error(
        "{0} has other files and is open to other users; name a directory of the agent's own, \
         which may be missing, or if it is that, run: chmod 700 {0}"
    )]
    OfOthers(PathBuf),
    /// Other users can read the key file.
    #[error("the key file {0} can be read by others; run: chmod 600 {0}")]
    KeyExposed(PathBuf),
    /// The key file does not hold a key.
    #[error(
        "the key file {0} holds no key; restore it from a backup, or delete it to enrol as a new \
         agent"
    )]
    KeyContent(PathBuf),
    /// The frontier cannot be opened.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
}

/// Content of `identity.json`, written once the agent has enrolled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Identifier that the coordinator gave the agent.
    pub agent: AgentId,
    /// Key of that coordinator; the agent talks to no other.
    pub coordinator_key: PublicKey,
}

/// An agent's data directory.
#[derive(Debug, Clone)]
pub struct DataDir {
    dir: PathBuf,
}

impl DataDir {
    /// Opens the directory `dir`; creates it where it does not exist, and closes it to other users.
    pub fn open(dir: &Path) -> Result<Self, DataDirError> {
        Self::check(dir)?;
        file::private_dir(dir)?;
        Ok(Self { dir: dir.to_owned() })
    }

    /// Refuses a directory that other programs use. Nothing is made or changed.
    pub fn check(dir: &Path) -> Result<(), DataDirError> {
        if is_of_others(dir)? { Err(DataDirError::OfOthers(dir.to_owned())) } else { Ok(()) }
    }

    /// To read what is in `dir`. Nothing is made or changed.
    pub fn at(dir: &Path) -> Self {
        Self { dir: dir.to_owned() }
    }

    /// Whether an agent has run in `dir`.
    pub fn has_agent(dir: &Path) -> bool {
        [KEY, IDENTITY, FRONTIER, LEAVE_REQUEST.file_name()]
            .iter()
            .any(|name| dir.join(name).exists())
    }

    /// Loads the agent's key; makes one where there is none.
    pub fn key(&self) -> Result<Arc<AgentKey>, DataDirError> {
        Ok(Arc::new(key::load_or_make(&self.dir.join(KEY), rand::random())?))
    }

    /// The public key of the agent with the data directory `dir`; none where no agent has run.
    pub fn public_key(dir: &Path) -> Result<Option<PublicKey>, DataDirError> {
        let path = dir.join(KEY);
        let exists = path.try_exists().map_err(FileError::at(&path, "read"))?;
        exists.then(|| Ok(key::load(&path)?.public())).transpose()
    }

    /// Opens the frontier; makes an empty one, with the present time as its epoch, where there is
    /// none.
    pub fn frontier(&self) -> Result<Frontier, DataDirError> {
        let epoch = crate::clock::now().0.unsigned_abs();
        Ok(Frontier::open(&self.dir.join(FRONTIER), epoch)?)
    }

    /// Opens the frontier after it was rebuilt from what can be read of it.
    pub fn rebuild_frontier(&self) -> Result<(Frontier, Rebuilt), DataDirError> {
        let epoch = crate::clock::now().0.unsigned_abs();
        Ok(Frontier::rebuild(&self.dir.join(FRONTIER), epoch)?)
    }

    /// Refuses a directory that a running agent has, also one that waits for its enrolment.
    pub fn check_unused(&self) -> Result<(), DataDirError> {
        Ok(Frontier::check_unused(&self.dir.join(FRONTIER))?)
    }

    /// Loads the identity; none before the agent has enrolled.
    pub fn identity(&self) -> Result<Option<Identity>, DataDirError> {
        let path = self.dir.join(IDENTITY);
        match std::fs::read(&path) {
            Ok(json) => {
                let stored = serde_json::from_slice(&json).map_err(std::io::Error::from);
                Ok(Some(stored.map_err(FileError::at(&path, "parsed"))?))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::at(&path, "read")(error).into()),
        }
    }

    /// Stores the identity.
    pub fn set_identity(&self, identity: Identity) -> Result<(), DataDirError> {
        let path = self.dir.join(IDENTITY);
        let json = serde_json::to_vec(&identity).map_err(std::io::Error::from);
        let json = json.map_err(FileError::at(&path, "written"))?;
        Ok(file::write_atomically(&path, &json)?)
    }
}

/// Directory of the activity log in the data directory.
pub const ACTIVITY_LOG: &str = "activity";
/// Directory of programs that the agent has updated itself to, in the data directory.
pub const PROGRAMS: &str = "programs";
const KEY: &str = "agent.key";
const IDENTITY: &str = "identity.json";
const FRONTIER: &str = "frontier";
/// What a new file system has in its top directory.
const OF_FILE_SYSTEM: &str = "lost+found";

/// Whether `dir` is open to others and has files, none of them an agent's: to close it would lock
/// other programs out, as where the option names `/var/lib`.
fn is_of_others(dir: &Path) -> Result<bool, FileError> {
    let is_used = || {
        let mut names = dir.read_dir()?.map_while(Result::ok).map(|entry| entry.file_name());
        let is_used = file::is_open(dir)? && names.any(|name| name != OF_FILE_SYSTEM);
        Ok(is_used && !DataDir::has_agent(dir))
    };
    is_used().or_else(|error: std::io::Error| match error.kind() {
        // The operation that follows reports the missing directory.
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Ok(false),
        _ => Err(FileError::at(dir, "read")(error)),
    })
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_data_directory_is_private_and_remembers() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("a/b");
        std::fs::create_dir_all(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let data_dir = DataDir::open(&path).unwrap();
        let mode = std::fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700);
        assert_eq!(data_dir.identity().unwrap(), None);
        let coordinator_key = data_dir.key().unwrap().public();
        let identity = Identity { agent: AgentId::new(7), coordinator_key };
        data_dir.set_identity(identity).unwrap();
        assert_eq!(data_dir.identity().unwrap(), Some(identity));
        assert_eq!(data_dir.key().unwrap().public(), data_dir.key().unwrap().public());
        assert!(data_dir.frontier().unwrap().epoch() > 1_000_000_000_000);
    }

    #[test]
    fn a_directory_of_other_programs_is_not_closed() {
        let dir = TempDir::new().unwrap();
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(dir.path(), open).unwrap();
        std::fs::write(dir.path().join("database"), "").unwrap();
        let error = DataDir::open(dir.path()).err().unwrap();
        assert!(matches!(error, DataDirError::OfOthers(_)), "{error}");
        let mode = std::fs::metadata(dir.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
        std::fs::write(dir.path().join(KEY), "").unwrap();
        assert!(DataDir::open(dir.path()).is_ok(), "an agent has run there");
    }

    #[test]
    fn errors_name_the_file() {
        let dir = TempDir::new().unwrap();
        let file = dir.path().join("file");
        std::fs::write(&file, "x").unwrap();
        let error = DataDir::open(&file).err().unwrap();
        assert!(error.to_string().contains("file cannot be created"), "{error}");
        std::fs::remove_file(&file).unwrap();
        let data_dir = DataDir::open(dir.path()).unwrap();
        std::fs::write(dir.path().join(IDENTITY), "{").unwrap();
        let error = data_dir.identity().err().unwrap();
        assert!(error.to_string().contains("identity.json cannot be parsed"), "{error}");
    }
}
