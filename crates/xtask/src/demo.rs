//! `cargo xtask demo`: build what it needs, then become it.

use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail};

use crate::cargo::cargo;
use crate::{machine, repository, web};

/// How to show it.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// End when everything is crawled, with 0 only if every promised number was reached.
    #[arg(long)]
    until_done: bool,
    /// Folder with registry files (`delegated-*-extended*`) to use instead of today's.
    #[arg(long, value_name = "DIR")]
    registry_data: Option<PathBuf>,
    /// Use 127.x addresses instead of network namespaces.
    #[arg(long)]
    loopback: bool,
    /// Leave the data folder in place at the end.
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    machine::provide(&[machine::POSTGRES])?;
    if args.registry_data.is_none() {
        machine::provide(&[machine::PIP])?;
    }
    match web::obstacle() {
        None => web::build()?,
        Some(obstacle) => println!("{obstacle}: the dashboard will be a stub page"),
    }
    build()?;
    let error = command(args)?.exec();
    Err(error).context("cannot start the demo")
}

fn build() -> anyhow::Result<()> {
    // The same build as in `cargo xtask test`, so that neither repeats the other's.
    let mut build = cargo(&["build", "--locked", "--workspace", "--bins"]);
    let status = build.status().context("cannot run cargo")?;
    if !status.success() {
        bail!("the build ended with {status}");
    }
    Ok(())
}

fn command(args: &Args) -> anyhow::Result<Command> {
    let mut demo = Command::new(repository::binary("nearcrawl-demo"));
    let flags =
        [("--until-done", args.until_done), ("--loopback", args.loopback), ("--keep", args.keep)];
    demo.args(flags.into_iter().filter(|(_, wanted)| *wanted).map(|(flag, _)| flag));
    if let Some(dir) = &args.registry_data {
        let dir = dir.canonicalize().with_context(|| format!("cannot find {}", dir.display()))?;
        demo.arg("--registry-data").arg(dir);
    }
    Ok(demo)
}
