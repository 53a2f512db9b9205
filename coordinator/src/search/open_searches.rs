//! Subnets that nobody crawls get a search.

use std::collections::HashSet;

use delegation::Constraints;
use delegation::target::RETRY_AFTER_MS;
use hierarchy::{CompanyId, Range, SubnetId};
use model::{CrawlUrl, HostId};
use store::StoreError;
use store::hosts::{self, Orphan};
use store::searches::{self, NewSearch};

use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::search::DelegationSearch;

/// Opens searches for subnets of waiting hosts, as many at once as the configuration allows.
///
/// Searches profit from the decisions of earlier ones, most of all within a company ("we use the
/// organization's name to delegate", IPMicra III.E). While nobody serves a company, therefore, only
/// one of its subnets is searched for; the others wait for that decision.
pub async fn run(parts: &DelegationSearch) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = parts.hierarchy.current() else { return Ok(Outcome::Idle) };
    let under_way = searches::urgent(&parts.store).await?;
    let limit = parts.limits.open_searches as usize;
    let room = limit.saturating_sub(under_way.len());
    if room == 0 {
        return Ok(Outcome::Idle);
    }
    let chosen = choose(parts, &delegated, &under_way, room).await?;
    if chosen.is_empty() {
        return Ok(Outcome::Idle);
    }
    let opened = open(parts, chosen).await?;
    Ok(Outcome::Done(format!("opened {}", quantity(opened, "search"))))
}

/// Opens a search at each of these hosts. Says how many are new.
pub async fn open(parts: &DelegationSearch, hosts: Vec<Orphan>) -> Result<u64, StoreError> {
    let searches: Vec<NewSearch> = hosts.into_iter().filter_map(search).collect();
    if searches.is_empty() {
        return Ok(0);
    }
    let policy = parts.policy.load_full();
    let opened = searches::open(
        &parts.store,
        &searches,
        policy.strategy,
        policy.threshold_us,
        parts.clock.now(),
    )
    .await?;
    parts.events.emit(Event::SearchReady);
    Ok(opened)
}

/// Waiting hosts looked at together.
const PAGE: u32 = 4_096;

/// At most `room` hosts to search at, of the subnets that wait longest, but for those whose company
/// is being searched for.
async fn choose(
    parts: &DelegationSearch,
    delegated: &DelegatedHierarchy,
    under_way: &[Range],
    room: usize,
) -> Result<Vec<Orphan>, anyhow::Error> {
    let now = parts.clock.now();
    let mut choice = Choice::new(
        delegated,
        current_constraints(&parts.store, parts.clock.now()).await?,
        under_way,
    );
    let mut after = HostId::new(0);
    while choice.chosen.len() < room {
        let page = hosts::in_line(&parts.store, after, PAGE, now).await?;
        let Some((last, _)) = page.last() else { break };
        after = *last;
        for (_, subnet) in page {
            choice.consider(subnet, room);
        }
    }
    let forgiven = now.plus_ms(-RETRY_AFTER_MS.cast_signed());
    Ok(hosts::orphans(&parts.store, &choice.chosen, forgiven, now).await?)
}

/// Subnets to be searched for.
struct Choice<'a> {
    delegated: &'a DelegatedHierarchy,
    constraints: Constraints,
    /// Subnets that were looked at, or have a search.
    seen: HashSet<Range>,
    /// Companies nobody serves that are being searched for.
    busy: HashSet<CompanyId>,
    /// In the order in which they wait.
    chosen: Vec<Range>,
}

impl<'a> Choice<'a> {
    fn new(
        delegated: &'a DelegatedHierarchy,
        constraints: Constraints,
        under_way: &[Range],
    ) -> Self {
        let searched = under_way.iter().filter_map(|subnet| delegated.hierarchy().find(subnet));
        let busy = searched.filter_map(|subnet| unserved_company(delegated, subnet)).collect();
        let seen = under_way.iter().copied().collect();
        Self { delegated, constraints, seen, busy, chosen: Vec::new() }
    }

    fn consider(&mut self, subnet: Range, room: usize) {
        if self.chosen.len() < room && self.seen.insert(subnet) && self.wants_search(&subnet) {
            self.chosen.push(subnet);
        }
    }

    fn wants_search(&mut self, subnet: &Range) -> bool {
        let hierarchy = self.delegated.hierarchy();
        // The search for one that is in the hierarchy no more ends at once, and its hosts find
        // another.
        let Some(subnet) = hierarchy.find(subnet) else { return true };
        let is_held = self.delegated.delegation_table().get(subnet).is_some();
        let is_pinned = self.constraints.pin(hierarchy, subnet).is_some();
        let company = unserved_company(self.delegated, subnet);
        !is_held && !is_pinned && company.is_none_or(|company| self.busy.insert(company))
    }
}

/// The company of a subnet, when no agent holds any of its subnets.
fn unserved_company(delegated: &DelegatedHierarchy, subnet: SubnetId) -> Option<CompanyId> {
    let company = delegated.hierarchy().subnet(subnet).company()?;
    let served = delegated.delegation_table().agents_of_company(company).next().is_some();
    (!served).then_some(company)
}

fn search(orphan: Orphan) -> Option<NewSearch> {
    let port = CrawlUrl::of_host(&orphan.scheme, &orphan.authority).ok()?.port();
    Some(NewSearch { subnet: orphan.subnet, target: orphan.address, host: orphan.authority, port })
}
