//! Logging to stderr; the filter is `NEARCRAWL_LOG`, else `RUST_LOG`, else `info`.

use tracing_subscriber::EnvFilter;

use crate::runtime::config::LogFormat;

/// Starts logging. A filter with a syntax error is replaced by the default with a warning.
pub fn start(format: LogFormat) {
    let text =
        std::env::var("NEARCRAWL_LOG").or_else(|_| std::env::var("RUST_LOG")).unwrap_or_default();
    let (filter, refused) = match EnvFilter::builder().parse(&text) {
        Ok(filter) if !text.is_empty() => (filter, None),
        Ok(_) => (default_filter(), None),
        Err(error) => (default_filter(), Some(error)),
    };
    let lines = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // A reader that has gone away is no error: to report it on stderr would panic.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    match format {
        LogFormat::Text => {
            lines.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).init();
        }
        LogFormat::Json => lines.json().init(),
    }
    if let Some(error) = refused {
        tracing::warn!(%error, "the log filter cannot be read and is not used");
    }
}

fn default_filter() -> EnvFilter {
    EnvFilter::new("info")
}
