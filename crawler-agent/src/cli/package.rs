//! `package show`: shows what is in a package.

use std::{path::PathBuf, process::ExitCode};

use clap::{Args, Subcommand};
use protocol::{
    key::PublicKey,
    package,
    page::{DisallowedBy, Discovered, Entry, Failure, Fetch, Outcome},
};

use super::{ConfigArgs, print_line, read_input};
use crate::data_dir::DataDir;

#[derive(Debug, Subcommand)]
pub(super) enum PackageCommand {
    /// Checks the signature of a package and prints its entries. Packages that the coordinator has
    /// not taken yet are in `packages` in the data directory.
    Show(ShowArgs),
}

#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// The package; `-` for standard input.
    file: PathBuf,
    #[command(flatten)]
    config_args: ConfigArgs,
    /// Public key of the agent that made it; without it the one in the data directory.
    #[arg(long, value_name = "PUBLIC KEY")]
    key: Option<PublicKey>,
    /// Prints the header and each entry as a JSON document.
    #[arg(long)]
    json: bool,
}

pub(super) fn print(command: &PackageCommand) -> anyhow::Result<ExitCode> {
    let PackageCommand::Show(arguments) = command;
    let key = arguments.key()?;
    let bytes = read_input(&arguments.file)?;
    let package = package::open(&bytes, &key)?;
    let header = package.header();
    print_line(&if arguments.json {
        serde_json::to_string(header)?
    } else {
        let package::Header { name, created, entries, plain_bytes, .. } = header;
        let package::PackageName { agent, epoch, seq } = name;
        let created = jiff::Timestamp::from_millisecond(created.0)?;
        format!(
            "package {seq} of epoch {epoch} by {agent}, made {created}: {entries} entries, \
             {} bytes, {plain_bytes} inflated",
            bytes.len()
        )
    });
    for entry in package.entries()? {
        let entry = entry?;
        print_line(&if arguments.json { serde_json::to_string(&entry)? } else { line(&entry) });
    }
    Ok(ExitCode::SUCCESS)
}

impl ShowArgs {
    fn key(&self) -> anyhow::Result<PublicKey> {
        if let Some(key) = self.key {
            return Ok(key);
        }
        let (_, dir) = self.config_args.open()?;
        DataDir::public_key(&dir)?.ok_or_else(|| {
            anyhow::anyhow!(
                "no agent has run in {}; name the agent's key with --key",
                dir.display()
            )
        })
    }
}

fn line(entry: &Entry) -> String {
    match entry {
        Entry::Fetch(fetch) => {
            let Fetch { url, wire_bytes, outcome, .. } = &**fetch;
            format!("fetch       {url}: {}, {wire_bytes} bytes on the wire", describe(outcome))
        }
        Entry::Discovered(Discovered { url, handed_back: true, .. }) => {
            format!("handed back {url}")
        }
        Entry::Discovered(Discovered { url, .. }) => format!("discovered  {url}"),
    }
}

fn describe(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Page(page) => {
            let text = page.text.len();
            let links = page.links.len();
            format!(
                "page with status {}, {links} links, {text} bytes of text, \u{201c}{}\u{201d}",
                page.status, page.title
            )
        }
        Outcome::Redirect { status, location } => format!("redirect {status} to {location}"),
        Outcome::Other { status, media_type } => {
            format!("no document: status {status}, {}", media_type.as_deref().unwrap_or("no type"))
        }
        Outcome::Disallowed { by: DisallowedBy::RobotsTxt } => "disallowed by robots.txt".into(),
        Outcome::Disallowed { by: DisallowedBy::NoIndex } => "noindex".into(),
        Outcome::Unchanged { status } => format!("unchanged, status {status}"),
        Outcome::Failed(Failure { reason, .. }) => format!("failed: {reason}"),
    }
}
