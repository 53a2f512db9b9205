//! The API token that a command is given.

use std::path::Path;

use crate::http::authentication::ApiToken;
use crate::runtime::failure::Failure;
use crate::startup::admin_api::cli::ConnectionArgs;

/// Variable with an API token.
const VARIABLE: &str = "NEARCRAWL_API_TOKEN";

/// The token that was given; none without one.
pub(super) fn given(connection: &ConnectionArgs) -> Result<Option<ApiToken>, Failure> {
    match &connection.token_file {
        Some(path) => read(path).map(Some),
        None => Ok(std::env::var(VARIABLE).ok().and_then(|text| first_line(&text))),
    }
}

/// The token in a file; `-` is standard input.
fn read(path: &Path) -> Result<ApiToken, Failure> {
    let is_stdin = path == Path::new("-");
    let place = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let read = if is_stdin {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = read.map_err(|error| {
        Failure::configuration(format!(
            "cannot read the API token in {place}: {error}; name a file that you may read with \
             --token-file"
        ))
    })?;
    // Without a token the command would work as an admin on the database of this machine.
    first_line(&text).ok_or_else(|| {
        Failure::configuration(format!(
            "{place} has no API token in its first line; write the token there, or name another \
             file with --token-file"
        ))
    })
}

fn first_line(text: &str) -> Option<ApiToken> {
    let line = text.lines().next().map(str::trim).filter(|line| !line.is_empty());
    line.map(|line| ApiToken::new(line.to_owned()))
}

/// A coordinator was named by URL, and neither a token nor a database gives access to it.
pub(super) fn missing(data_dir: &Path) -> Failure {
    Failure::configuration(format!(
        "--url needs an API token: give one with --token-file or {VARIABLE}. On the coordinator's \
         machine its database does, too, but there is none in {}: name it with --config, \
         --data-dir or --database-url",
        data_dir.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_file_that_cannot_be_used_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let failure = || read(&file).err().expect("a failure").to_string();
        let absent = failure();
        assert!(absent.contains(&file.display().to_string()), "{absent}");
        std::fs::write(&file, "\nsecret\n").unwrap();
        let empty = failure();
        assert!(empty.contains(&file.display().to_string()), "{empty}");
        std::fs::write(&file, " secret \n").unwrap();
        assert_eq!(read(&file).unwrap().text(), "secret");
    }
}
