//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};

use crate::runtime::config::LogFormat;

/// Decides which agent crawls what, receives the results, and answers searches over them.
#[derive(Debug, Parser)]
#[command(name = "nearcrawl-coordinator", version)]
pub struct Cli {
    /// One of the subcommands.
    #[command(subcommand)]
    pub command: Command,
}

/// Subcommands; each has a function of its own in `startup`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the coordinator until SIGTERM or Ctrl-C.
    Serve(ServeArgs),
    /// Build the search index again from the packages; the coordinator must be stopped.
    Reindex(ReindexArgs),
    /// Check the delegations; exit code 3 if something needs repair.
    Audit(AuditArgs),
}

/// Flags of `serve`. A flag wins over the environment, the environment over the file, the file over
/// the defaults.
#[derive(Debug, Default, Args)]
pub struct ServeArgs {
    /// Configuration file (TOML); unknown keys are refused.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where the private database, the packages and the search index live.
    #[arg(long, value_name = "DIR", env = "NEARCRAWL_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address and port to listen on; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<SocketAddr>,
    /// Address and port at which Prometheus reads /metrics; none by default. Whoever can connect
    /// can read them: use a loopback address or a private network.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub metrics_listen: Option<SocketAddr>,
    /// URL at which people and agents reach the coordinator, such as https://search.example.org.
    #[arg(long, value_name = "URL", env = "NEARCRAWL_PUBLIC_URL")]
    pub public_url: Option<String>,
    /// A Postgres to use instead of the coordinator's own private one.
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// DNS server to ask for the addresses of hosts, instead of the system's.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub resolver: Option<SocketAddr>,
    /// How log lines are written to stderr.
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Password of the first admin; generated and printed once when absent.
    #[arg(
        long,
        value_name = "PASSWORD",
        env = "NEARCRAWL_ADMIN_PASSWORD",
        hide = true,
        hide_env_values = true
    )]
    pub admin_password: Option<String>,
}

/// Flags of `reindex`: the places of the data.
#[derive(Debug, Default, Args)]
pub struct ReindexArgs {
    /// Configuration file (TOML), as for `serve`.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Where the private database, the packages and the search index live.
    #[arg(long, value_name = "DIR", env = "NEARCRAWL_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// The Postgres that `serve` uses, if it is not the private one.
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
}

impl From<ReindexArgs> for ServeArgs {
    fn from(args: ReindexArgs) -> Self {
        let ReindexArgs { config, data_dir, database_url } = args;
        Self { config, data_dir, database_url, ..Self::default() }
    }
}

/// Flags of `audit`: the places of the data, and the format of the findings.
#[derive(Debug, Default, Args)]
pub struct AuditArgs {
    /// The places of the data.
    #[command(flatten)]
    pub place: ReindexArgs,
    /// Print one JSON object instead of lines.
    #[arg(long)]
    pub json: bool,
}

impl From<AuditArgs> for ServeArgs {
    fn from(args: AuditArgs) -> Self {
        args.place.into()
    }
}
