//! Disk space: the data directory has a cap, and a floor stays free on the disk for other programs.

use std::{fmt, path::Path};

use nix::sys::statvfs::{FsFlags, statvfs};

use crate::{config::Limits, data_dir::ACTIVITY_LOG};

/// Reason for which nothing more may be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// Less space is free on the disk than the owner demands.
    Floor {
        /// Free space, in bytes.
        free: u64,
        /// Space that must stay free, in bytes.
        floor: u64,
    },
    /// The data directory has nearly reached its cap.
    Cap {
        /// Size of the data directory, in bytes.
        used: u64,
        /// Cap of the data directory, in bytes.
        cap: u64,
        /// Size of the activity log in it, in bytes.
        log: u64,
    },
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |bytes: u64| bytes >> 20;
        match self {
            Self::Floor { free, floor } => {
                write!(
                    f,
                    "only {} MiB are free on the disk, {} MiB must be",
                    mib(*free),
                    mib(*floor)
                )
            }
            Self::Cap { used, cap, log } => {
                write!(
                    f,
                    "the data directory takes {} of its {} MiB (disk_mib), {} of them the activity \
                     log (activity_log_days)",
                    mib(*used),
                    mib(*cap),
                    mib(*log)
                )
            }
        }
    }
}

/// Per cent of the cap at which fetching pauses. The rest lets packages be written and shipped,
/// which frees space again.
const HIGH_WATER: u64 = 90;

/// Whether space is short in `dir`. A directory that does not exist yet is empty, and on the disk
/// of the directory in which it will be made.
pub fn shortage(dir: &Path, limits: &Limits) -> std::io::Result<Option<Shortage>> {
    let dir = std::path::absolute(dir)?;
    let existing = existing(&dir);
    let disk = statvfs(existing)?;
    let free = disk.blocks_available() * disk.fragment_size();
    let floor = limits.disk_floor_bytes;
    if free < floor {
        return Ok(Some(Shortage::Floor { free, floor }));
    }
    let used = if existing == dir { size(&dir)? } else { 0 };
    let cap = limits.disk_bytes;
    if used <= cap / 100 * HIGH_WATER {
        return Ok(None);
    }
    let log = size(&dir.join(ACTIVITY_LOG)).unwrap_or(0);
    Ok(Some(Shortage::Cap { used, cap, log }))
}

/// Whether no program can be run in `dir`.
pub fn is_noexec(dir: &Path) -> std::io::Result<bool> {
    let dir = std::path::absolute(dir)?;
    Ok(statvfs(existing(&dir))?.flags().contains(FsFlags::ST_NOEXEC))
}

/// The directory itself, or the one in which it will be made.
fn existing(dir: &Path) -> &Path {
    dir.ancestors().find(|above| above.exists()).unwrap_or(dir)
}

/// Sum of the sizes of all files below `dir`. Files that vanish meanwhile are not counted.
fn size(dir: &Path) -> std::io::Result<u64> {
    let mut sum = 0;
    for entry in std::fs::read_dir(dir)? {
        let Ok(entry) = entry else { continue };
        match entry.metadata() {
            Ok(metadata) if metadata.is_dir() => sum += size(&entry.path()).unwrap_or(0),
            Ok(metadata) => sum += metadata.len(),
            Err(_) => {}
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn cap_and_floor_are_checked() {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/file"), vec![0; 950_000]).unwrap();
        let with = |disk_bytes, disk_floor_bytes| {
            let limits = Limits { disk_bytes, disk_floor_bytes, ..Limits::default() };
            shortage(dir.path(), &limits).unwrap()
        };
        assert_eq!(with(1 << 30, 0), None);
        let cap = 1_000_000;
        assert_eq!(with(cap, 0), Some(Shortage::Cap { used: 950_000, cap, log: 0 }));
        std::fs::rename(dir.path().join("sub"), dir.path().join("activity")).unwrap();
        let full = with(cap, 0);
        assert_eq!(full, Some(Shortage::Cap { used: 950_000, cap, log: 950_000 }));
        assert!(full.unwrap().to_string().contains("activity_log_days"), "{full:?}");
        let short = with(1 << 30, u64::MAX).unwrap();
        assert!(short.to_string().contains("free on the disk"), "{short}");
    }

    #[test]
    fn a_file_system_that_runs_no_program_is_recognised() {
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap();
        let options = |line: &str| {
            let mut fields = line.split(' ').skip(1);
            (fields.next() == Some("/proc")).then(|| fields.nth(1).unwrap_or_default().to_owned())
        };
        let options = mounts.lines().filter_map(options).next_back().unwrap();
        let expected = options.split(',').any(|option| option == "noexec");
        assert_eq!(is_noexec(Path::new("/proc/of/nobody")).unwrap(), expected);
        let program = std::env::current_exe().unwrap();
        assert!(!is_noexec(program.parent().unwrap()).unwrap());
    }

    #[test]
    fn a_directory_that_does_not_exist_yet_is_empty() {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("of somebody else"), vec![0; 950_000]).unwrap();
        let limits = Limits { disk_bytes: 1_000_000, disk_floor_bytes: 0, ..Limits::default() };
        assert_eq!(shortage(&dir.path().join("new/data"), &limits).unwrap(), None);
        assert!(!dir.path().join("new").exists(), "a check makes nothing");
    }
}
