//! `man` and `completions`: made from the help texts.

use std::io;

use clap::{Command, CommandFactory as _};
use clap_complete::Shell;
use clap_mangen::Man;

use crate::runtime::failure::Failure;
use crate::startup::cli::Cli;
use crate::startup::output::print_text;

const NAME: &str = "nearcrawl-coordinator";

pub fn print_completions(shell: Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), NAME, &mut script);
    print_text(&script);
}

/// Prints one page: the program, then each subcommand with its flags.
pub fn print_manual() -> Result<(), Failure> {
    let mut page = Vec::new();
    let rendered = render(&Cli::command(), NAME, &mut page);
    rendered.map_err(|error| Failure::other(format!("cannot make the manual: {error}")))?;
    print_text(&page);
    Ok(())
}

fn render(command: &Command, name: &str, page: &mut Vec<u8>) -> io::Result<()> {
    let dashed = name.replace(' ', "-");
    let named = command.clone().display_name(dashed).bin_name(name.to_owned());
    Man::new(named).render(page)?;
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        render(subcommand, &format!("{name} {}", subcommand.get_name()), page)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manual_has_every_subcommand() {
        let mut page = Vec::new();
        render(&Cli::command(), NAME, &mut page).unwrap();
        let page = String::from_utf8(page).unwrap().replace("\\-", "-");
        for name in ["serve", "audit", "admin agents approve", "doctor", "completions"] {
            let title = format!("{NAME}-{}", name.replace(' ', "-"));
            assert!(page.contains(&title), "{title}");
        }
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}
