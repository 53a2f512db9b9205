//! An error and its causes, in one line.

use std::error::Error;

/// What went wrong, and why, in reading order. A cause that only repeats what was said is left out,
/// and so are line breaks, which may come from elsewhere.
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
    line.replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_follow_and_nothing_is_said_twice() {
        let deep = std::io::Error::other("line one\nline two");
        let problem = crate::fetch::Problem::Connect(std::io::Error::other(deep));
        assert_eq!(of(&problem), "no connection: line one line two");
    }
}
