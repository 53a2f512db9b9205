//! What a user can do who may not use files of another user.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::unistd::{Uid, User, geteuid};

/// What to do where `path` cannot be used; none where its owner is the caller.
pub(crate) fn remedy(path: &Path) -> Option<String> {
    // The caller may not even look at what is in a closed directory.
    let visible = path.ancestors().find_map(|at| Some((at, std::fs::metadata(at).ok()?.uid())));
    let (at, uid) = visible?;
    let owner = Uid::from_raw(uid);
    (owner != geteuid()).then(|| remedy_of(path, at, owner))
}

/// The remedy where `at`, which is `path` or above it, belongs to `owner`.
fn remedy_of(path: &Path, at: &Path, owner: Uid) -> String {
    let name = user_name(owner);
    let place = at.display();
    match () {
        () if !owner.is_root() => format!(
            "run this as {name}, who owns {place}, for example with `runuser -u {name} -- COMMAND`"
        ),
        // A command that ran as root has left it in the directory of another user.
        () if at == path => format!(
            "it belongs to root: give it back, as root, with `chown {} {place}`",
            user_name(geteuid())
        ),
        () => format!("run this as root, who owns {place}, or choose another data directory"),
    }
}

/// The name of a user, or its number where the user database does not have it.
fn user_name(uid: Uid) -> String {
    let user = User::from_uid(uid).ok().flatten();
    user.map_or_else(|| uid.to_string(), |user| user.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIR: &str = "/var/lib/nearcrawl";

    fn remedy_for(at: &str, owner: u32) -> String {
        let lock = Path::new("/var/lib/nearcrawl/postgres.lock");
        remedy_of(lock, Path::new(at), Uid::from_raw(owner))
    }

    #[test]
    fn the_owner_of_the_data_directory_is_named() {
        let advice = remedy_for(DIR, 4242);
        assert!(advice.contains("run this as 4242, who owns /var/lib/nearcrawl"), "{advice}");
        assert!(remedy_for("/var/lib", 0).contains("run this as root"));
    }

    #[test]
    fn a_file_that_root_left_is_given_back() {
        let advice = remedy_for("/var/lib/nearcrawl/postgres.lock", 0);
        let command = format!("`chown {} /var/lib/nearcrawl/postgres.lock`", user_name(geteuid()));
        assert!(advice.contains(&command), "{advice}");
    }

    #[test]
    fn the_own_files_need_no_other_user() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(remedy(&dir.path().join("postgres.lock")), None);
    }
}
