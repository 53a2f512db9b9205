//! `man`: the manual, made from the help texts.

use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_mangen::Man;

use super::{Cli, print_line};

/// Prints one page: the program, then each subcommand with its flags.
pub(super) fn print() -> anyhow::Result<ExitCode> {
    let mut page = Vec::new();
    let command = Cli::command();
    Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands() {
        let name = subcommand.get_name();
        let subcommand = subcommand.clone().display_name(format!("nearcrawl-agent-{name}"));
        Man::new(subcommand.bin_name(format!("nearcrawl-agent {name}"))).render(&mut page)?;
    }
    print_line(String::from_utf8_lossy(&page).trim_end());
    Ok(ExitCode::SUCCESS)
}
