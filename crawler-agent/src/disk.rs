//! Is there room? The data directory has its cap, and the disk keeps a floor free for everybody
//! else.

use std::{fmt, path::Path};

use nix::sys::statvfs::statvfs;

use crate::config::Limits;

/// Why nothing more may be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shortage {
    /// Less is free on the disk than the owner wants.
    Floor {
        /// Bytes that are free.
        free: u64,
        /// Bytes that must be.
        floor: u64,
    },
    /// The data directory has its share.
    Cap {
        /// Bytes that it takes.
        used: u64,
        /// Bytes that it may take.
        cap: u64,
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
            Self::Cap { used, cap } => {
                write!(f, "the data directory takes {} of its {} MiB", mib(*used), mib(*cap))
            }
        }
    }
}

/// Parts of a hundred of the cap at which fetching pauses, so that shipping can go on.
const HIGH_WATER: u64 = 90;

/// What is short in `dir`, if anything.
pub fn shortage(dir: &Path, limits: &Limits) -> std::io::Result<Option<Shortage>> {
    let disk = statvfs(dir)?;
    let (free, floor) = (disk.blocks_available() * disk.fragment_size(), limits.disk_floor_bytes);
    if free < floor {
        return Ok(Some(Shortage::Floor { free, floor }));
    }
    let (used, cap) = (size(dir)?, limits.disk_bytes);
    Ok((used > cap / 100 * HIGH_WATER).then_some(Shortage::Cap { used, cap }))
}

/// Bytes of all files below `dir`. Files that vanish meanwhile count nothing.
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
    fn cap_and_floor_are_watched() {
        let dir = TempDir::new().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/file"), vec![0; 950_000]).unwrap();
        let text = "coordinator = \"http://c.example\"\ncontact = \"https://o.example\"\n";
        let limits = crate::config::Config::parse(text, Path::new("t")).unwrap().limits;
        let with = |disk_bytes, disk_floor_bytes| {
            shortage(dir.path(), &Limits { disk_bytes, disk_floor_bytes, ..limits.clone() })
                .unwrap()
        };
        assert_eq!(with(1 << 30, 0), None);
        assert_eq!(with(1_000_000, 0), Some(Shortage::Cap { used: 950_000, cap: 1_000_000 }));
        let short = with(1 << 30, u64::MAX).unwrap();
        assert!(short.to_string().contains("free on the disk"), "{short}");
    }
}
