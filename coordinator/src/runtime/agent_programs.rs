//! The agent's programs that the operator offers to partners: files of one directory.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use data_encoding::HEXLOWER;
use protocol::release::{self, is_program_name};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

/// Most files that are offered.
const FILES_MAX: usize = 16;

/// A program that partners can download.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = Download)]
pub struct AgentProgram {
    /// Name of the file, such as `nearcrawl-agent` or `nearcrawl-agent-aarch64`.
    #[schema(example = "nearcrawl-agent")]
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256 in hex.
    pub sha256: String,
}

/// The directory, and the hashes of its files as long as they do not change.
#[derive(Debug)]
pub struct AgentPrograms {
    dir: Option<PathBuf>,
    hashes: Mutex<HashMap<String, (Stamp, String)>>,
}

type Stamp = (u64, Option<SystemTime>);

impl AgentPrograms {
    /// The programs in a directory; none are offered without one.
    pub fn new(dir: Option<PathBuf>) -> Self {
        Self { dir, hashes: Mutex::default() }
    }

    /// The programs, by name; `None` where the operator offers none. Reads files as a whole, so it
    /// belongs on a thread that may block.
    pub fn list(&self) -> io::Result<Option<Vec<AgentProgram>>> {
        let Some(dir) = &self.dir else { return Ok(None) };
        let mut programs = Vec::new();
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_program_name(&name) && std::fs::metadata(entry.path())?.is_file() {
                programs.push(self.describe(&entry.path(), name)?);
            }
        }
        programs.sort_by(|a, b| a.name.cmp(&b.name));
        programs.truncate(FILES_MAX);
        Ok(Some(programs))
    }

    /// The file with this name; `None` if it is not offered.
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        let dir = self.dir.as_ref()?;
        is_program_name(name).then(|| dir.join(name))
    }

    /// The signed release of the programs; `None` where there is none. Reads a file, so it belongs
    /// on a thread that may block.
    pub fn release(&self) -> io::Result<Option<Vec<u8>>> {
        let Some(dir) = &self.dir else { return Ok(None) };
        let file = match File::open(dir.join(release::FILE)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut content = Vec::new();
        // An agent reads no more than that.
        file.take(release::FILE_BYTES as u64).read_to_end(&mut content)?;
        Ok(Some(content))
    }

    fn describe(&self, path: &Path, name: String) -> io::Result<AgentProgram> {
        let metadata = std::fs::metadata(path)?;
        let bytes = metadata.len();
        let stamp = (bytes, metadata.modified().ok());
        let known = self.hashes.lock().unwrap_or_else(PoisonError::into_inner).get(&name).cloned();
        if let Some((_, sha256)) = known.filter(|(before, _)| *before == stamp) {
            return Ok(AgentProgram { name, bytes, sha256 });
        }
        let sha256 = sha256_of(path)?;
        let mut hashes = self.hashes.lock().unwrap_or_else(PoisonError::into_inner);
        hashes.insert(name.clone(), (stamp, sha256.clone()));
        Ok(AgentProgram { name, bytes, sha256 })
    }
}

/// The SHA-256 of a file in hex.
fn sha256_of(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut buffer)?;
        if read == 0 {
            return Ok(HEXLOWER.encode(&hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_listed_with_the_hash_of_their_content() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["nearcrawl-agent", "nearcrawl-agent-aarch64", "other", ".hidden"] {
            std::fs::write(dir.path().join(name), "abc").unwrap();
        }
        let programs = AgentPrograms::new(Some(dir.path().to_owned()));
        let listed = programs.list().unwrap().unwrap();
        let names: Vec<&str> = listed.iter().map(|program| program.name.as_str()).collect();
        assert_eq!(names, ["nearcrawl-agent", "nearcrawl-agent-aarch64"]);
        let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((listed[0].bytes, listed[0].sha256.as_str()), (3, sha256));
        std::fs::write(dir.path().join("nearcrawl-agent"), "abcd").unwrap();
        assert_ne!(programs.list().unwrap().unwrap()[0].sha256, sha256);
    }

    #[test]
    fn a_release_is_beside_the_programs_and_is_not_one() {
        let dir = tempfile::tempdir().unwrap();
        let programs = AgentPrograms::new(Some(dir.path().to_owned()));
        assert_eq!(programs.release().unwrap(), None);
        std::fs::write(dir.path().join(release::FILE), vec![b'x'; release::FILE_BYTES + 1])
            .unwrap();
        assert_eq!(programs.release().unwrap().map(|file| file.len()), Some(release::FILE_BYTES));
        assert_eq!(programs.list().unwrap().unwrap(), []);
        assert!(AgentPrograms::new(None).release().unwrap().is_none());
    }

    #[test]
    fn no_name_leaves_the_directory() {
        let programs = AgentPrograms::new(Some("/srv".into()));
        assert!(programs.path("nearcrawl-agent").is_some());
        for name in ["nearcrawl-agent/../../etc/passwd", "nearcrawl-agent/x", "passwd", ".."] {
            assert!(programs.path(name).is_none(), "{name}");
        }
        assert!(AgentPrograms::new(None).path("nearcrawl-agent").is_none());
        assert_eq!(AgentPrograms::new(None).list().unwrap(), None);
    }
}
