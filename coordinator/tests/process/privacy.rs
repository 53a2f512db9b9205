//! What the program writes, other users of the machine cannot read.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use nix::sys::signal::Signal;

use crate::program::{Program, command};

/// Permissions of group and others.
const OF_OTHERS: u32 = 0o077;

/// Whether other users may read or enter something in `dir`, with its path; counts the files.
fn open_entries(dir: &Path, files: &mut u32, open: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let metadata = std::fs::symlink_metadata(&path).unwrap();
        if metadata.permissions().mode() & OF_OTHERS != 0 {
            open.push(path.display().to_string());
        }
        if metadata.is_dir() {
            open_entries(&path, files, open);
        } else {
            *files += 1;
        }
    }
}

#[test]
fn packages_and_index_are_closed_to_other_users() {
    let dir = tempfile::tempdir().unwrap();
    let data_dir = dir.path().join("data");
    let data = data_dir.to_str().unwrap();
    let mut program = Program::start(command(&["--data-dir", data, "--listen", "127.0.0.1:0"]));
    program.line("listening on ", &mut Vec::new());
    let mut files = 0;
    let mut open = Vec::new();
    for name in ["packages", "index"] {
        open_entries(&data_dir.join(name), &mut files, &mut open);
    }
    assert!(files >= 2, "the storage's identifier and the description of the index");
    assert_eq!(open, [""; 0]);
    program.signal(Signal::SIGTERM);
    assert!(program.wait().0.success());
}
