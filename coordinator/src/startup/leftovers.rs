//! Removes files that a killed coordinator had begun to write.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::packages::blob_store;

/// Age from which an upload is certainly not written any more.
const ABANDONED: Duration = Duration::from_hours(1);

/// Removes uploads in `packages` that were never finished: the local object store writes
/// `NAME.ncpk#1` and renames it, and other blobs likewise. Returns their number.
pub fn remove_uploads(packages: &Path, now: SystemTime) -> io::Result<u32> {
    let mut removed = 0;
    for entry in std::fs::read_dir(packages)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            removed += remove_uploads(&path, now)?;
        } else if is_unfinished(&path) {
            let age = now.duration_since(entry.metadata()?.modified()?).unwrap_or_default();
            if age >= ABANDONED {
                std::fs::remove_file(&path)?;
                removed += 1;
            }
        }
    }
    Ok(removed)
}

fn is_unfinished(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.rsplit_once('#').is_some_and(|(blob, number)| {
        blob_store::is_blob_name(blob) && number.parse::<u32>().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use std::fs::File;

    use super::*;

    #[test]
    fn only_abandoned_uploads_are_removed() {
        let dir = tempfile::tempdir().unwrap();
        let below = dir.path().join("agt_1/7");
        std::fs::create_dir_all(&below).unwrap();
        let now = SystemTime::now();
        let file = |name: &str, age: Duration| {
            let path = below.join(name);
            File::create(&path).unwrap().set_modified(now - age).unwrap();
            path
        };
        let abandoned = file("1-ab.ncpk#1", ABANDONED);
        let bundle = file("4-ab.nchb#12", ABANDONED);
        let identifier = file("nearcrawl-storage#1", ABANDONED);
        let running = file("2-ab.ncpk#1", Duration::from_secs(5));
        let kept = ["3-ab.ncpk", "3-ab.nchb", "nearcrawl-storage", "notes#1", "5-ab.ncpk#x"]
            .map(|name| file(name, ABANDONED * 2));
        assert_eq!(remove_uploads(dir.path(), now).unwrap(), 3);
        for removed in [abandoned, bundle, identifier] {
            assert!(!removed.exists(), "{}", removed.display());
        }
        assert!(running.exists());
        for kept in kept {
            assert!(kept.exists(), "{}", kept.display());
        }
    }
}
