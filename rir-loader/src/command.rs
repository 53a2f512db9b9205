//! One module a subcommand; each has a `run` that does it all.

pub(crate) mod cut;
pub(crate) mod database;
pub(crate) mod diff;
pub(crate) mod fetch;
pub(crate) mod inspect;
pub(crate) mod load;
pub(crate) mod man;
pub(crate) mod stats;

use std::io::{self, Write};

/// Writes to stdout. Whoever stopped reading (`| head`) has seen enough: that is no error.
fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}

/// One JSON value and the end of the line.
fn print_json(value: &impl serde::Serialize) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    Ok(print(&text)?)
}
