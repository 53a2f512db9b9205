//! Checks of seeds: refuses at once what later stages would give up without a message to the admin.

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::HostSubnet;
use hierarchy::special_purpose::Class;
use model::{CrawlUrl, HostKey, UrlError};
use store::StoreError;
use store::hosts::{self, GivenUp};
use url::Host;

use crate::intake::Intake;

/// Longest name that the DNS can carry (RFC 1035), in bytes.
const NAME_MAX: usize = 253;
/// Longest part of a name between two dots.
const LABEL_MAX: usize = 63;
/// Top-level domains that the public DNS never has: RFC 6761, RFC 6762 and RFC 7686.
const NOT_IN_DNS: [&str; 4] = ["invalid", "localhost", "local", "onion"];

/// Why a seed is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// The text is no URL for a crawler.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// The name is no name of the DNS.
    #[error("{0} is not a name that the DNS can have")]
    Name(String),
    /// No public server can have such a name.
    #[error("names under .{0} are not in the public DNS")]
    TopLevel(&'static str),
    /// No server of the internet has such an address.
    #[error("{address} is a special-purpose address ({class})")]
    SpecialPurpose {
        /// The address in the URL.
        address: IpAddr,
        /// What that address is reserved for.
        class: Class,
    },
    /// The host was tried lately, without success.
    #[error("its host was given up less than a day ago: {0}")]
    GivenUp(String),
}

/// Seeds that may be queued, and those that may not.
#[derive(Debug, Default)]
pub struct CheckedSeeds {
    /// URLs that may be queued, in the order in which they were given.
    pub valid: Vec<CrawlUrl>,
    /// The others as given, with the reasons.
    pub rejected: Vec<(String, SeedError)>,
}

/// Separates the seeds that can be crawled from those that cannot.
pub async fn check_seeds(intake: &Intake, seeds: &[String]) -> Result<CheckedSeeds, StoreError> {
    let mut checked = CheckedSeeds::default();
    let mut possible = Vec::new();
    for seed in seeds {
        match possible_url(intake, seed) {
            Ok(url) => possible.push((seed, url)),
            Err(error) => checked.rejected.push((seed.clone(), error)),
        }
    }
    let keys: Vec<HostKey> = possible.iter().map(|(_, url)| url.host_key()).collect();
    let given_up = hosts::given_up(&intake.store, &keys, intake.clock.now()).await?;
    let reasons: HashMap<String, String> =
        given_up.into_iter().map(|GivenUp { key, reason }| (key, reason)).collect();
    for (seed, url) in possible {
        match reasons.get(url.host_key_str()) {
            None => checked.valid.push(url),
            Some(reason) => {
                checked.rejected.push((seed.clone(), SeedError::GivenUp(reason.clone())));
            }
        }
    }
    Ok(checked)
}

fn possible_url(intake: &Intake, seed: &str) -> Result<CrawlUrl, SeedError> {
    let url = CrawlUrl::parse(seed)?;
    match url.host() {
        Some(Host::Domain(name)) => check_name(name)?,
        Some(Host::Ipv4(address)) => check_address(intake, address.into())?,
        Some(Host::Ipv6(address)) => check_address(intake, address.into())?,
        None => {}
    }
    Ok(url)
}

/// The URL rules accept any name; the DNS has shorter ones only.
fn check_name(name: &str) -> Result<(), SeedError> {
    let name = name.strip_suffix('.').unwrap_or(name);
    let fits = |label: &str| (1..=LABEL_MAX).contains(&label.len());
    if name.len() > NAME_MAX || !name.split('.').all(fits) {
        return Err(SeedError::Name(name.chars().take(NAME_MAX).collect()));
    }
    let last = name.rsplit('.').next().unwrap_or(name);
    match NOT_IN_DNS.into_iter().find(|top_level| *top_level == last) {
        Some(top_level) => Err(SeedError::TopLevel(top_level)),
        None => Ok(()),
    }
}

/// Judges an address as `place_hosts` does. Before a hierarchy is loaded nothing is known of
/// records, so that every address is accepted.
fn check_address(intake: &Intake, address: IpAddr) -> Result<(), SeedError> {
    let Some(delegated) = intake.hierarchy.current() else { return Ok(()) };
    match intake.unregistered_space.host_subnet(delegated.hierarchy(), address) {
        HostSubnet::SpecialPurpose(class) => Err(SeedError::SpecialPurpose { address, class }),
        HostSubnet::Known(_) | HostSubnet::Unregistered(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_the_dns_cannot_have_are_refused() {
        let long_label = format!("{}.example", "a".repeat(64));
        let long_name = "abcdefgh.".repeat(30);
        for name in ["a..example", long_label.as_str(), long_name.as_str()] {
            assert!(matches!(check_name(name), Err(SeedError::Name(_))), "{name}");
        }
        assert_eq!(check_name("printer.local"), Err(SeedError::TopLevel("local")));
        assert_eq!(check_name("localhost"), Err(SeedError::TopLevel("localhost")));
        assert_eq!(check_name("www.example."), Ok(()));
        assert_eq!(check_name("intranet"), Ok(()));
        assert_eq!(check_name("local.example"), Ok(()));
    }
}
