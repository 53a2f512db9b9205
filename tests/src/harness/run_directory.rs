//! Directory of a run, removed when the run ends, also after a crash.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use super::HarnessError;

/// `$1` is our process, `$2` the folder. A database in it may need a moment to notice that its
/// owner is gone.
const JANITOR: &str = r#"
while [ -d "/proc/$1" ]; do sleep 0.5; done
tries=0
running() { ls "$2"/*/postgres/postmaster.pid "$2"/postgres/postmaster.pid >/dev/null 2>&1; }
while [ $tries -lt 40 ] && running "$1" "$2"; do
    tries=$((tries + 1)); sleep 0.25
done
rm -rf "$2"
"#;

/// A folder of its own for one run. Dropping it removes it; if we are killed, a janitor does.
#[derive(Debug)]
pub struct RunDirectory {
    path: PathBuf,
    janitor: Option<Child>,
}

impl RunDirectory {
    /// Makes one in the system's folder for temporary files; `name` is part of its name.
    pub fn open(name: &str) -> Result<Self, HarnessError> {
        let prefix = format!("nearcrawl-{name}-");
        let made = tempfile::Builder::new().prefix(&prefix).tempdir();
        let path = made.map_err(HarnessError::prepare(std::env::temp_dir()))?.keep();
        let janitor = Self::hire(&path)?;
        Ok(Self { path, janitor: Some(janitor) })
    }

    fn hire(path: &Path) -> Result<Child, HarnessError> {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", JANITOR, "janitor", &std::process::id().to_string()]).arg(path);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Its own group, so that Ctrl-C does not send it home before its work.
        command.process_group(0).current_dir("/");
        command.spawn().map_err(HarnessError::handle("start", "the janitor"))
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A folder inside it, made when missing.
    pub fn folder(&self, name: &str) -> Result<PathBuf, HarnessError> {
        let path = self.path.join(name);
        std::fs::create_dir_all(&path).map_err(HarnessError::prepare(&path))?;
        Ok(path)
    }

    /// Lets the folder stay for good and hands out its path.
    pub fn keep(mut self) -> PathBuf {
        self.dismiss();
        self.path.clone()
    }

    fn dismiss(&mut self) {
        if let Some(mut janitor) = self.janitor.take()
            && let Err(error) = janitor.kill().and_then(|()| janitor.wait())
        {
            tracing::warn!(%error, "the janitor does not go");
        }
    }
}

impl Drop for RunDirectory {
    fn drop(&mut self) {
        if self.janitor.is_none() {
            return; // kept
        }
        match std::fs::remove_dir_all(&self.path) {
            Ok(()) => self.dismiss(),
            // A process of the run is still writing: the janitor tries again when we are gone.
            Err(error) => tracing::debug!(%error, "left to the janitor"),
        }
    }
}
