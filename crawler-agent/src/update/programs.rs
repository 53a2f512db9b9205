//! The programs in the data directory: which one is in use, and which versions failed.

use std::{
    io::ErrorKind,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use model::UnixMillis;
use nix::unistd::geteuid;
use protocol::{key::PublicKey, release::PROGRAM_PREFIX};
use semver::Version;
use serde::{Deserialize, Serialize};

use super::own_version;
use crate::{
    data_dir::PROGRAMS,
    file::{self, FileError},
};

const FILE: &str = "current.json";
/// A program that is being downloaded.
const DOWNLOAD: &str = "download";
/// Starts that a program on trial has.
const STARTS: u32 = 3;

/// The directory of programs, and what its file says.
#[derive(Debug)]
pub struct Programs {
    dir: PathBuf,
    known: Known,
}

/// Content of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct Known {
    newest: Option<Newest>,
    in_use: Option<InUse>,
    /// What was in use before, while that on trial may still fail.
    former: Option<InUse>,
    /// Versions that failed here.
    rejected: Vec<Version>,
}

/// The newest release that was seen. It counts for one key, so that a new key can follow one with
/// which a release of a far future was signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Newest {
    key: PublicKey,
    signed_at: UnixMillis,
}

/// A program that runs in place of the installed one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InUse {
    /// Version that its release has.
    pub version: Version,
    /// The signed release that it came with, which has its hash.
    pub release: String,
    /// Whether it has proved itself.
    pub state: TrialState,
    /// Starts on trial.
    pub starts: u32,
}

/// Whether a program has proved itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TrialState {
    /// It may fail yet.
    Trial,
    /// It has worked.
    Confirmed,
}

impl Programs {
    /// What is known in the data directory `dir`; nothing where the agent has never updated itself.
    /// Nothing is known of a damaged file, which the next change replaces.
    pub fn load(dir: &Path) -> Result<Self, FileError> {
        let dir = dir.join(PROGRAMS);
        let path = dir.join(FILE);
        let known = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => Known::default(),
            read => {
                let json = read.map_err(FileError::at(&path, "read"))?;
                serde_json::from_slice(&json).unwrap_or_else(|error| {
                    let path = path.display();
                    tracing::warn!(%path, %error, "what is known of updates is damaged, and lost");
                    Known::default()
                })
            }
        };
        Ok(Self { dir, known })
    }

    /// The directory of programs.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Whether the data directory `dir` and its programs belong to this user. Root must not run
    /// what the agent's user could replace in the same moment, nor read what that user wrote.
    pub fn are_own(dir: &Path) -> bool {
        let user = geteuid().as_raw();
        let is_own = |path: &Path| match path.symlink_metadata() {
            Ok(metadata) => metadata.uid() == user && !metadata.is_symlink(),
            Err(error) => error.kind() == ErrorKind::NotFound,
        };
        // The directory itself may be a link, as that of a service is.
        dir.metadata().is_ok_and(|metadata| metadata.uid() == user) && is_own(&dir.join(PROGRAMS))
    }

    /// File of a version.
    pub fn path(&self, version: &Version) -> PathBuf {
        self.dir.join(format!("{PROGRAM_PREFIX}-{version}"))
    }

    /// File of a program that is being downloaded.
    pub fn download_path(&self) -> PathBuf {
        self.dir.join(DOWNLOAD)
    }

    /// The program in use instead of the installed one.
    pub fn in_use(&self) -> Option<&InUse> {
        self.known.in_use.as_ref()
    }

    /// Versions that failed here.
    pub fn rejected(&self) -> &[Version] {
        &self.known.rejected
    }

    /// Whether the program in use may fail yet.
    pub fn is_on_trial(&self) -> bool {
        self.in_use().is_some_and(|in_use| in_use.state == TrialState::Trial)
    }

    /// Whether the program in use has failed.
    pub fn has_failed(&self) -> bool {
        self.is_on_trial() && self.in_use().is_some_and(|in_use| in_use.starts >= STARTS)
    }

    /// Version of this process, which the installed program started if `is_launched`.
    pub fn running_version(&self, is_launched: bool) -> Version {
        let in_use = self.in_use().filter(|_| is_launched).map(|in_use| in_use.version.clone());
        in_use.into_iter().fold(own_version(), Version::max)
    }

    /// When the newest release that was seen was signed by this key.
    pub fn newest(&self, key: &PublicKey) -> Option<UnixMillis> {
        let newest = self.known.newest.filter(|newest| newest.key == *key)?;
        Some(newest.signed_at)
    }

    /// Notes that a release was seen.
    pub fn note_newest(&mut self, key: PublicKey, signed_at: UnixMillis) -> Result<(), FileError> {
        let newest = Some(Newest { key, signed_at });
        if self.known.newest == newest {
            return Ok(());
        }
        self.change(|known| known.newest = newest)
    }

    /// Puts a program to use, on trial. Starts of the same version on trial still count.
    pub fn begin_trial(&mut self, version: Version, release: String) -> Result<(), FileError> {
        self.change(|known| {
            let before = known.in_use.take();
            let same = before.as_ref().filter(|in_use| in_use.version == version);
            let starts = same.map_or(0, |in_use| in_use.starts);
            // A program that is still on trial is not kept as the former one.
            let confirmed = before.filter(|in_use| in_use.state == TrialState::Confirmed);
            known.former = confirmed.or(known.former.take());
            known.in_use = Some(InUse { version, release, state: TrialState::Trial, starts });
        })
    }

    /// Counts a start of the program on trial, which is to come.
    pub fn count_start(&mut self) -> Result<(), FileError> {
        self.change_starts(|starts| starts.saturating_add(1))
    }

    /// Takes the last start back: the owner ended the program, which says nothing about it.
    pub fn forgive_start(&mut self) -> Result<(), FileError> {
        self.change_starts(|starts| starts.saturating_sub(1))
    }

    /// Ends the trial: the program works, and the former one is not needed any more.
    pub fn confirm(&mut self) -> Result<(), FileError> {
        self.change(|known| {
            known.former = None;
            if let Some(in_use) = &mut known.in_use {
                in_use.state = TrialState::Confirmed;
                known.rejected.retain(|version| *version > in_use.version);
            }
        })?;
        self.remove_unused();
        Ok(())
    }

    /// Rejects the program in use for good.
    pub fn reject(&mut self) -> Result<(), FileError> {
        self.change(|known| {
            let failed = known.in_use.take();
            known.rejected.extend(failed.map(|failed| failed.version));
            known.in_use = known.former.take();
        })
    }

    /// Goes back to the former program, where the one in use cannot be run. One on trial is
    /// rejected, so that the agent does not change between two programs for ever.
    pub fn give_up_in_use(&mut self) -> Result<(), FileError> {
        if self.is_on_trial() { self.reject() } else { self.drop_in_use() }
    }

    /// Goes back to the former program, where the one in use is not needed any more.
    pub fn drop_in_use(&mut self) -> Result<(), FileError> {
        self.change(|known| known.in_use = known.former.take())
    }

    /// Deletes the files of programs that are not in use. What cannot be deleted only takes space.
    pub fn remove_unused(&self) {
        let used = [&self.known.in_use, &self.known.former].into_iter().flatten();
        let mut kept: Vec<PathBuf> = used.map(|in_use| self.path(&in_use.version)).collect();
        kept.push(self.dir.join(FILE));
        let Ok(entries) = self.dir.read_dir() else { return };
        for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            if !kept.contains(&path) {
                drop(std::fs::remove_file(path));
            }
        }
    }

    fn change_starts(&mut self, change: impl FnOnce(u32) -> u32) -> Result<(), FileError> {
        self.change(|known| {
            if let Some(in_use) = &mut known.in_use {
                in_use.starts = change(in_use.starts);
            }
        })
    }

    /// Changes the file. What is known here is changed even if the file cannot be.
    fn change(&mut self, change: impl FnOnce(&mut Known)) -> Result<(), FileError> {
        change(&mut self.known);
        file::private_dir(&self.dir)?;
        let path = self.dir.join(FILE);
        let json = serde_json::to_vec_pretty(&self.known).map_err(std::io::Error::from);
        file::write_atomically(&path, &json.map_err(FileError::at(&path, "written"))?)
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn version(minor: u64) -> Version {
        Version::new(9, minor, 0)
    }

    fn in_use(programs: &Programs) -> Option<u64> {
        programs.in_use().map(|in_use| in_use.version.minor)
    }

    #[test]
    fn a_program_that_fails_gives_way_to_the_former_one() {
        let dir = TempDir::new().unwrap();
        let mut programs = Programs::load(dir.path()).unwrap();
        assert_eq!(programs.in_use(), None);
        programs.begin_trial(version(1), "first".into()).unwrap();
        programs.confirm().unwrap();
        programs.begin_trial(version(2), "second".into()).unwrap();
        for _ in 0..STARTS {
            assert!(!programs.has_failed());
            programs.count_start().unwrap();
            // It is durable before the program runs.
            programs = Programs::load(dir.path()).unwrap();
        }
        assert!(programs.has_failed());
        programs.forgive_start().unwrap();
        assert!(!programs.has_failed());
        programs.count_start().unwrap();
        programs.reject().unwrap();
        programs = Programs::load(dir.path()).unwrap();
        assert_eq!((in_use(&programs), programs.rejected()), (Some(1), &[version(2)][..]));
        assert!(!programs.is_on_trial());
        programs.begin_trial(version(3), "third".into()).unwrap();
        programs.confirm().unwrap();
        assert_eq!((in_use(&programs), programs.rejected()), (Some(3), &[][..]));
    }

    #[test]
    fn only_files_in_use_are_kept() {
        let dir = TempDir::new().unwrap();
        let mut programs = Programs::load(dir.path()).unwrap();
        programs.begin_trial(version(1), String::new()).unwrap();
        programs.confirm().unwrap();
        programs.begin_trial(version(2), String::new()).unwrap();
        let write = |path: PathBuf| std::fs::write(path, "program").unwrap();
        (0..3).for_each(|minor| write(programs.path(&version(minor))));
        write(programs.download_path());
        let names = || {
            let entries = dir.path().join(PROGRAMS).read_dir().unwrap();
            let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        };
        programs.remove_unused();
        assert_eq!(names(), ["current.json", "nearcrawl-agent-9.1.0", "nearcrawl-agent-9.2.0"]);
        programs.confirm().unwrap();
        assert_eq!(names(), ["current.json", "nearcrawl-agent-9.2.0"]);
    }

    #[test]
    fn the_newest_release_counts_for_its_key() {
        let dir = TempDir::new().unwrap();
        let [one, other] = [1, 2].map(|n| protocol::key::ReleaseKey::from_seed([n; 32]).public());
        let mut programs = Programs::load(dir.path()).unwrap();
        programs.note_newest(one, UnixMillis(5)).unwrap();
        let programs = Programs::load(dir.path()).unwrap();
        assert_eq!((programs.newest(&one), programs.newest(&other)), (Some(UnixMillis(5)), None));
    }

    #[test]
    fn a_damaged_file_is_nothing_and_one_that_cannot_be_read_is_an_error() {
        let dir = TempDir::new().unwrap();
        let mut programs = Programs::load(dir.path()).unwrap();
        programs.begin_trial(version(1), String::new()).unwrap();
        let file = dir.path().join(PROGRAMS).join(FILE);
        std::fs::write(&file, "{").unwrap();
        assert_eq!(Programs::load(dir.path()).unwrap().in_use(), None);
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        Programs::load(dir.path()).unwrap_err();
    }

    #[test]
    fn programs_behind_a_link_are_not_ours() {
        let dir = TempDir::new().unwrap();
        assert!(Programs::are_own(dir.path()));
        let elsewhere = dir.path().join("elsewhere");
        std::fs::create_dir(&elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, dir.path().join(PROGRAMS)).unwrap();
        assert!(!Programs::are_own(dir.path()));
        let service = dir.path().join("service");
        std::os::unix::fs::symlink(&elsewhere, &service).unwrap();
        assert!(Programs::are_own(&service));
    }

    #[test]
    fn the_running_version_is_that_of_the_program_in_use_if_it_was_launched() {
        let dir = TempDir::new().unwrap();
        let mut programs = Programs::load(dir.path()).unwrap();
        programs.begin_trial(version(1), String::new()).unwrap();
        assert_eq!(programs.running_version(true), version(1));
        assert_eq!(programs.running_version(false), own_version());
    }
}
