//! Errors with their causes, in one line for logs and messages.

use std::error::Error;

/// The error and its causes, from the outermost to the innermost. A cause that only repeats what
/// stands before it is left out.
pub fn of(error: &dyn Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    // A server's text may hold line breaks, which would forge lines of the log, or commands to a
    // terminal.
    line.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_and_nothing_is_repeated() {
        #[derive(Debug, thiserror::Error)]
        #[error("no connection")]
        struct Outer(#[source] std::io::Error);

        let deep = std::io::Error::other("line one\nline \u{1b}two");
        let error = Outer(std::io::Error::other(deep));
        assert_eq!(of(&error), "no connection: line one line  two");
    }
}
