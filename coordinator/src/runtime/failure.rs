//! The program could not go on: one clear sentence and an exit code.

use std::fmt;

/// Why the coordinator ends, in a sentence for a person, with the exit code for a script.
#[derive(Debug)]
pub struct Failure {
    code: u8,
    sentence: String,
}

impl Failure {
    /// Something else went wrong (exit code 1).
    pub fn other(sentence: impl Into<String>) -> Self {
        Self { code: 1, sentence: sentence.into() }
    }

    /// Something is to be repaired (exit code 3).
    pub fn findings(count: usize) -> Self {
        let what = if count == 1 { "thing is" } else { "things are" };
        Self { code: 3, sentence: format!("{count} {what} to be repaired") }
    }

    /// The configuration is wrong (exit code 64).
    pub fn configuration(sentence: impl Into<String>) -> Self {
        Self { code: 64, sentence: sentence.into() }
    }

    /// Something the coordinator needs is not to be had, such as Postgres (exit code 69).
    pub fn unavailable(sentence: impl Into<String>) -> Self {
        Self { code: 69, sentence: sentence.into() }
    }

    /// Something cannot be created: a directory, a listening socket (exit code 73).
    pub fn cannot_create(sentence: impl Into<String>) -> Self {
        Self { code: 73, sentence: sentence.into() }
    }

    /// The exit code, as in sysexits(3).
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

/// An error and all its causes in one line, for the one place that shows it to a person.
pub fn chain(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
