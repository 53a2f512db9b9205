//! Secrets in the first line of a file, where other users cannot read them as they can arguments.

use std::path::Path;

use crate::runtime::failure::Failure;

/// The secret `what`, as "password", in the file that `flag` names; `-` is standard input.
pub(super) fn read(path: &Path, what: &str, flag: &str) -> Result<String, Failure> {
    let is_stdin = path == Path::new("-");
    let place = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
    let read = if is_stdin {
        std::io::read_to_string(std::io::stdin())
    } else {
        std::fs::read_to_string(path)
    };
    let text = read.map_err(|error| {
        Failure::configuration(format!(
            "cannot read the {what} in {place}: {error}; name a file that you may read with {flag}"
        ))
    })?;
    first_line(&text).ok_or_else(|| {
        Failure::configuration(format!(
            "{place} has no {what} in its first line; write the {what} there, or name another file \
             with {flag}"
        ))
    })
}

/// The first line without spaces around it; none if nothing is in it.
pub(super) fn first_line(text: &str) -> Option<String> {
    let line = text.lines().next().map(str::trim).filter(|line| !line.is_empty());
    line.map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_cannot_be_used_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        let read = || read(&file, "API token", "--token-file");
        let failure = || read().expect_err("a failure").to_string();
        let place = file.display().to_string();
        let absent = failure();
        assert!(absent.contains(&place) && absent.contains("--token-file"), "{absent}");
        std::fs::write(&file, "\nsecret\n").unwrap();
        let empty = failure();
        assert!(empty.contains(&place) && empty.contains("no API token"), "{empty}");
        std::fs::write(&file, " secret \n").unwrap();
        assert_eq!(read().unwrap(), "secret");
    }
}
