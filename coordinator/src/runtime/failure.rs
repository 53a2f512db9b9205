//! Failures that end the program, with exit codes.

use std::fmt;

/// A failure that ends the program: one sentence for people and an exit code for scripts.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    sentence: String,
}

impl Failure {
    /// A failure without a code of its own (exit code 1).
    pub fn other(sentence: impl Into<String>) -> Self {
        Self { code: 1, sentence: sentence.into() }
    }

    /// An audit found something to repair (exit code 3).
    pub fn findings(count: usize) -> Self {
        let what = if count == 1 { "thing is" } else { "things are" };
        Self { code: 3, sentence: format!("{count} {what} to be repaired") }
    }

    /// The configuration is invalid (exit code 64).
    pub fn configuration(sentence: impl Into<String>) -> Self {
        Self { code: 64, sentence: sentence.into() }
    }

    /// A service that the coordinator needs is unavailable, such as Postgres (exit code 69).
    pub fn unavailable(sentence: impl Into<String>) -> Self {
        Self { code: 69, sentence: sentence.into() }
    }

    /// A resource cannot be created, such as a directory or a listening socket (exit code 73).
    pub fn cannot_create(sentence: impl Into<String>) -> Self {
        Self { code: 73, sentence: sentence.into() }
    }

    /// The exit code, by the conventions of sysexits(3).
    pub fn code(&self) -> u8 {
        self.code
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

impl std::error::Error for Failure {}

/// An error with all its causes in one line. A cause that only repeats what stands before it is
/// left out.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let of_cause = cause.to_string();
        if !text.contains(&of_cause) {
            text.push_str(": ");
            text.push_str(&of_cause);
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use store::Address;

    use super::*;

    #[test]
    fn causes_follow_and_nothing_is_repeated() {
        let told = chain(&Address::url("mysql://x").unwrap_err());
        assert!(told.contains("postgres://user:password@host/database: "), "{told}");
        assert_eq!(told.matches("its scheme is not postgres").count(), 1, "{told}");
    }
}
