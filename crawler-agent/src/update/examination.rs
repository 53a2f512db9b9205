//! Examination of a new program, before it is used: it is run with `--version`, and with the
//! arguments of this process and `--check`, by which it reads the configuration and ends.

use std::{ffi::OsString, path::Path, process::Stdio, time::Duration};

use semver::Version;
use tokio::process::Command;

use super::{UpdateError, origin};

/// Time limit of each run.
const LIMIT: Duration = Duration::from_secs(20);
/// Most characters that are shown of what it says.
const SHOWN: usize = 300;

/// Examines the program `path`, which should be of this version.
pub async fn examine(path: &Path, version: &Version) -> Result<(), UpdateError> {
    let said = run(path, &["--version".into()]).await?;
    if said.trim() != format!("nearcrawl-agent {version}") {
        let said: String = said.chars().take(SHOWN).collect();
        let error = format!("it says that it is {:?}, not version {version}", said.trim());
        return Err(UpdateError::Examination(error));
    }
    let mut arguments = origin::arguments();
    arguments.push("--check".into());
    run(path, &arguments).await.map(drop)
}

/// What the program prints.
async fn run(path: &Path, arguments: &[OsString]) -> Result<String, UpdateError> {
    let failed = |error: String| UpdateError::Examination(error);
    let mut command = Command::new(path);
    command.args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(LIMIT, command.output()).await;
    let output = output.map_err(|_| failed(format!("it ran for more than {LIMIT:?}")))?;
    let output = output.map_err(|error| failed(format!("it cannot be run: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let last = said.trim().lines().next_back().unwrap_or_default();
        let last: String = last.chars().take(SHOWN).collect();
        return Err(failed(format!("{}: {last}", output.status)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
