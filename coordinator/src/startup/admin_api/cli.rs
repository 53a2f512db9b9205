//! Subcommands of `admin` that ask the running coordinator.

use clap::{Args, Subcommand};
use model::Role;

use crate::http::admin::api_tokens::DAYS_MAX;

/// How to reach the coordinator, and as whom.
#[derive(Debug, Default, Args)]
pub struct ConnectionArgs {
    /// URL of the coordinator; by default the address at which its configuration has it listen.
    #[arg(long, value_name = "URL", global = true)]
    pub url: Option<String>,
    /// URL at which people and partners reach the coordinator, for links; by default `public_url`
    /// of the configuration.
    #[arg(long, value_name = "URL", env = "NEARCRAWL_PUBLIC_URL", global = true)]
    pub public_url: Option<String>,
    /// File with an API token; `-` is standard input. With it neither configuration nor database
    /// are needed, so that the command works on any machine. The variable NEARCRAWL_API_TOKEN may
    /// have the token instead. Without a token, whoever may open the database may do everything.
    #[arg(long, value_name = "FILE", global = true)]
    pub token_file: Option<std::path::PathBuf>,
}

/// Subcommands of `admin` over the API.
#[derive(Debug, Subcommand)]
pub enum ApiCommand {
    /// List agents, and approve, pause, resume or revoke one, or remove its pages.
    #[command(subcommand)]
    Agents(AgentsCommand),
    /// Requests to host an agent: list, accept with a one-time link, decline.
    #[command(subcommand)]
    Requests(RequestsCommand),
    /// Join tokens: list, create, revoke.
    #[command(subcommand)]
    Tokens(TokensCommand),
    /// API tokens of scripts: list, create, revoke.
    #[command(subcommand)]
    ApiTokens(ApiTokensCommand),
    /// Add URLs from which the crawl starts.
    Seeds(SeedsArgs),
    /// List delegations, and explain one.
    #[command(subcommand)]
    Delegations(DelegationsCommand),
    /// Show or change the policy.
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Sites and pages that no search shows: list, hide, show again.
    #[command(subcommand)]
    Hidden(HiddenCommand),
    /// Explain what became of a URL, a host, an address, a subnet, a company or an agent.
    Explain(ExplainArgs),
}

/// How a list is printed.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Most items, the newest first.
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    pub limit: u32,
    /// Print one JSON array instead of a table.
    #[arg(long)]
    pub json: bool,
}

/// Subcommands of `admin agents`.
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// List the agents.
    List(ListArgs),
    /// Print all that the API says of an agent, one JSON object.
    Show {
        /// The agent, such as agt_12.
        id: String,
    },
    /// Let a pending agent work. Compare the fingerprint with the one that its owner sees.
    Approve {
        /// The agent, such as agt_12.
        id: String,
    },
    /// Stop an agent; it keeps its delegations.
    Pause {
        /// The agent, such as agt_12.
        id: String,
    },
    /// Let a paused agent work again.
    Resume {
        /// The agent, such as agt_12.
        id: String,
    },
    /// End an agent's key for good.
    Revoke {
        /// The agent, such as agt_12.
        id: String,
    },
    /// Remove all pages of a revoked agent from the search.
    RemovePages {
        /// The agent, such as agt_12.
        id: String,
    },
}

/// Subcommands of `admin requests`.
#[derive(Debug, Subcommand)]
pub enum RequestsCommand {
    /// List the requests of the last 90 days.
    List(ListArgs),
    /// Accept a request and print the one-time link to send to its contact. Earlier links become
    /// worthless.
    Accept {
        /// The request, such as jrq_3.
        id: String,
    },
    /// Decline a request.
    Decline {
        /// The request, such as jrq_3.
        id: String,
    },
}

/// Subcommands of `admin tokens`.
#[derive(Debug, Subcommand)]
pub enum TokensCommand {
    /// List the join tokens.
    List(ListArgs),
    /// Make a join token, printed once.
    Create {
        /// Person or organisation that gets it.
        name: String,
        /// Days until it expires, from 1 to 30.
        #[arg(long, value_name = "DAYS", default_value_t = 7,
            value_parser = clap::value_parser!(u32).range(1..=30))]
        days: u32,
    },
    /// Make an unused join token worthless.
    Revoke {
        /// The token, such as tok_3.
        id: String,
    },
}

/// Subcommands of `admin api-tokens`.
#[derive(Debug, Subcommand)]
pub enum ApiTokensCommand {
    /// List the API tokens.
    List(ListArgs),
    /// Make an API token, printed once; needs the database.
    Create {
        /// What it is for.
        name: String,
        /// Account in whose name it works.
        #[arg(long, value_name = "NAME", default_value = "admin")]
        account: String,
        /// What it permits: admin or viewer.
        #[arg(long, default_value = "viewer", value_parser = crate::startup::cli::role)]
        scope: Role,
        /// Days until it expires, from 1 to 3650; without it, never.
        #[arg(long, value_name = "DAYS",
            value_parser = clap::value_parser!(u32).range(1..=i64::from(DAYS_MAX)))]
        days: Option<u32>,
    },
    /// Revoke an API token.
    Revoke {
        /// The token, such as apt_3.
        id: String,
    },
}

/// Flags of `admin seeds`.
#[derive(Debug, Args)]
pub struct SeedsArgs {
    /// URLs; without any, they are read from the standard input, one a line. Empty lines and those
    /// that begin with `#` are left out.
    pub urls: Vec<String>,
}

/// Subcommands of `admin delegations`.
#[derive(Debug, Subcommand)]
pub enum DelegationsCommand {
    /// List the delegations.
    List {
        /// Only those of this agent.
        #[arg(long, value_name = "ID")]
        agent: Option<String>,
        /// Only those for this reason, such as lowest.
        #[arg(long, value_name = "REASON")]
        reason: Option<String>,
        /// Only those of this address, subnet or company.
        #[arg(long, value_name = "TEXT")]
        query: Option<String>,
        #[command(flatten)]
        list: ListArgs,
    },
    /// Print why a subnet has its agent, one JSON object.
    Show {
        /// The delegation, such as dlg_7.
        id: String,
    },
}

/// Subcommands of `admin policy`.
#[derive(Debug, Subcommand)]
pub enum PolicyCommand {
    /// Print the policy, one JSON object.
    Show,
    /// Change settings, such as `threshold_ms=40 strategy=threshold`.
    Set {
        /// Names and values, as `policy show` prints them.
        #[arg(required = true, value_name = "NAME=VALUE")]
        settings: Vec<String>,
    },
}

/// Subcommands of `admin hidden`.
#[derive(Debug, Subcommand)]
pub enum HiddenCommand {
    /// List the sites and pages that no search shows.
    List(ListArgs),
    /// Hide a site or a page from all searches. The crawl goes on.
    Add {
        /// A domain, such as example.org, or the whole URL of a page.
        target: String,
        /// Why, for other admins.
        #[arg(long, value_name = "TEXT")]
        reason: String,
    },
    /// Show a site or a page again.
    Remove {
        /// The entry, such as hid_3.
        id: String,
    },
}

/// Flags of `admin explain`.
#[derive(Debug, Args)]
pub struct ExplainArgs {
    /// What to explain, such as `https://example.org/page`, 192.0.2.7 or agt_12.
    pub subject: String,
    /// Print the answer of the API, one JSON object.
    #[arg(long)]
    pub json: bool,
}
