//! The virtual internet for an ordinary user, through a user namespace.

use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::{env, fs};

/// Debian's and most others' user without any rights.
const NOBODY: u32 = 65_534;

#[test]
#[ignore = "needs a TUN device that every user may open"]
fn an_ordinary_user_has_one_too_where_the_kernel_allows_it() {
    // Whoever runs the tests, the program must be where nobody can start it.
    let folder = tempfile::tempdir_in(env::temp_dir()).unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let program = folder.path().join("internet");
    fs::copy(env!("CARGO_BIN_EXE_nearcrawl-internet"), &program).unwrap();
    let mut command = Command::new(&program);
    if nix::unistd::geteuid().is_root() {
        command.uid(NOBODY).gid(NOBODY);
    }
    let output = command.current_dir("/").output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{printed}{errors}");
    assert!(
        printed.contains("privilege: UserNamespace") && printed.contains("isolated:"),
        "{printed}"
    );
}
