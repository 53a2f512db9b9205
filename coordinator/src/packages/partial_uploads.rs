//! Partial uploads: the beginnings of packages whose upload broke, so that the next attempt goes on
//! where the last one ended.
//!
//! They are files of this coordinator alone. An agent whose next attempt meets another coordinator
//! sends the package whole. Nothing is synced: the digest in a file's name decides whether the
//! whole is right.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use data_encoding::HEXLOWER;
use protocol::package::PackageName;

/// Files of all agents.
const MOST: usize = 256;
/// Files of one agent, which sends one package after the other.
const PER_AGENT: usize = 2;
/// Bytes of all files.
const BYTES: u64 = 256 << 20;
/// Age at which a file is removed.
const MAX_AGE: Duration = Duration::from_hours(24);

/// The package of a partial upload: its name, and the SHA-256 that the agent promises.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartialName {
    pub package: PackageName,
    pub sha256: [u8; 32],
}

impl PartialName {
    fn file(&self) -> String {
        let PackageName { agent, epoch, seq } = self.package;
        format!("{agent}-{epoch}-{seq}-{}", HEXLOWER.encode(&self.sha256))
    }
}

/// The partial uploads in a directory. All calls block, except [`Self::has`].
#[derive(Debug)]
pub struct PartialUploads {
    dir: PathBuf,
    /// Names of the files. Most packages arrive at once, and cost no call of the file system then.
    /// A file whose name is missing is removed when it is old.
    known: Mutex<HashSet<String>>,
}

/// A file of a partial upload.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PartialFile {
    name: String,
    bytes: u64,
    modified: SystemTime,
}

impl PartialFile {
    fn agent(&self) -> &str {
        self.name.split('-').next().unwrap_or_default()
    }
}

impl PartialUploads {
    /// The partial uploads in this directory, which need not exist.
    pub fn new(dir: PathBuf) -> Self {
        let files = fs::read_dir(&dir).into_iter().flatten().flatten();
        let names = files.map(|entry| entry.file_name().to_string_lossy().into_owned());
        Self { known: Mutex::new(names.collect()), dir }
    }

    /// Whether anything is kept of a package.
    pub fn has(&self, name: &PartialName) -> bool {
        self.known().contains(&name.file())
    }

    /// How much has arrived of a package so far.
    pub fn length(&self, name: &PartialName, now: SystemTime) -> io::Result<u64> {
        self.remove_surplus(now)?;
        self.bytes_on_disk(name)
    }

    fn bytes_on_disk(&self, name: &PartialName) -> io::Result<u64> {
        match fs::metadata(self.dir.join(name.file())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
            metadata => Ok(metadata?.len()),
        }
    }

    /// What has arrived of a package so far; empty where nothing is known of it.
    pub fn read(&self, name: &PartialName, now: SystemTime) -> io::Result<Vec<u8>> {
        self.remove_surplus(now)?;
        match fs::read(self.dir.join(name.file())) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            read => read,
        }
    }

    /// Keeps what has arrived of a package, unless more of it is kept already.
    pub fn keep(&self, name: &PartialName, bytes: &[u8], now: SystemTime) -> io::Result<()> {
        if self.bytes_on_disk(name)? > bytes.len() as u64 {
            return Ok(());
        }
        fs::create_dir_all(&self.dir)?;
        self.known().insert(name.file());
        fs::write(self.dir.join(name.file()), bytes)?;
        self.remove_surplus(now)
    }

    /// Forgets a package that arrived whole, or whose bytes are wrong.
    pub fn remove(&self, name: &PartialName) -> io::Result<()> {
        let file = name.file();
        let is_known = self.known().remove(&file);
        if is_known { remove_file(self.dir.join(file)) } else { Ok(()) }
    }

    /// Removes the files that are too old or too many.
    pub fn remove_surplus(&self, now: SystemTime) -> io::Result<()> {
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            entries => entries?,
        };
        let mut files = Vec::new();
        for entry in entries {
            let entry = entry?;
            // Another request may have removed it meanwhile.
            if let Ok(metadata) = entry.metadata() {
                let name = entry.file_name().to_string_lossy().into_owned();
                files.push(PartialFile {
                    name,
                    bytes: metadata.len(),
                    modified: metadata.modified()?,
                });
            }
        }
        for file in surplus(files, now) {
            self.known().remove(&file.name);
            remove_file(self.dir.join(file.name))?;
        }
        Ok(())
    }

    fn known(&self) -> MutexGuard<'_, HashSet<String>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn remove_file(path: PathBuf) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// The files to remove: the newest stay as far as the bounds allow.
fn surplus(mut files: Vec<PartialFile>, now: SystemTime) -> Vec<PartialFile> {
    files.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.name.cmp(&b.name)));
    let mut kept: Vec<PartialFile> = Vec::new();
    let mut removed = Vec::new();
    let mut bytes = 0;
    for file in files {
        let of_agent = kept.iter().filter(|other| other.agent() == file.agent()).count();
        let age = now.duration_since(file.modified).unwrap_or_default();
        let fits = kept.len() < MOST && of_agent < PER_AGENT && bytes + file.bytes <= BYTES;
        if fits && age < MAX_AGE {
            bytes += file.bytes;
            kept.push(file);
        } else {
            removed.push(file);
        }
    }
    removed
}

#[cfg(test)]
mod tests {
    use model::AgentId;

    use super::*;

    const NOW: SystemTime = SystemTime::UNIX_EPOCH;

    fn name(agent: i64, seq: u64) -> PartialName {
        let package = PackageName { agent: AgentId::new(agent), epoch: 1, seq };
        PartialName { package, sha256: [7; 32] }
    }

    fn file(agent: i64, bytes: u64, age_s: u64) -> PartialFile {
        let modified = NOW - Duration::from_secs(age_s);
        PartialFile { name: name(agent, age_s).file(), bytes, modified }
    }

    fn removed(files: Vec<PartialFile>) -> Vec<String> {
        surplus(files, NOW).into_iter().map(|file| file.name).collect()
    }

    #[test]
    fn number_size_and_age_are_bounded() {
        assert!(removed(vec![file(1, 1, 0), file(1, 1, 1), file(2, 1, 86_399)]).is_empty());
        assert_eq!(removed(vec![file(1, 1, 86_400)]), [name(1, 86_400).file()], "too old");
        let three = vec![file(1, 1, 5), file(1, 1, 9), file(1, 1, 7)];
        assert_eq!(removed(three), [name(1, 9).file()], "the oldest of an agent's three");
        let large = (1..=3).map(|n| file(n, BYTES / 2, n.unsigned_abs())).collect();
        assert_eq!(removed(large), [name(3, 3).file()], "too large together");
        let many = (1..=257).map(|n| file(n, 1, n.unsigned_abs())).collect();
        assert_eq!(removed(many), [name(257, 257).file()], "too many");
    }

    #[test]
    fn what_is_kept_is_read_until_it_is_removed_or_stale() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = PartialUploads::new(dir.path().join("uploads"));
        let now = SystemTime::now();
        assert_eq!(uploads.read(&name(1, 1), now).unwrap(), b"");
        uploads.keep(&name(1, 1), b"abc", now).unwrap();
        uploads.keep(&name(2, 1), b"def", now).unwrap();
        assert_eq!(uploads.read(&name(1, 1), now).unwrap(), b"abc");
        uploads.keep(&name(1, 1), b"a", now).unwrap();
        assert_eq!(uploads.length(&name(1, 1), now).unwrap(), 3, "an attempt that broke earlier");
        assert_eq!(uploads.length(&name(1, 2), now).unwrap(), 0);
        let other = PartialName { sha256: [8; 32], ..name(1, 1) };
        assert_eq!(uploads.read(&other, now).unwrap(), b"", "other bytes under its number");
        uploads.remove(&name(1, 1)).unwrap();
        uploads.remove(&name(1, 1)).unwrap();
        assert_eq!(uploads.read(&name(1, 1), now).unwrap(), b"");
        assert_eq!(uploads.read(&name(2, 1), now + MAX_AGE * 2).unwrap(), b"");
        assert_eq!(fs::read_dir(dir.path().join("uploads")).unwrap().count(), 0);
    }

    #[test]
    fn a_package_of_which_nothing_is_kept_costs_no_call() {
        let dir = tempfile::tempdir().unwrap();
        let uploads = PartialUploads::new(dir.path().to_owned());
        let file = dir.path().join(name(1, 1).file());
        // Nobody else writes here: the file shows whether it is looked for.
        fs::write(&file, b"abc").unwrap();
        assert!(!uploads.has(&name(1, 1)));
        uploads.remove(&name(1, 1)).unwrap();
        assert!(file.exists());
        let restarted = PartialUploads::new(dir.path().to_owned());
        assert!(restarted.has(&name(1, 1)));
        restarted.remove(&name(1, 1)).unwrap();
        assert!(!file.exists() && !restarted.has(&name(1, 1)));
    }
}
