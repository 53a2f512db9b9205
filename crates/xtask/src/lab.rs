//! `cargo xtask lab`: experiments on matrices of round trips.

use std::ffi::OsString;
use std::process::Command;

use crate::cargo::build_release;
use crate::process::pass_on;
use crate::repository;

/// Arguments of the lab, which are passed on unchanged.
#[derive(Debug, clap::Args)]
#[command(disable_help_flag = true)]
pub(crate) struct Args {
    /// The experiment and its options; `--help` lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Builds the lab with optimisation, because it computes for minutes, and runs it in the caller's
/// directory, because paths on the command line are relative to it. Only the lab writes to standard
/// output.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    build_release("lab")?;
    let program = repository::target().join("release").join("lab");
    pass_on(Command::new(program).args(&args.arguments))
}
