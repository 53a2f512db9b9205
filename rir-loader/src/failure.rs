//! Errors as one sentence on stderr and an exit code.

use std::error::Error;
use std::process::ExitCode;

use cluster::ClusterError;
use rir_loader::fetch::FetchError;
use rir_loader::read::ReadError;
use store::StoreError;

use crate::progress_bar::write_line;

/// Ctrl-C was pressed.
#[derive(Debug, thiserror::Error)]
#[error("stopped by Ctrl-C")]
pub(crate) struct Interrupted;

/// Some files could not be downloaded; each was reported before.
#[derive(Debug, thiserror::Error)]
#[error("{failed} of {of} files could not be fetched")]
pub(crate) struct NotAllFetched {
    pub(crate) failed: usize,
    pub(crate) of: usize,
}

/// The database holds no generation.
#[derive(Debug, thiserror::Error)]
#[error(
    "no registry data is loaded yet; name files, or load some with `rir-loader load`. (If some \
     are: is --data-dir or --database-url that of the coordinator?)"
)]
pub(crate) struct NothingLoaded;

/// A query of `inspect` without an answer.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{0}` is neither an address, a prefix (a/n), a range (a - b), nor the name or handle of a \
     company that holds anything"
)]
pub(crate) struct NoSuchCompany(pub(crate) String);

pub(crate) fn report(error: &anyhow::Error) -> ExitCode {
    write_line(&format!("rir-loader: {}", sentence(error)));
    ExitCode::from(error.chain().find_map(exit_code).unwrap_or(1))
}

/// The error and its causes; a cause that is quoted before is left out.
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

/// Exit code of a known error, as in sysexits(3) where that has one.
fn exit_code(cause: &(dyn Error + 'static)) -> Option<u8> {
    if let Some(error) = cause.downcast_ref() {
        return match error {
            ReadError::Open { .. } | ReadError::NoFiles { .. } => Some(66),
            _ => Some(65),
        };
    }
    let is_unavailable =
        cause.downcast_ref::<ClusterError>().is_some_and(ClusterError::is_unavailable)
            || matches!(
                cause.downcast_ref(),
                Some(StoreError::Connect { .. } | StoreError::TooOld { .. })
            )
            || matches!(cause.downcast_ref(), Some(FetchError::Unreachable { .. }));
    let known = [
        (cause.is::<Interrupted>(), 130),
        (cause.is::<NothingLoaded>() || cause.is::<NoSuchCompany>(), 3),
        (matches!(cause.downcast_ref(), Some(StoreError::Shrunken { .. })), 65),
        (cause.is::<NotAllFetched>() || is_unavailable, 69),
    ];
    known.into_iter().find_map(|(is, code)| is.then_some(code))
}
