//! Log lines go to stderr; what they show is set by `NEARCRAWL_LOG` or `RUST_LOG`.

use tracing_subscriber::EnvFilter;

use crate::runtime::config::LogFormat;

/// Starts logging. A filter that cannot be read is said and replaced by the usual one.
pub fn start(format: LogFormat) {
    let wish =
        std::env::var("NEARCRAWL_LOG").or_else(|_| std::env::var("RUST_LOG")).unwrap_or_default();
    let (filter, refused) = match EnvFilter::builder().parse(&wish) {
        Ok(filter) if !wish.is_empty() => (filter, None),
        Ok(_) => (usual(), None),
        Err(error) => (usual(), Some(error)),
    };
    let lines = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
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

fn usual() -> EnvFilter {
    EnvFilter::new("info")
}
