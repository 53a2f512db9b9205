//! Standard output of the commands.

use std::fmt::Display;
use std::io::{self, Write as _};

/// Writes a line. A reader that has gone away, such as `head`, is not an error.
pub(super) fn print_line(line: impl Display) {
    drop(write_line(line));
}

/// Writes a line that must not be lost.
pub(super) fn write_line(line: impl Display) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush())
}

/// Writes a text as it is. A reader that has gone away is not an error.
pub(super) fn print_text(text: &[u8]) {
    let mut out = io::stdout().lock();
    drop(out.write_all(text).and_then(|()| out.flush()));
}
