//! Access rights of the data directory: other users of the machine can read nothing in it.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::Path;

use nix::sys::stat::{Mode, umask};

/// Directories below the data directory, which a restored backup may have opened to everybody.
const BELOW: [&str; 3] = ["packages", "index", "registries"];
/// Permission bit of directories that several users share, like `/tmp`.
const STICKY: u32 = 0o1000;

/// Makes every file and directory that this program creates from now on unreadable for other users.
pub fn create_privately() {
    umask(Mode::from_bits_truncate(0o077));
}

/// Creates the data directory, and closes it and what is in it to other users. The group may still
/// pass through: where root runs a private Postgres server, it is the server's group.
pub fn open(data_dir: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(data_dir)?;
    cluster::check_own(data_dir)?;
    close(data_dir, 0o710)?;
    for dir in BELOW.map(|name| data_dir.join(name)) {
        if dir.is_dir() {
            close(&dir, 0o700)?;
        }
    }
    Ok(())
}

/// Takes all permissions away but those in `most`.
fn close(dir: &Path, most: u32) -> io::Result<()> {
    let mode = std::fs::metadata(dir)?.permissions().mode();
    if mode & 0o777 & !most == 0 || mode & STICKY != 0 {
        return Ok(());
    }
    std::fs::set_permissions(dir, Permissions::from_mode(mode & most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_that_is_open_to_others_is_closed() {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        let index = data.join("index");
        std::fs::create_dir_all(&index).unwrap();
        std::fs::write(index.join("meta.json"), "").unwrap();
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        };
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        set(&data, 0o755);
        set(&index, 0o755);
        open(&data).unwrap();
        assert_eq!((mode(&data), mode(&index)), (0o710, 0o700));
        set(&data, 0o1777);
        open(&data).unwrap();
        assert_eq!(mode(&data), 0o1777, "a shared directory is not ours to close");
    }
}
