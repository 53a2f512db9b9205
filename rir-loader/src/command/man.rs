//! `rir-loader man`

use clap::CommandFactory;

use super::print;
use crate::cli::Cli;

/// One page: the program, then each subcommand with its flags.
pub(crate) fn run() -> anyhow::Result<()> {
    let mut page = vec![];
    let command = Cli::command();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let name = format!("rir-loader-{}", subcommand.get_name());
        clap_mangen::Man::new(subcommand.clone().display_name(name)).render(&mut page)?;
    }
    Ok(print(&String::from_utf8_lossy(&page))?)
}
