//! `guard`: shows what the address guard decides.

use std::{net::IpAddr, process::ExitCode, sync::Arc};

use clap::Args;
use model::CrawlUrl;
use serde::Serialize;

use super::{ConfigArgs, NO, print_line};
use crate::{
    config::Config,
    error_line,
    guard::{Guard, on_link_prefixes},
    resolve::{ResolveError, Resolver},
};

#[derive(Debug, Args)]
pub(super) struct GuardArgs {
    #[command(flatten)]
    config_args: ConfigArgs,
    /// Addresses and http or https URLs. Host names are resolved, and all their addresses checked.
    #[arg(required = true, value_name = "ADDRESS|URL", value_parser = target)]
    targets: Vec<Target>,
    /// Prints a JSON document for each target.
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone)]
enum Target {
    Address(IpAddr),
    Url(CrawlUrl),
}

fn target(text: &str) -> Result<Target, String> {
    if let Ok(address) = text.parse() {
        return Ok(Target::Address(address));
    }
    let url = CrawlUrl::parse(text);
    url.map(Target::Url).map_err(|error| format!("neither an address nor a URL to crawl ({error})"))
}

/// What is printed about a target.
#[derive(Debug, Serialize)]
struct Verdict {
    target: String,
    permitted: bool,
    /// Addresses that were checked.
    addresses: Vec<IpAddr>,
    /// Why it is not permitted; none where it is.
    reason: Option<String>,
}

pub(super) fn print(arguments: &GuardArgs) -> anyhow::Result<ExitCode> {
    let config = Config::read(&arguments.config_args.config)?;
    let guard = Guard::new(Arc::new(config.guard.clone()), on_link_prefixes()?);
    let verdicts = super::run::runtime()?.block_on(async {
        let rate = config.limits.lookups_per_second;
        let resolver = Resolver::new(&config.resolver, config.bind, guard, rate)?;
        let mut verdicts = Vec::new();
        for target in &arguments.targets {
            verdicts.push(verdict(&resolver, target).await);
        }
        Ok::<_, ResolveError>(verdicts)
    })?;
    for verdict in &verdicts {
        print_line(&if arguments.json { serde_json::to_string(verdict)? } else { line(verdict) });
    }
    let all = verdicts.iter().all(|verdict| verdict.permitted);
    Ok(if all { ExitCode::SUCCESS } else { ExitCode::from(NO) })
}

async fn verdict(resolver: &Resolver, target: &Target) -> Verdict {
    let (name, checked) = match target {
        Target::Address(address) => {
            let checked = resolver.check(*address, None).map_err(ResolveError::from);
            (address.to_string(), checked.map(|()| vec![*address]))
        }
        Target::Url(url) => (url.to_string(), resolver.addresses(url).await),
    };
    let permitted = checked.is_ok();
    let (addresses, reason) = match checked {
        Ok(addresses) => (addresses, None),
        Err(error) => (Vec::new(), Some(error_line::of(&error))),
    };
    Verdict { target: name, permitted, addresses, reason }
}

fn line(verdict: &Verdict) -> String {
    let Verdict { target, addresses, reason, .. } = verdict;
    if let Some(reason) = reason {
        return format!("refused    {target}: {reason}");
    }
    let addresses: Vec<String> = addresses.iter().map(IpAddr::to_string).collect();
    format!("permitted  {target} ({})", addresses.join(", "))
}
