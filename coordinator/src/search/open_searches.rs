//! Background task: opens a search for each subnet with waiting hosts and without an agent.

use std::collections::HashSet;
use std::sync::atomic::{AtomicI64, Ordering};

use delegation::target::RETRY_AFTER_MS;
use delegation::{Availability, Constraints};
use hierarchy::{CompanyId, Range, SubnetId};
use model::{CrawlUrl, HostId};
use store::StoreError;
use store::agents::{self, Worker};
use store::delegations;
use store::hosts::{self, WaitingHost};
use store::searches::{self, NewSearch};

use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::search::DelegationSearch;

/// Opens searches for the subnets of waiting hosts, as many as the agents can answer.
///
/// A search is cheaper after earlier decisions, most of all within a company ("we use the
/// organization's name to delegate", IPMicra III.E). While a company has no agent, only one of its
/// subnets is searched for; the others wait for that decision.
pub async fn run(parts: &DelegationSearch) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = parts.hierarchy.current() else { return Ok(Outcome::Idle) };
    let open_now = searches::undelegated_subnets(&parts.store).await?;
    // Searches that wait for agents that cannot be asked must not keep others from being opened.
    let patience_ms = i64::from(parts.policy.load().patience_ms);
    let opened_after = parts.clock.now().plus_ms(-patience_ms);
    let working = searches::working(&parts.store, opened_after).await?;
    let count = searches_at_once(parts, &delegated).await?.saturating_sub(working.len());
    if count == 0 {
        return Ok(Outcome::Idle);
    }
    let chosen = choose_hosts(parts, &delegated, (&open_now, &working), count).await?;
    if chosen.is_empty() {
        return Ok(Outcome::Idle);
    }
    let opened = open(parts, chosen).await?;
    Ok(Outcome::Done(format!("opened {}", quantity(opened, "search"))))
}

/// How many searches may be open now: what the agents that can be asked may have in flight, within
/// the probes of today.
async fn searches_at_once(
    parts: &DelegationSearch,
    delegated: &DelegatedHierarchy,
) -> Result<usize, StoreError> {
    let predictor = &parts.predictor;
    predictor.state.budget.load(predictor, delegated).await?;
    let policy = parts.policy.load_full();
    let limits = policy.probes;
    let now = parts.clock.now();
    let workers = agents::workers(&parts.store).await?;
    let can_be_asked = |worker: &&Worker| {
        let availability = predictor.availability(worker, &limits);
        matches!(availability, Availability::Ready | Availability::Busy)
    };
    // Collected first: availability locks the budget, too.
    let agents: Vec<_> = workers.iter().filter(can_be_asked).map(|worker| worker.agent).collect();
    let each = (parts.limits.orders_per_agent, policy.parallel);
    let most =
        predictor.state.budget.usage(|usage| usage.searches_at_once(&limits, agents, each, now));
    Ok(usize::try_from(most).unwrap_or(usize::MAX))
}

/// Opens a search with each of these hosts as its target. Returns the number of new searches.
pub async fn open(parts: &DelegationSearch, hosts: Vec<WaitingHost>) -> Result<u64, StoreError> {
    let searches: Vec<NewSearch> = hosts.into_iter().filter_map(new_search).collect();
    if searches.is_empty() {
        return Ok(0);
    }
    let policy = parts.policy.load();
    let strategy = policy.strategy;
    let threshold_us = policy.threshold_us;
    let now = parts.clock.now();
    let opened = searches::open(&parts.store, &searches, strategy, threshold_us, now).await?;
    parts.metrics.opened(opened);
    parts.events.emit(Event::SearchReady);
    Ok(opened)
}

/// Waiting hosts that are read at once.
const PAGE: u32 = 4_096;
/// Pages that one run reads. With millions of hosts that wait, in subnets with open searches, all
/// of them would be read every few seconds.
const PAGES: usize = 16;

/// The last waiting host that was read; 0 before the first. The next run goes on after it.
#[derive(Debug, Default)]
pub struct ReadUpTo(AtomicI64);

impl ReadUpTo {
    fn last(&self) -> HostId {
        HostId::new(self.0.load(Ordering::Relaxed))
    }

    /// Notes the last host of a full page, which is this page of the run by number; none at the end
    /// of the list, after which the next run begins with the host that has waited longest. Returns
    /// whether the run reads another page. Where a run has enough, the next one reads its last page
    /// again.
    fn note(&self, page: usize, last: Option<HostId>, is_enough: bool) -> bool {
        if is_enough {
            return false;
        }
        self.0.store(last.map_or(0, HostId::get), Ordering::Relaxed);
        last.is_some() && page < PAGES
    }
}

/// At most `count` hosts, of the subnets that have waited longest among those that are read.
async fn choose_hosts(
    parts: &DelegationSearch,
    delegated: &DelegatedHierarchy,
    (open_now, working): (&[Range], &[Range]),
    count: usize,
) -> Result<Vec<WaitingHost>, anyhow::Error> {
    let now = parts.clock.now();
    let constraints = current_constraints(&parts.store, now).await?;
    let mut selection = Selection::new(delegated, constraints, open_now, working);
    for number in 1.. {
        let after = parts.waiting_read.last();
        let page = hosts::waiting_for_agent(&parts.store, after, PAGE, now).await?;
        let last = page.last().map(|(host, _)| *host).filter(|_| page.len() == PAGE as usize);
        for (host, subnet) in page {
            selection.consider(host, subnet, count);
        }
        if !parts.waiting_read.note(number, last, selection.chosen.len() >= count) {
            break;
        }
    }
    let left_over = &selection.left_over;
    if !left_over.is_empty() && delegations::give_waiting_hosts(&parts.store, left_over).await? > 0
    {
        parts.events.emit(Event::HostsAssigned);
    }
    // An address that answered no agent since then is used only where the subnet has no other.
    let silent_before = now.plus_ms(-RETRY_AFTER_MS.cast_signed());
    Ok(hosts::waiting_in_subnets(&parts.store, &selection.chosen, silent_before, now).await?)
}

/// Selects the subnets to search for.
struct Selection<'a> {
    delegated: &'a DelegatedHierarchy,
    constraints: Constraints,
    /// Subnets that were considered, or have an open search.
    seen: HashSet<Range>,
    /// Companies without an agent for which a search works or is chosen.
    searched_companies: HashSet<CompanyId>,
    /// In the order in which they wait.
    chosen: Vec<Range>,
    /// Hosts that wait although their subnets have an agent: a host that was freed at the moment
    /// when its subnet was delegated, so that neither transaction saw the other.
    left_over: Vec<HostId>,
}

impl<'a> Selection<'a> {
    fn new(
        delegated: &'a DelegatedHierarchy,
        constraints: Constraints,
        open_now: &[Range],
        working: &[Range],
    ) -> Self {
        // Searches that only wait do not count. An address that answers no agent that is awake must
        // not keep the other subnets of its company from getting agents.
        let searched = working.iter().filter_map(|subnet| delegated.hierarchy().find(subnet));
        let searched_companies =
            searched.filter_map(|subnet| unserved_company(delegated, subnet)).collect();
        let seen = open_now.iter().copied().collect();
        let chosen = Vec::new();
        let left_over = Vec::new();
        Self { delegated, constraints, seen, searched_companies, chosen, left_over }
    }

    fn consider(&mut self, host: HostId, subnet: Range, count: usize) {
        if self.delegated.agent_of(&subnet).is_some() {
            self.left_over.push(host);
        } else if self.chosen.len() < count
            && self.seen.insert(subnet)
            && self.needs_search(&subnet)
        {
            self.chosen.push(subnet);
        }
    }

    fn needs_search(&mut self, subnet: &Range) -> bool {
        let hierarchy = self.delegated.hierarchy();
        // A subnet that left the hierarchy, or may not be delegated, gets a search too: it is
        // abandoned at its first step, which gives the hosts their new subnet.
        let Some(subnet) = hierarchy.find_delegable(subnet) else { return true };
        // A pin needs no measurement; `apply_constraints` assigns the subnet.
        let is_pinned = self.constraints.pin(hierarchy, subnet).is_some();
        let company = unserved_company(self.delegated, subnet);
        !is_pinned && company.is_none_or(|company| self.searched_companies.insert(company))
    }
}

/// The company of a subnet, when no agent holds any of its subnets.
fn unserved_company(delegated: &DelegatedHierarchy, subnet: SubnetId) -> Option<CompanyId> {
    let company = delegated.hierarchy().subnet(subnet).company()?;
    let served = delegated.delegation_table().agents_of_company(company).next().is_some();
    (!served).then_some(company)
}

fn new_search(host: WaitingHost) -> Option<NewSearch> {
    let port = CrawlUrl::of_host(&host.scheme, &host.authority).ok()?.port();
    Some(NewSearch { subnet: host.subnet, target: host.address, host: host.authority, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last hosts of the pages that a run reads, if it has enough at page `enough_at`.
    fn run(read_up_to: &ReadUpTo, enough_at: usize) -> Vec<i64> {
        let mut read = Vec::new();
        for page in 1.. {
            let last = HostId::new(read_up_to.last().get() + i64::from(PAGE));
            read.push(last.get());
            if !read_up_to.note(page, Some(last), page == enough_at) {
                break;
            }
        }
        read
    }

    #[test]
    fn a_run_reads_a_part_of_the_hosts_that_wait_and_the_next_goes_on() {
        let read_up_to = ReadUpTo::default();
        let first = run(&read_up_to, 0);
        assert_eq!(first.len(), PAGES);
        let second = run(&read_up_to, 0);
        assert_eq!(second[0], first[PAGES - 1] + i64::from(PAGE));
        assert!(!read_up_to.note(1, None, false), "the end");
        assert_eq!(run(&read_up_to, 2), first[..2], "the first ones again");
        assert_eq!(run(&read_up_to, 2), first[1..3], "the last page has others, maybe");
    }
}
