//! A small world whose agents form a region: what several scenarios of regions do and check.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::Duration;

use hierarchy::Range;
use serde_json::Value;
use tests::harness::until;
use tests::referee::{Report, Rules};

use crate::small_world::{LIMIT, SmallWorld};

/// Time within which the coordinator's delegations agree with a region.
const AGREEMENT: Duration = Duration::from_mins(1);

/// What no region does, whatever fails.
pub(crate) fn assert_polite(report: &Report) {
    let most = report.most_in_flight.as_ref().map(|most| most.count);
    assert_eq!(most, Some(1), "{:?}", report.most_in_flight);
    assert!(report.gaps_too_small.is_empty(), "{:?}", report.gaps_too_small);
    assert_eq!(report.disallowed_fetched, 0, "{:?}", report.disallowed);
}

impl SmallWorld {
    /// Delegates every subnet of a host before any page is known: agents by turns.
    pub(crate) async fn delegate_hosts(&self) {
        let hosts = &self.setup.environment.world().hosts;
        let ranges: BTreeSet<String> =
            hosts.iter().map(|host| host.record.range.to_string()).collect();
        let homes = self.setup.environment.world().agents.iter();
        let homes: BTreeSet<String> = homes.map(|agent| agent.record.range.to_string()).collect();
        let agents = self.deployment.agents.iter().cycle();
        for (range, agent) in ranges.difference(&homes).zip(agents) {
            self.deployment.admin.pin(range, agent.id()).await.unwrap();
        }
    }

    /// Waits until every agent has the roster with all subnets, a loan and a lease.
    pub(crate) async fn until_region(&self) {
        self.until_region_within(LIMIT).await;
    }

    pub(crate) async fn until_region_within(&self, limit: Duration) {
        let world = self.setup.environment.world();
        let all = world.hosts.iter().chain(&world.agents);
        let ranges: BTreeSet<String> = all.map(|one| one.record.range.to_string()).collect();
        self.deployment.until_region(ranges.len(), limit).await.unwrap();
    }

    /// Pins what is pinned to one member to another one, and waits until it is delegated there.
    pub(crate) async fn pin_elsewhere(&self, from: usize, to: usize) {
        let admin = &self.deployment.admin;
        let [from, to] = [from, to].map(|agent| self.deployment.agents[agent].id());
        let mut moved = Vec::new();
        for pin in admin.list("pins").await.unwrap() {
            let range = pin["scope"]["range"].as_str().unwrap().to_owned();
            if pin["agent"]["id"] == from.to_string() {
                admin.unpin(pin["id"].as_str().unwrap()).await.unwrap();
                admin.pin(&range, to).await.unwrap();
                moved.push(range.parse::<Range>().unwrap());
            }
        }
        assert!(!moved.is_empty(), "nothing is pinned to {from}");
        let look = || async {
            let all = admin.list("delegations").await.unwrap();
            let of_pins = all.iter().filter(|delegation| {
                let subnet: Range = delegation["subnet"].as_str().unwrap().parse().unwrap();
                moved.iter().any(|range: &Range| range.contains_range(&subnet))
            });
            let (there, elsewhere): (Vec<&Value>, Vec<&Value>) =
                of_pins.partition(|delegation| delegation["agent"]["id"] == to.to_string());
            let are_moved = there.len() >= moved.len() && elsewhere.is_empty();
            if are_moved {
                Ok(())
            } else {
                Err(format!("{} there, not {elsewhere:?}", there.len()))
            }
        };
        until("pinned subnets at their new agent", AGREEMENT, look).await.unwrap();
    }

    /// Waits until each seed was delivered: its host was asked for something.
    pub(crate) async fn until_seeds(&self) {
        let environment = &self.setup.environment;
        let seeds = environment.seeds().len();
        let look = || {
            let asked =
                (0..seeds).filter(|host| !environment.referee().rounds(*host).is_empty()).count();
            std::future::ready(if asked == seeds { Ok(()) } else { Err(asked) })
        };
        until("request for each seed", LIMIT, look).await.unwrap();
    }

    pub(crate) async fn reach(&self, share: f64) {
        self.reach_within(share, LIMIT).await;
    }

    pub(crate) async fn reach_within(&self, share: f64, limit: Duration) {
        let look = || {
            let seen = self.progress();
            std::future::ready(if seen >= share { Ok(()) } else { Err(seen) })
        };
        until("share of the crawl", limit, look).await.unwrap();
    }

    /// Waits until nothing that was fetched waits at an agent any more.
    pub(crate) async fn until_shipped(&self) {
        let look = || {
            let waiting = |status: &Value| {
                let number = |name: &str| status[name].as_u64().unwrap_or(u64::MAX);
                number("unpacked").saturating_add(number("unshipped"))
            };
            let statuses = self.deployment.agents.iter().map(tests::harness::Agent::status);
            let left = statuses.map(|status| waiting(&status)).fold(0, u64::saturating_add);
            std::future::ready(if left == 0 { Ok(()) } else { Err(left) })
        };
        until("shipped results", LIMIT, look).await.unwrap();
    }

    /// Waits until the coordinator has given all hosts of a dead agent that it knows to others.
    pub(crate) async fn until_taken_over(&self, dead: usize) {
        let look = || async {
            let left = self.deployment.hosts_at(dead).await.unwrap();
            if left == 0 { Ok(()) } else { Err(left) }
        };
        until("hosts of a dead agent at others", AGREEMENT, look).await.unwrap();
    }

    /// Waits until the coordinator delegates everything as before any death.
    pub(crate) async fn until_no_takeover(&self) {
        let look = || async {
            let all = self.deployment.admin.list("delegations").await.unwrap();
            let taken = all.iter().filter(|delegation| delegation["reason"] == "takeover").count();
            if taken == 0 { Ok(()) } else { Err(taken) }
        };
        until("delegations without takeovers", AGREEMENT, look).await.unwrap();
    }

    /// Waits until an agent has hosts again, as far as the coordinator knows.
    pub(crate) async fn until_returned(&self, agent: usize) {
        let look = || async {
            let hosts = self.deployment.hosts_at(agent).await.unwrap();
            if hosts > 0 { Ok(()) } else { Err("no host") }
        };
        until("hosts of an agent that returned", AGREEMENT, look).await.unwrap();
    }

    pub(crate) fn report(&self) -> Report {
        let least_gap = Duration::from_millis(self.settings.host_delay_ms);
        self.setup.environment.referee().report(&Rules { least_gap })
    }

    pub(crate) fn address(&self, agent: usize) -> IpAddr {
        self.setup.environment.world().agents[agent].address
    }
}
