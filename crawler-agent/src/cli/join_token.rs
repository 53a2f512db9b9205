//! The join token: read from a file, standard input or the environment, never from an argument.

use std::path::{Path, PathBuf};

/// Variable with the token.
pub(super) const VARIABLE: &str = "NEARCRAWL_JOIN_TOKEN";

/// Whether a file of variables, as systemd reads it, sets the token. False where it cannot be read.
pub(super) fn is_in_environment_file(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let mut values = text.lines().filter_map(|line| line.trim().strip_prefix(VARIABLE));
    let has_text = |value: &str| !value.trim().trim_matches(['"', '\'']).is_empty();
    values.any(|value| value.strip_prefix('=').is_some_and(has_text))
}

/// The file of the token cannot be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum TokenFileError {
    /// It cannot be read.
    #[error("the join token cannot be read from {path}")]
    Read {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    /// It has no line.
    #[error("{0} has no join token in its first line")]
    Empty(PathBuf),
}

/// The token in the first line of the file, else in the environment.
pub(super) fn read(file: Option<&Path>) -> anyhow::Result<String> {
    if let Some(path) = file {
        return Ok(from_file(path)?);
    }
    let variable = std::env::var(VARIABLE).ok().filter(|token| !token.trim().is_empty());
    variable.ok_or_else(|| {
        anyhow::anyhow!(
            "this agent has not enrolled yet, or before coordinators had keys: ask the \
             coordinator's admin for a token and give its file with --join-token-file, or as \
             {VARIABLE} in the service's /etc/nearcrawl/agent.env"
        )
    })
}

fn from_file(path: &Path) -> Result<String, TokenFileError> {
    let text = if path == Path::new("-") {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = text.map_err(|source| TokenFileError::Read { path: path.to_owned(), source })?;
    let line = text.lines().map(str::trim).find(|line| !line.is_empty());
    line.map(str::to_owned).ok_or_else(|| TokenFileError::Empty(path.to_owned()))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn the_first_line_with_text_is_the_token() {
        let dir = TempDir::new().unwrap();
        let path = dir.path().join("join-token");
        std::fs::write(&path, "\n nc-a-b \nmore").unwrap();
        assert_eq!(read(Some(&path)).unwrap(), "nc-a-b");
        std::fs::write(&path, "\n").unwrap();
        assert!(read(Some(&path)).unwrap_err().to_string().contains("no join token"));
        let missing = read(Some(&dir.path().join("none"))).unwrap_err();
        assert!(missing.to_string().contains("cannot be read"), "{missing}");
    }
}
