//! Whether a directory is ours to close to other users.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

/// Permissions of others: a directory of ours has at most `x` for the group.
const OPEN: u32 = 0o067;
/// Permission bit of directories that several users share.
pub(crate) const STICKY: u32 = 0o1000;
/// What a new file system has in its top directory.
const OF_FILE_SYSTEM: &str = "lost+found";
/// Files of which a data directory of ours has at least one from its first start on.
const OURS: [&str; 6] = [
    "postgres.lock",
    "postgres/PG_VERSION",
    "postgres.unfinished",
    "packages/nearcrawl-storage",
    "index/meta.json",
    "registries",
];

/// Refuses a directory that is open to others and has files, none of them ours: to close it would
/// lock other programs out, as where an option names `/var/lib`.
pub fn check_own(dir: &Path) -> io::Result<()> {
    let mode = std::fs::metadata(dir)?.permissions().mode();
    // A directory that several users share, like `/tmp`, is not closed.
    if mode & OPEN == 0 || mode & STICKY != 0 || OURS.iter().any(|name| dir.join(name).exists()) {
        return Ok(());
    }
    let mut names = dir.read_dir()?.map_while(Result::ok).map(|entry| entry.file_name());
    if names.all(|name| name == OF_FILE_SYSTEM) {
        return Ok(());
    }
    Err(io::Error::other(
        "it is open to other users and has files of other programs; name a directory of its own",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_other_programs_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let set = |mode| {
            std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(mode)).unwrap();
        };
        set(0o755);
        check_own(dir.path()).unwrap();
        std::fs::create_dir(dir.path().join(OF_FILE_SYSTEM)).unwrap();
        check_own(dir.path()).unwrap();
        std::fs::create_dir(dir.path().join("postgresql")).unwrap();
        let error = check_own(dir.path()).unwrap_err().to_string();
        assert!(error.contains("a directory of its own"), "{error}");
        set(0o710);
        check_own(dir.path()).unwrap();
        set(0o755);
        std::fs::write(dir.path().join("postgres.lock"), "").unwrap();
        check_own(dir.path()).unwrap();
    }
}
