//! Decides, receives, indexes, answers.

use std::process::ExitCode;

use clap::Parser as _;
use coordinator::cli::{Cli, Command};
use coordinator::failure::Failure;
use coordinator::{audit_command, reindex, serve};

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("nearcrawl-coordinator: {failure}");
            ExitCode::from(failure.code())
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::other(format!("cannot start threads: {error}")))?;
    match cli.command {
        Command::Serve(args) => runtime.block_on(serve::serve(args)),
        Command::Reindex(args) => runtime.block_on(reindex::reindex(args)),
        Command::Audit(args) => runtime.block_on(audit_command::run(args)),
    }
}
