//! The program `nearcrawl-coordinator`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser as _;
use coordinator::runtime::failure::Failure;
use coordinator::runtime::private_dir;
use coordinator::startup::cli::{Cli, Command};
use coordinator::startup::{
    admin_command, audit_command, doctor, manual, release_command, serve, shutdown,
};

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // Without a reader only the exit code says it.
            drop(writeln!(std::io::stderr(), "nearcrawl-coordinator: {failure}"));
            ExitCode::from(failure.code())
        }
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    private_dir::create_privately();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::other(format!("cannot start threads: {error}")))?;
    let ended = match cli.command {
        Command::Serve(args) => runtime.block_on(serve::serve(args)),
        Command::Audit(args) => runtime.block_on(audit_command::run(args)),
        Command::Admin(args) => runtime.block_on(admin_command::run(*args)),
        Command::Doctor(args) => runtime.block_on(doctor::run(args)),
        Command::Release(command) => release_command::run(&command),
        Command::Completions { shell } => {
            manual::print_completions(shell);
            Ok(())
        }
        Command::Man => manual::print_manual(),
    };
    shutdown::end(runtime);
    ended
}
