//! The command `rir-loader completions`.

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::print;
use crate::cli::Cli;

/// Prints the completions of a shell.
pub(crate) fn run(shell: Shell) -> anyhow::Result<()> {
    let mut script = vec![];
    clap_complete::generate(shell, &mut Cli::command(), "rir-loader", &mut script);
    Ok(print(&String::from_utf8_lossy(&script))?)
}
