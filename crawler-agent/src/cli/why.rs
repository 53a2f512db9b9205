//! `why`: shows what a host waits for.

use std::process::ExitCode;

use anyhow::Context as _;
use clap::Args;
use model::CrawlUrl;
use protocol::host_status::{HostStatus, WaitsFor};

use super::{ConfigArgs, NO, agents_dir, print_line};
use crate::{data_dir::control_socket, host_status::text_of};

#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    /// A host such as `https://example.org`, or a URL on it.
    #[arg(value_parser = host)]
    host: CrawlUrl,
    #[command(flatten)]
    config_args: ConfigArgs,
    /// Prints one JSON document instead of text.
    #[arg(long)]
    json: bool,
}

fn host(text: &str) -> Result<CrawlUrl, String> {
    CrawlUrl::parse(text).map_err(|error| format!("{error}; write it as https://example.org"))
}

pub(super) fn print(arguments: &WhyArgs) -> anyhow::Result<ExitCode> {
    let dir = agents_dir(&arguments.config_args)?;
    let asked = control_socket::ask(&dir, arguments.host.host_key_str());
    let answer = asked.with_context(|| format!("asking the agent in {}", dir.display()))?;
    let Some(answer) = answer else {
        anyhow::bail!("no agent is running in {}; start it and ask again", dir.display());
    };
    let status: HostStatus =
        serde_json::from_slice(&answer).context("the agent did not answer; is it stopping?")?;
    print_line(&if arguments.json {
        serde_json::to_string_pretty(&status)?
    } else {
        text_of(&status)
    });
    let is_known = status.waits_for != WaitsFor::Nobody;
    Ok(if is_known { ExitCode::SUCCESS } else { ExitCode::from(NO) })
}
