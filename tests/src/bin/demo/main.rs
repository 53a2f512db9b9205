//! `nearcrawl-demo`: from registry data to a search result in one run. `cargo xtask demo` starts
//! it.

use std::process::ExitCode;

use clap::Parser as _;
use tests::demo::{Options, show};
use tests::net::take_privilege;

fn main() -> ExitCode {
    let options = Options::parse();
    // First of all: an ordinary user's process moves into a user namespace, which needs a single
    // thread.
    let namespaces = !options.loopback && may_make_namespaces();
    let log = tracing_subscriber::EnvFilter::try_from_env("NEARCRAWL_LOG")
        .unwrap_or_else(|_| "warn".into());
    tracing_subscriber::fmt().with_env_filter(log).with_writer(std::io::stderr).init();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error.into()),
    };
    match runtime.block_on(show(&options, namespaces)) {
        Ok(verdict) => ExitCode::from(verdict.exit_code()),
        Err(error) => failed(&error),
    }
}

fn may_make_namespaces() -> bool {
    match take_privilege() {
        Ok(_) => true,
        Err(error) => {
            println!(
                "{:#}: the demo runs on loopback, with HEAD probes",
                anyhow::Error::new(error)
            );
            false
        }
    }
}

fn failed(error: &anyhow::Error) -> ExitCode {
    eprintln!("nearcrawl-demo: {error:#}");
    ExitCode::FAILURE
}
