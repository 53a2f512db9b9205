//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use model::Role;

use crate::runtime::config::LogFormat;
use crate::startup::admin_api::cli::{ApiCommand, ConnectionArgs};
use crate::startup::release_command::ReleaseCommand;

/// Decides which agent crawls what, receives the results, and answers searches over them.
#[derive(Debug, Parser)]
#[command(name = "nearcrawl-coordinator", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    /// One of the subcommands.
    #[command(subcommand)]
    pub command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  nearcrawl-coordinator serve --config /etc/nearcrawl/coordinator.toml
  nearcrawl-coordinator admin agents list
  nearcrawl-coordinator admin explain https://example.org/page
  nearcrawl-coordinator admin --url https://search.example.org --token-file token agents list
  nearcrawl-coordinator doctor --config /etc/nearcrawl/coordinator.toml

Exit codes:
  0   success
  1   another failure
  2   invalid command line
  3   audit or doctor found something to repair
  64  wrong configuration
  69  Postgres, the storage of packages or the coordinator cannot be reached, or no registry data is
      loaded
  73  a directory or port cannot be used
  130 a second signal ended it at once";

/// Subcommands; each has a function of its own in `startup`.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the coordinator until SIGTERM or Ctrl-C.
    Serve(ServeArgs),
    /// Check the delegations; exit code 3 if something needs repair.
    Audit(AuditArgs),
    /// Administer accounts, agents, requests to host one, tokens, seeds, delegations, hidden pages
    /// and the policy, read the audit log, explain URLs, and prepare a restored database.
    Admin(Box<AdminArgs>),
    /// Check the machine: data directory, disk, port, Postgres, storage, clock, DNS, proxy, and the
    /// programs for partners. Exit code 3 if something does not work.
    Doctor(DoctorArgs),
    /// Sign programs of the agent, which then update themselves.
    #[command(subcommand)]
    Release(ReleaseCommand),
    /// Print the completions of a shell, for its directory of completions.
    Completions {
        /// The shell, for example bash.
        shell: Shell,
    },
    /// Print the manual; read it with `nearcrawl-coordinator man | man -l -`.
    Man,
}

/// Flags of `serve`. A flag wins over the environment, the environment over the file, the file over
/// the defaults.
#[derive(Debug, Default, Args)]
pub struct ServeArgs {
    /// Configuration file (TOML); none by default. Unknown keys are refused.
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Directory of the private database, the packages and the search index; by default
    /// /var/lib/nearcrawl for root and ~/.local/share/nearcrawl for others.
    #[arg(long, value_name = "DIR", env = "NEARCRAWL_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// Address and port to listen on, by default 127.0.0.1:8420; port 0 takes any free one.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = socket_address)]
    pub listen: Option<SocketAddr>,
    /// Address and port at which Prometheus reads /metrics; none by default. Whoever can connect
    /// can read them: use a loopback address or a private network.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = socket_address)]
    pub metrics_listen: Option<SocketAddr>,
    /// URL at which people and agents reach the coordinator, such as `https://search.example.org`.
    #[arg(long, value_name = "URL", env = "NEARCRAWL_PUBLIC_URL")]
    pub public_url: Option<String>,
    /// A Postgres to use instead of the coordinator's own private one.
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
    /// Where packages are kept: `file` for the data directory, or `s3://bucket/prefix` for any S3,
    /// with endpoint and credentials from the variables AWS_*.
    #[arg(long, value_name = "LOCATION", env = "NEARCRAWL_STORAGE")]
    pub storage: Option<String>,
    /// Directory with the program `nearcrawl-agent`, which the page "Host an agent" offers to
    /// partners; by default none is offered.
    #[arg(long, value_name = "DIR")]
    pub agent_downloads: Option<PathBuf>,
    /// DNS server to ask for the addresses of hosts, instead of the system's.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = socket_address)]
    pub resolver: Option<SocketAddr>,
    /// How log lines are written to stderr.
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
    /// As the file below. It is hidden because other users can read arguments.
    #[arg(
        long,
        value_name = "PASSWORD",
        env = "NEARCRAWL_ADMIN_PASSWORD",
        hide = true,
        hide_env_values = true
    )]
    pub admin_password: Option<String>,
    /// File whose first line is the password of the account `admin`, set at each start; `-` is
    /// standard input. Without it the first start generates one and prints it once. The variable
    /// NEARCRAWL_ADMIN_PASSWORD may have the password instead.
    #[arg(long, value_name = "FILE", env = "NEARCRAWL_ADMIN_PASSWORD_FILE")]
    pub admin_password_file: Option<PathBuf>,
}

/// Flags of the commands beside `serve`: the places of the data.
#[derive(Debug, Default, Args)]
pub struct PlaceArgs {
    /// Configuration file of the coordinator (TOML); none by default.
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Directory of the private database, the packages and the search index; by default
    /// /var/lib/nearcrawl for root and ~/.local/share/nearcrawl for others.
    #[arg(long, global = true, value_name = "DIR", env = "NEARCRAWL_DATA_DIR")]
    pub data_dir: Option<PathBuf>,
    /// The Postgres that `serve` uses, if it is not the private one.
    #[arg(long, global = true, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub database_url: Option<String>,
}

impl From<PlaceArgs> for ServeArgs {
    fn from(args: PlaceArgs) -> Self {
        let PlaceArgs { config, data_dir, database_url } = args;
        Self { config, data_dir, database_url, ..Self::default() }
    }
}

/// Flags of `audit`: the places of the data, and the format of the findings.
#[derive(Debug, Default, Args)]
pub struct AuditArgs {
    /// The places of the data.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Print one JSON object instead of lines.
    #[arg(long)]
    pub json: bool,
}

impl From<AuditArgs> for ServeArgs {
    fn from(args: AuditArgs) -> Self {
        args.place.into()
    }
}

/// Flags of `doctor`: those of `serve` that say where things are.
#[derive(Debug, Default, Args)]
pub struct DoctorArgs {
    /// The places of the data.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// Address and port on which the coordinator is to listen, by default 127.0.0.1:8420.
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = socket_address)]
    pub listen: Option<SocketAddr>,
    /// Print one JSON array instead of lines.
    #[arg(long)]
    pub json: bool,
}

impl From<DoctorArgs> for ServeArgs {
    fn from(args: DoctorArgs) -> Self {
        let DoctorArgs { place, listen, json: _ } = args;
        Self { listen, ..place.into() }
    }
}

/// Flags of `admin`: the places of the data, and what to do.
#[derive(Debug, Args)]
pub struct AdminArgs {
    /// The places of the data.
    #[command(flatten)]
    pub place: PlaceArgs,
    /// How to reach the running coordinator.
    #[command(flatten)]
    pub connection: ConnectionArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: AdminCommand,
}

/// Subcommands of `admin`. All but `after-restore` and `forget-storage` work while the coordinator
/// runs; those about accounts and the audit log need only the database.
#[derive(Debug, Subcommand)]
pub enum AdminCommand {
    /// List the accounts.
    List {
        /// Print one JSON array instead of lines.
        #[arg(long)]
        json: bool,
    },
    /// Create an account; its password is generated and printed once.
    Create {
        /// Name with which the person signs in.
        name: String,
        /// What the person may do: admin (look and change) or viewer (look only).
        #[arg(long, default_value = "viewer", value_parser = role)]
        role: Role,
        /// Read the password from the first line of stdin instead.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Give an account another role.
    Role {
        /// Name of the account.
        name: String,
        /// The role: admin or viewer.
        #[arg(value_parser = role)]
        role: Role,
    },
    /// Set a new password, generated and printed once, end the sessions of the account, and revoke
    /// its API tokens.
    Password {
        /// Name of the account.
        name: String,
        /// Read the password from the first line of stdin instead.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Remove an account; the last admin cannot be removed.
    Remove {
        /// Name of the account.
        name: String,
    },
    /// Print the audit log, the newest entry first.
    Log(LogArgs),
    /// Prepare a database that was restored from a backup, before any coordinator starts: numbers
    /// that agents have seen since are left out, and packages that came since are entered again.
    /// Then remove the directory `index` of every coordinator.
    AfterRestore,
    /// Forget which storage of packages the database has, because it was replaced on purpose: the
    /// next coordinator that starts brings its own. Stop all coordinators before.
    ForgetStorage,
    /// Commands that ask the running coordinator.
    #[command(flatten)]
    Api(ApiCommand),
}

/// Flags of `admin log`.
#[derive(Debug, Args)]
pub struct LogArgs {
    /// Only what this person did; `coordinator` for what it did on its own.
    #[arg(long, value_name = "NAME")]
    pub actor: Option<String>,
    /// Only this action, such as agent.approve, or all of a noun, such as agent.
    #[arg(long, value_name = "ACTION")]
    pub action: Option<String>,
    /// Only what was done to this, such as agt_12.
    #[arg(long, value_name = "ID")]
    pub subject: Option<String>,
    /// Only entries with a lower number: continues after the last line of an earlier output.
    #[arg(long, value_name = "NUMBER")]
    pub before: Option<i64>,
    /// Most entries to print.
    #[arg(long, value_name = "COUNT", default_value_t = 50)]
    pub limit: u32,
    /// Print one JSON object per line.
    #[arg(long)]
    pub json: bool,
}

pub(crate) fn role(word: &str) -> Result<Role, String> {
    word.parse().map_err(|_| "give admin or viewer".to_owned())
}

fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "give an IP address and a port, such as 127.0.0.1:8420".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_without_a_port_is_refused_with_an_example() {
        let parsed = Cli::try_parse_from(["coordinator", "serve", "--listen", "127.0.0.1"]);
        let told = parsed.unwrap_err().to_string();
        assert!(told.contains("--listen") && told.contains("127.0.0.1:8420"), "{told}");
    }
}
