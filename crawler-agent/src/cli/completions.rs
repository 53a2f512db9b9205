//! `completions`: completions of the command line for shells.

use std::process::ExitCode;

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, print_line};

/// The shell whose completions are wanted.
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell, for example bash.
    shell: Shell,
}

pub(super) fn print(arguments: &CompletionsArgs) -> ExitCode {
    let mut script = Vec::new();
    let mut command = Cli::command();
    clap_complete::generate(arguments.shell, &mut command, "nearcrawl-agent", &mut script);
    print_line(String::from_utf8_lossy(&script).trim_end());
    ExitCode::SUCCESS
}
