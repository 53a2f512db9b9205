//! An error as one sentence on stderr and an exit code.

use std::process::ExitCode;

use cluster::ClusterError;
use rir_loader::delegated::ReadError;
use rir_loader::fetch::FetchError;
use rir_loader::files::FilesError;
use rir_loader::read::ReadAllError;
use store::StoreError;

/// Ctrl-C was pressed.
#[derive(Debug, thiserror::Error)]
#[error("stopped by Ctrl-C")]
pub(crate) struct Interrupted;

/// Some registries' files could not be fetched; each was reported already.
#[derive(Debug, thiserror::Error)]
#[error("{failed} of {of} files could not be fetched")]
pub(crate) struct NotAllFetched {
    pub(crate) failed: usize,
    pub(crate) of: usize,
}

/// Nothing was loaded into the database yet.
#[derive(Debug, thiserror::Error)]
#[error(
    "no registry data is loaded yet; name files, or load some with `rir-loader load`. (If some are: is --data-dir or \
     --database-url that of the coordinator?)"
)]
pub(crate) struct NothingLoaded;

/// A word that is neither an address nor a company.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is neither an address, a prefix (a/n), a range (a - b), nor the name or handle of a company that holds anything"
)]
pub(crate) struct NoSuchCompany(pub(crate) String);

pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    eprintln!("rir-loader: {}", sentence(error));
    ExitCode::from(code(error))
}

/// The error and its causes; a cause that its error quotes already is left out.
pub(crate) fn sentence(error: &anyhow::Error) -> String {
    let mut sentence = String::new();
    for cause in error.chain().map(ToString::to_string).filter(|cause| !cause.is_empty()) {
        if !sentence.contains(&cause) {
            let colon = if sentence.is_empty() { "" } else { ": " };
            sentence = format!("{sentence}{colon}{cause}");
        }
    }
    sentence
}

/// As in sysexits(3), where it has a word for it.
fn code(error: &anyhow::Error) -> u8 {
    error.chain().find_map(code_of).unwrap_or(1)
}

fn code_of(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if let Some(ReadError::Open { .. }) = cause.downcast_ref() {
        return Some(66);
    }
    let not_there =
        |error: &ReadAllError| matches!(error, ReadAllError::File(file) if file.is_not_there());
    if cause.downcast_ref().is_some_and(not_there) {
        return Some(66);
    }
    let unavailable =
        cause.downcast_ref::<ClusterError>().is_some_and(ClusterError::is_unavailable)
            || matches!(cause.downcast_ref(), Some(StoreError::Connect { .. }))
            || matches!(cause.downcast_ref(), Some(FetchError::Unreachable { .. }));
    let known = [
        (cause.is::<Interrupted>(), 130),
        (cause.is::<NothingLoaded>() || cause.is::<NoSuchCompany>(), 3),
        (cause.is::<FilesError>(), 66),
        (cause.is::<ReadAllError>() || cause.is::<ReadError>(), 65),
        (matches!(cause.downcast_ref(), Some(StoreError::Shrunken { .. })), 65),
        (cause.is::<NotAllFetched>() || unavailable, 69),
    ];
    known.into_iter().find_map(|(is, code)| is.then_some(code))
}
