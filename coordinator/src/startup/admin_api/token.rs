//! The API token that a command is given.

use std::path::Path;

use crate::http::authentication::ApiToken;
use crate::runtime::failure::Failure;
use crate::startup::admin_api::cli::ConnectionArgs;
use crate::startup::secret_file;

/// Variable with an API token.
const VARIABLE: &str = "NEARCRAWL_API_TOKEN";

/// The token that was given; none without one.
pub(super) fn given(connection: &ConnectionArgs) -> Result<Option<ApiToken>, Failure> {
    let text = match &connection.token_file {
        // Without a token the command would work as an admin on the database of this machine.
        Some(path) => Some(secret_file::read(path, "API token", "--token-file")?),
        None => std::env::var(VARIABLE).ok().and_then(|text| secret_file::first_line(&text)),
    };
    Ok(text.map(ApiToken::new))
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
