//! Which program a start runs: the installed one, or the one in the data directory in its place.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt as _,
    path::{Path, PathBuf},
    process::Command,
};

use nix::unistd::{AccessFlags, access};
use protocol::{key::PublicKey, release::Release};
use semver::Version;

use super::{Programs, TARGET, download, own_version};
use crate::{config::UpdateRules, data_dir::control_socket, error_line, file::FileError};

/// Variable that has the path of the installed program, for one that it runs in its place.
const INSTALLED: &str = "NEARCRAWL_AGENT_INSTALLED";

/// How this process came to run.
#[derive(Debug)]
pub struct Origin {
    /// The installed program.
    installed: PathBuf,
    /// Whether it runs this program in its place.
    pub is_launched: bool,
}

impl Origin {
    /// The origin of this process.
    pub fn find() -> Self {
        if let Some(installed) = std::env::var_os(INSTALLED) {
            return Self { installed: installed.into(), is_launched: true };
        }
        // Without /proc it is looked for in the directories of PATH.
        let installed = std::env::current_exe().unwrap_or_else(|_| "nearcrawl-agent".into());
        Self { installed, is_launched: false }
    }

    /// Runs the program in use in the data directory `dir` in place of this one, with the same
    /// arguments. Returns where this program is the one to run. If anything is wrong with another
    /// program, the agent continues with this one.
    pub fn launch(&self, rules: &UpdateRules, dir: &Path) {
        // A second process must not count starts of an agent that runs.
        if self.is_launched || control_socket::is_open(dir) {
            return;
        }
        if !Programs::are_own(dir) {
            // Before its first start there is no directory.
            if dir.exists() {
                tracing::warn!("updated programs are not run: they belong to another user");
            }
            return;
        }
        let mut programs = match Programs::load(dir) {
            Ok(programs) => programs,
            Err(error) => return note(Err(error)),
        };
        while let Some(path) = choose(&mut programs, &rules.key) {
            let mut command = Command::new(&path);
            let error = command.args(arguments()).env(INSTALLED, &self.installed).exec();
            tracing::error!(path = %path.display(), %error, "the program in use cannot be run");
            note(programs.give_up_in_use());
        }
        programs.remove_unused();
    }

    /// Restarts as the installed program in place of this one. Returns only if that fails.
    pub fn restart(&self) -> io::Error {
        // The frontier that was rebuilt at this start must not be rebuilt again.
        let arguments = arguments().into_iter().filter(|argument| argument != "--rebuild");
        Command::new(&self.installed).args(arguments).env_remove(INSTALLED).exec()
    }
}

/// Arguments of this process.
pub fn arguments() -> Vec<OsString> {
    std::env::args_os().skip(1).collect()
}

/// The program to run in place of this one; none if this is the one to run.
fn choose(programs: &mut Programs, key: &PublicKey) -> Option<PathBuf> {
    loop {
        let in_use = programs.in_use()?.clone();
        let version = &in_use.version;
        if *version <= own_version() {
            tracing::info!(%version, "the installed program is as new as the one that was in use");
            note(programs.drop_in_use());
            continue;
        }
        if programs.has_failed() {
            tracing::error!(%version, "the version has failed here and is not tried again");
            note(programs.reject());
            continue;
        }
        let path = programs.path(version);
        let release = match Release::verify(in_use.release.as_bytes(), key) {
            Ok(release) => release,
            // The owner has changed the key: that is no fault of the version.
            Err(refusal) => {
                let error = error_line::of(&refusal);
                tracing::warn!(%version, error, "the program in use is not run");
                return None;
            }
        };
        if let Err(error) = check(&release, version, &path) {
            let error = error_line::of(error.as_ref());
            tracing::error!(%version, error, "the program in use is not run");
            note(programs.give_up_in_use());
            continue;
        }
        // A start that cannot be counted could repeat for ever.
        if programs.is_on_trial()
            && let Err(error) = programs.count_start()
        {
            let error = error_line::of(&error);
            tracing::error!(%version, error, "the version is not tried now");
            return None;
        }
        tracing::info!(%version, on_trial = programs.is_on_trial(), "running an updated program");
        return Some(path);
    }
}

/// Whether the program is that of its release, and may be run. The release may have expired.
fn check(
    release: &Release,
    version: &Version,
    path: &Path,
) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    if release.version != *version {
        return Err("its release is of another version".into());
    }
    download::verify(path, release.program(TARGET)?)?;
    access(path, AccessFlags::X_OK)
        .map_err(|error| FileError::at(path, "run")(io::Error::from(error)))?;
    Ok(())
}

/// What cannot be read or stored now may be at the next start.
fn note(done: Result<(), FileError>) {
    if let Err(error) = done {
        tracing::warn!(error = error_line::of(&error), "what is known of updates");
    }
}

#[cfg(test)]
mod tests {
    use std::{fs::Permissions, os::unix::fs::PermissionsExt as _};

    use data_encoding::HEXLOWER;
    use model::UnixMillis;
    use protocol::{key::ReleaseKey, release::Program};
    use sha2::{Digest as _, Sha256};
    use tempfile::TempDir;

    use super::*;

    fn key() -> ReleaseKey {
        ReleaseKey::from_seed([1; 32])
    }

    /// Puts a program of this version to use, on trial. Its release has expired long ago.
    fn put_to_use(programs: &mut Programs, version: &Version) {
        let content = version.to_string();
        let release = Release {
            format: protocol::release::FORMAT,
            version: version.clone(),
            signed_at: UnixMillis(0),
            expires_at: UnixMillis(1),
            share_percent: 0,
            programs: vec![Program {
                name: "nearcrawl-agent".into(),
                target: TARGET.into(),
                bytes: content.len() as u64,
                sha256: HEXLOWER.encode(&Sha256::digest(&content)),
            }],
        };
        programs.begin_trial(version.clone(), release.sign(&key()).unwrap()).unwrap();
        let path = programs.path(version);
        std::fs::write(&path, content).unwrap();
        std::fs::set_permissions(path, Permissions::from_mode(0o700)).unwrap();
    }

    /// A directory in which 9.1.0 is confirmed and 9.2.0 is on trial.
    fn two_programs() -> (TempDir, Programs, [PathBuf; 2]) {
        let dir = TempDir::new().unwrap();
        let mut programs = Programs::load(dir.path()).unwrap();
        let versions = [Version::new(9, 1, 0), Version::new(9, 2, 0)];
        put_to_use(&mut programs, &versions[0]);
        programs.confirm().unwrap();
        put_to_use(&mut programs, &versions[1]);
        let paths = versions.map(|version| programs.path(&version));
        (dir, programs, paths)
    }

    #[test]
    fn a_program_on_trial_has_three_starts() {
        let (dir, mut programs, [former, new]) = two_programs();
        for _ in 0..3 {
            assert_eq!(choose(&mut programs, &key().public()), Some(new.clone()));
            programs = Programs::load(dir.path()).unwrap();
        }
        assert_eq!(choose(&mut programs, &key().public()), Some(former));
        assert_eq!(programs.rejected(), [Version::new(9, 2, 0)]);
    }

    #[test]
    fn a_program_of_another_key_is_not_run() {
        let (_dir, mut programs, _) = two_programs();
        assert_eq!(choose(&mut programs, &ReleaseKey::from_seed([2; 32]).public()), None);
        assert!(programs.is_on_trial(), "the owner may write the former key again");
    }

    #[test]
    fn a_program_that_was_changed_gives_way_to_the_former_one() {
        type Change = fn(&Path);
        let changes: [Change; 4] = [
            |path| std::fs::write(path, "9.2.1").unwrap(),
            |path| std::fs::write(path, "9.2").unwrap(),
            |path| std::fs::remove_file(path).unwrap(),
            |path| std::fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap(),
        ];
        for change in changes {
            let (_dir, mut programs, [former, new]) = two_programs();
            change(&new);
            assert_eq!(choose(&mut programs, &key().public()), Some(former.clone()));
            change(&former);
            assert_eq!(choose(&mut programs, &key().public()), None);
            assert_eq!(programs.rejected(), [Version::new(9, 2, 0)], "the former may come again");
        }
    }

    #[test]
    fn an_installed_program_that_is_as_new_runs_itself() {
        let dir = TempDir::new().unwrap();
        let mut programs = Programs::load(dir.path()).unwrap();
        put_to_use(&mut programs, &own_version());
        assert_eq!(choose(&mut programs, &key().public()), None);
        programs.remove_unused();
        assert!(!programs.path(&own_version()).exists());
        assert_eq!(programs.rejected(), [], "it did not fail");
    }

    /// Otherwise a version that always crashes would be tried for ever.
    #[test]
    fn a_start_that_cannot_be_counted_is_none() {
        let (_dir, mut programs, _) = two_programs();
        let stored = programs.dir().join("current.json");
        // In the place of the file that is written.
        std::fs::create_dir(stored.with_extension("tmp")).unwrap();
        assert_eq!(choose(&mut programs, &key().public()), None);
    }
}
