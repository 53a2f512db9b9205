//! Texts for standard output.

use std::io::Write as _;

/// Writes a text to standard output. A reader that has gone away is not an error.
pub(super) fn print_line(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{}", printable(text)).and_then(|()| out.flush()));
}

/// A text without control sequences of terminals, because sites, agents and the coordinator choose
/// parts of it.
fn printable(text: &str) -> String {
    let is_unsafe = |character: char| character.is_control() && !matches!(character, '\n' | '\t');
    text.replace(is_unsafe, "\u{fffd}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_gets_no_commands() {
        let title = "price\u{1b}]0;owned\u{7}\u{9b}2J\r\n\tend";
        let printed = "price\u{fffd}]0;owned\u{fffd}\u{fffd}2J\u{fffd}\n\tend";
        assert_eq!(printable(title), printed);
    }
}
