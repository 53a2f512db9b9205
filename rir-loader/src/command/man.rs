//! The command `rir-loader man`.

use clap::CommandFactory;

use super::print;
use crate::cli::Cli;

/// Prints one page: the program, then each subcommand with its flags.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut page = vec![];
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let name = subcommand.get_name();
        let subcommand = subcommand.clone().display_name(format!("rir-loader-{name}"));
        let subcommand = subcommand.bin_name(format!("rir-loader {name}"));
        clap_mangen::Man::new(subcommand).render(&mut page)?;
    }
    Ok(print(&String::from_utf8_lossy(&page))?)
}
