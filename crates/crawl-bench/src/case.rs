//! What is crawled.

use std::time::Duration;

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::web::WebPlan;

/// Kind of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ValueEnum, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "kebab-case")]
pub enum Kind {
    /// Many hosts with a few pages each, without delay
    Many,
    /// One host with many pages, without delay
    One,
    /// Many hosts with a few pages each, with a delay
    Polite,
    /// Many hosts on one address, with a delay
    Address,
}

impl Kind {
    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// Sizes of all cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::Args)]
pub struct Sizes {
    /// Hosts of the cases `many` and `polite`
    #[arg(long, default_value_t = 2_000)]
    pub hosts: u32,
    /// Pages of each of these hosts
    #[arg(long, default_value_t = 10)]
    pub pages: u32,
    /// Pages of the host of the case `one`
    #[arg(long, default_value_t = 20_000)]
    pub one_pages: u32,
    /// Hosts of the case `address`, each with one page
    #[arg(long, default_value_t = 1_000)]
    pub address_hosts: u32,
    /// Seconds after which the case `address` is stopped
    #[arg(long, default_value_t = 60)]
    pub address_s: u64,
    /// Delay of the cases `polite` and `address`, in milliseconds
    #[arg(long, default_value_t = 1_000)]
    pub delay_ms: u32,
    /// Seconds after which a crawl of another case is cut off
    #[arg(long, default_value_t = 120)]
    pub limit_s: u64,
}

/// A crawl to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Case {
    pub kind: Kind,
    pub web: WebPlan,
    /// Delay between two requests to a host, and to an address.
    pub delay: Duration,
    /// Time after which the crawl is stopped.
    pub limit: Duration,
}

impl Case {
    /// The case of a kind with its sizes.
    pub fn new(kind: Kind, sizes: &Sizes, gzip: bool) -> Self {
        let (hosts, pages) = match kind {
            Kind::Many | Kind::Polite => (sizes.hosts, sizes.pages),
            Kind::One => (1, sizes.one_pages),
            Kind::Address => (sizes.address_hosts, 1),
        };
        let one_address = kind == Kind::Address;
        let delay_ms = match kind {
            Kind::Many | Kind::One => 0,
            Kind::Polite | Kind::Address => sizes.delay_ms,
        };
        let limit_s = if one_address { sizes.address_s } else { sizes.limit_s };
        Self {
            kind,
            web: WebPlan { hosts, pages, one_address, gzip },
            delay: Duration::from_millis(delay_ms.into()),
            limit: Duration::from_secs(limit_s),
        }
    }

    /// Time that a crawler needs for its requests if it loses none beside the delay: at a host, and
    /// on one address, each request but the first waits once. None without a delay.
    pub fn ideal(&self, requests: u64) -> Option<Duration> {
        if self.delay.is_zero() {
            return None;
        }
        let waits = match self.kind {
            Kind::Address => requests,
            // Beside the pages, such as for robots.txt and a sitemap.
            Kind::Many | Kind::One | Kind::Polite => requests.div_ceil(self.web.hosts.into()),
        };
        let waits = waits.saturating_sub(1);
        Some(self.delay * u32::try_from(waits).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_to_a_host_but_the_first_waits_once() {
        let sizes = Sizes {
            hosts: 20,
            pages: 10,
            one_pages: 5,
            address_hosts: 30,
            address_s: 60,
            delay_ms: 1_000,
            limit_s: 120,
        };
        let ideal = |kind, requests| Case::new(kind, &sizes, false).ideal(requests);
        assert_eq!(ideal(Kind::Polite, 220), Some(Duration::from_secs(10)));
        assert_eq!(ideal(Kind::Polite, 240), Some(Duration::from_secs(11)));
        assert_eq!(ideal(Kind::Many, 220), None);
        assert_eq!(ideal(Kind::Address, 60), Some(Duration::from_secs(59)));
        assert_eq!(Case::new(Kind::One, &sizes, false).web.all_pages(), 5);
    }
}
