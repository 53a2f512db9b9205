//! The registry loader under test.

use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use super::{HarnessError, Process, Program};

/// All five real files take seconds; a busy machine may take longer.
const LIMIT: Duration = Duration::from_mins(3);

/// Calls of `rir-loader`.
#[derive(Debug)]
pub struct Loader;

/// What a finished call left.
#[derive(Debug)]
pub struct LoaderOutput {
    /// How it ended.
    pub status: ExitStatus,
    /// Its standard output.
    pub output: Vec<String>,
    /// The end of its standard error.
    pub said: String,
}

impl Loader {
    /// `rir-loader load` into the database of the data folder. Records of loopback addresses are
    /// kept: worlds without TUN devices live there.
    pub async fn load(
        data_dir: &Path,
        files: &Path,
        log: &Path,
    ) -> Result<LoaderOutput, HarnessError> {
        let mut command = Program::Loader.command()?;
        command.arg("load").arg("--data-dir").arg(data_dir).arg("--json");
        command.arg("--special-purpose").arg(files);
        Self::finish(command, log, LIMIT).await
    }

    /// `rir-loader fetch` into a folder; at most `limit`.
    pub async fn fetch(
        folder: &Path,
        log: &Path,
        limit: Duration,
    ) -> Result<LoaderOutput, HarnessError> {
        let mut command = Program::Loader.command()?;
        command.arg("fetch").arg("--dir").arg(folder);
        Self::finish(command, log, limit).await
    }

    async fn finish(
        command: Command,
        log: &Path,
        limit: Duration,
    ) -> Result<LoaderOutput, HarnessError> {
        let mut process = Process::start("rir-loader", command, log)?;
        let (status, output) = process.finish(limit).await?;
        Ok(LoaderOutput { status, output, said: process.last_words() })
    }
}
