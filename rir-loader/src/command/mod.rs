//! The subcommands, one module each.

pub(crate) mod completions;
pub(crate) mod database;
pub(crate) mod diff;
pub(crate) mod fetch;
pub(crate) mod inspect;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod split;
pub(crate) mod stats;

use std::fmt::Display;
use std::io::{self, Write};
use std::path::PathBuf;

use rir_loader::files::files;
use rir_loader::read::{Options, RegistryData, read};
use serde::Serialize;

use crate::progress_bar::ProgressBars;

/// Reads files and directories with a progress bar.
fn read_paths(
    paths: &[PathBuf],
    options: Options,
    bars: &ProgressBars,
) -> anyhow::Result<RegistryData> {
    Ok(read(&files(paths)?, options, &|step| bars.show(step))?)
}

/// Prints a report as text or as JSON.
fn print_report(report: &(impl Serialize + Display), json: bool) -> anyhow::Result<()> {
    if json { print_json(report) } else { Ok(print(&report.to_string())?) }
}

fn print_json(value: &impl Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(print(&text)?)
}

/// Writes to stdout. A reader that closes the pipe (`| head`) is not an error.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
