//! Search for the directory of `initdb` and `postgres` on this machine.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::layout::Layout;
use crate::{ClusterError, LEAST_MAJOR};

/// Places where the server binaries may be, best first.
#[derive(Debug, Clone, Default)]
pub struct Binaries {
    /// The directory to use; all other places are ignored when it is given.
    pub fixed: Option<PathBuf>,
    /// Directories whose `<major>/bin` (or `pgsql-<major>/bin`) may hold a version.
    pub versioned: Vec<PathBuf>,
    /// Directories in the form of the variable `PATH`.
    pub path: Option<OsString>,
}

impl Binaries {
    /// The places for this process: `NEARCRAWL_PG_BIN` alone when it is set; else the directories
    /// of Debian and Red Hat, then `PATH`. Reads the process environment.
    pub fn of_process() -> Self {
        Self {
            fixed: std::env::var_os("NEARCRAWL_PG_BIN")
                .filter(|dir| !dir.is_empty())
                .map(PathBuf::from),
            versioned: vec!["/usr/lib/postgresql".into(), "/usr".into()],
            path: std::env::var_os("PATH"),
        }
    }

    /// The directory for the cluster of a data directory, as a start chooses it, or why a start
    /// would fail. Changes nothing there.
    pub fn for_data_dir(&self, data_dir: &Path) -> Result<PathBuf, ClusterError> {
        self.for_cluster(&Layout::of(data_dir))
    }

    /// The directory for the cluster's data: of their version, or for new ones the best.
    pub(crate) fn for_cluster(&self, layout: &Layout) -> Result<PathBuf, ClusterError> {
        let Some(expected) = layout.version()? else { return self.find(None) };
        let binaries = self.find(Some(&expected))?;
        let found = major_version(&binaries)?;
        if found == expected {
            return Ok(binaries);
        }
        Err(ClusterError::OtherVersion { data: layout.data(), expected, binaries, found })
    }

    /// The directory for data of the major version `required`, else the best one that is not too
    /// old: the newest for a new cluster. The caller checks whether another version can read the
    /// data in the directory.
    pub(crate) fn find(&self, required: Option<&str>) -> Result<PathBuf, ClusterError> {
        let candidates = self.candidates();
        let Some(best) = candidates.first() else {
            return Err(ClusterError::NoBinaries { searched: self.searched() });
        };
        let Some(required) = required else { return new_enough(&candidates, best) };
        let has_required = |dir: &&PathBuf| major(dir) == required.parse().ok();
        Ok(candidates.iter().find(has_required).unwrap_or(best).clone())
    }

    fn candidates(&self) -> Vec<PathBuf> {
        let all = match &self.fixed {
            Some(dir) => vec![dir.clone()],
            None => self.default_places(),
        };
        all.into_iter().filter_map(|dir| with_both_programs(&dir)).collect()
    }

    fn default_places(&self) -> Vec<PathBuf> {
        let mut versioned: Vec<PathBuf> =
            self.versioned.iter().flat_map(|base| version_dirs(base)).collect();
        versioned.sort_by_key(|dir| std::cmp::Reverse(major_in_path(dir)));
        let path = self.path.iter().flat_map(std::env::split_paths);
        versioned.into_iter().chain(path).collect()
    }

    fn searched(&self) -> String {
        match &self.fixed {
            Some(dir) => format!("NEARCRAWL_PG_BIN={}", dir.display()),
            None => "/usr/lib/postgresql/*/bin, /usr/pgsql-*/bin, PATH".to_owned(),
        }
    }
}

/// The first directory whose version is not too old. One whose version is unknown is tried: its
/// start says why it fails.
fn new_enough(candidates: &[PathBuf], best: &Path) -> Result<PathBuf, ClusterError> {
    let is_new_enough = |dir: &&PathBuf| major(dir).is_none_or(|major| major >= LEAST_MAJOR);
    candidates.iter().find(is_new_enough).cloned().ok_or_else(|| ClusterError::TooOld {
        binaries: best.to_owned(),
        found: major(best).unwrap_or_default(),
    })
}

/// The directory with links resolved, if it contains both programs. `/usr/bin/postgres` may be a
/// link, and Postgres finds its other files relative to the real directory.
fn with_both_programs(dir: &Path) -> Option<PathBuf> {
    let postgres = dir.join("postgres").canonicalize().ok()?;
    let real = postgres.parent()?;
    real.join("initdb").is_file().then(|| real.to_path_buf())
}

/// `base/15/bin` and `base/pgsql-15/bin` for every number.
fn version_dirs(base: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(base) else { return Vec::new() };
    entries
        .flatten()
        .map(|entry| entry.path().join("bin"))
        .filter(|dir| major_in_path(dir).is_some())
        .collect()
}

/// The major version in the directory's name: 15 for `/usr/lib/postgresql/15/bin`.
fn major_in_path(bin: &Path) -> Option<u32> {
    let name = bin.parent()?.file_name()?.to_str()?;
    name.strip_prefix("pgsql-").unwrap_or(name).parse().ok()
}

/// The major version that the program reports, else the one in its directory's name, if any.
fn major(bin: &Path) -> Option<u32> {
    let reported = major_version(bin).ok().and_then(|major| major.parse().ok());
    reported.or_else(|| major_in_path(bin))
}

/// The major version that `postgres --version` reports: `"15"` for 15.20.
fn major_version(bin: &Path) -> Result<String, ClusterError> {
    let program = bin.join("postgres");
    let output = Command::new(&program)
        .arg("--version")
        .output()
        .map_err(|source| ClusterError::Spawn { program: program.clone(), source })?;
    let printed = String::from_utf8_lossy(&output.stdout);
    let number =
        printed.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    let major = number.map(|n| n.chars().take_while(char::is_ascii_digit).collect::<String>());
    major.ok_or_else(|| ClusterError::Start { path: program, output: printed.into_owned() })
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn install(base: &Path, name: &str) -> PathBuf {
        let bin = base.join(name).join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        std::fs::write(bin.join("postgres"), "").unwrap();
        std::fs::write(bin.join("initdb"), "").unwrap();
        bin.canonicalize().unwrap()
    }

    #[test]
    fn the_newest_is_found_unless_the_data_requires_another() {
        let dir = tempfile::tempdir().unwrap();
        let nine = install(dir.path(), "9");
        let sixteen = install(dir.path(), "16");
        std::fs::create_dir_all(dir.path().join("17/bin")).unwrap(); // the client alone
        let binaries = Binaries { versioned: vec![dir.path().into()], ..Binaries::default() };
        assert_eq!(binaries.find(None).unwrap(), sixteen);
        assert_eq!(binaries.find(Some("9")).unwrap(), nine);
        assert_eq!(binaries.find(Some("12")).unwrap(), sixteen);
    }

    /// A program that reports a version.
    fn report(bin: &Path, version: &str) {
        let program = bin.join("postgres");
        std::fs::write(&program, format!("#!/bin/sh\necho 'postgres (PostgreSQL) {version}'\n"))
            .unwrap();
        std::fs::set_permissions(&program, Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn programs_on_path_are_found_by_the_version_that_they_report() {
        let dir = tempfile::tempdir().unwrap();
        let newer = install(&dir.path().join("versioned"), "17");
        let on_path = install(dir.path(), "usr");
        report(&on_path, "16.4");
        let binaries = Binaries {
            path: Some(on_path.clone().into()),
            versioned: vec![dir.path().join("versioned")],
            ..Binaries::default()
        };
        assert_eq!(binaries.find(None).unwrap(), newer);
        assert_eq!(binaries.find(Some("16")).unwrap(), on_path);
    }

    #[test]
    fn versions_that_the_migrations_do_not_support_are_left_out() {
        let dir = tempfile::tempdir().unwrap();
        let old = install(dir.path(), "old");
        report(&old, "14.1");
        let alone = Binaries { path: Some(old.clone().into()), ..Binaries::default() };
        let error = alone.find(None).unwrap_err();
        assert!(error.is_unavailable());
        let message = error.to_string();
        for part in ["Postgres 14", old.to_str().unwrap(), "15 or later", "DATABASE_URL"] {
            assert!(message.contains(part), "{message}");
        }
        let new = install(dir.path(), "new");
        report(&new, "15.20 (Debian 15.20-1)");
        let path = std::env::join_paths([&old, &new]).unwrap();
        let both = Binaries { path: Some(path), ..Binaries::default() };
        assert_eq!(both.find(None).unwrap(), new);
    }

    #[test]
    fn data_of_another_version_are_noticed_without_a_start() {
        let dir = tempfile::tempdir().unwrap();
        let bin = install(dir.path(), "17");
        report(&bin, "17.2");
        let binaries = Binaries { versioned: vec![dir.path().into()], ..Binaries::default() };
        let data_dir = dir.path().join("data");
        assert_eq!(binaries.for_data_dir(&data_dir).unwrap(), bin);
        assert!(!data_dir.exists());
        std::fs::create_dir_all(data_dir.join("postgres")).unwrap();
        let version = data_dir.join("postgres/PG_VERSION");
        std::fs::write(&version, "17\n").unwrap();
        assert_eq!(binaries.for_data_dir(&data_dir).unwrap(), bin);
        std::fs::write(&version, "15\n").unwrap();
        let error = binaries.for_data_dir(&data_dir).unwrap_err();
        assert!(error.is_unavailable());
        assert!(error.to_string().contains("install postgresql-15"), "{error}");
    }

    #[test]
    fn links_in_path_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let real = install(dir.path(), "16");
        let links = dir.path().join("links");
        std::fs::create_dir(&links).unwrap();
        std::os::unix::fs::symlink(real.join("postgres"), links.join("postgres")).unwrap();
        let binaries = Binaries { path: Some(links.into()), ..Binaries::default() };
        assert_eq!(binaries.find(None).unwrap(), real);
    }

    #[test]
    fn nothing_found_names_the_remedies() {
        let error = Binaries::default().find(None).unwrap_err();
        assert!(error.is_unavailable());
        let message = error.to_string();
        for remedy in ["apt-get install postgresql", "NEARCRAWL_PG_BIN", "DATABASE_URL"] {
            assert!(message.contains(remedy), "{message}");
        }
    }

    #[test]
    fn a_fixed_place_is_the_only_one() {
        let dir = tempfile::tempdir().unwrap();
        install(dir.path(), "16");
        let binaries = Binaries {
            fixed: Some(dir.path().join("none")),
            versioned: vec![dir.path().into()],
            ..Binaries::default()
        };
        assert!(binaries.find(None).unwrap_err().to_string().contains("NEARCRAWL_PG_BIN"));
    }
}
