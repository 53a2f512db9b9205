//! Paths of the programs that cargo built.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::HarnessError;

/// One of our programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    Coordinator,
    Agent,
    Loader,
}

impl Program {
    fn file(self) -> &'static str {
        match self {
            Self::Coordinator => "nearcrawl-coordinator",
            Self::Agent => "nearcrawl-agent",
            Self::Loader => "rir-loader",
        }
    }

    /// Where it is: in the folder of the running program, or in the one above, where cargo puts a
    /// test's programs.
    pub fn path(self) -> Result<PathBuf, HarnessError> {
        let here = std::env::current_exe().map_err(HarnessError::prepare(self.file()))?;
        let folders = here.ancestors().skip(1).take(2);
        let found = folders.map(|folder| folder.join(self.file())).find(|path| path.is_file());
        found.ok_or_else(|| {
            HarnessError::NotBuilt(here.parent().unwrap_or(Path::new("")).join(self.file()))
        })
    }

    /// A command of it that sees nothing of our environment but what a program needs to run at all.
    pub(crate) fn command(self) -> Result<Command, HarnessError> {
        let mut command = Command::new(self.path()?);
        command.env_clear();
        for name in
            ["PATH", "HOME", "NEARCRAWL_PG_BIN", "NEARCRAWL_LOG", "RUST_BACKTRACE", "SSL_CERT_FILE"]
        {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        Ok(command)
    }
}
