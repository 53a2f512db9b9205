//! Background task: forms regions, and publishes rosters and changes of delegations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use model::{AgentId, DAY_MS, RegionId};
use region::delegations::{Delegate, Range};
use region::moves::RegionMoves;
use region::ownership::{SignedView, View};
use region::roster::{Delta, Mode, Roster, RosterError, SignedDelta, SignedRoster, Version};
use store::Term;
use store::regions::{self, Candidate, StoredRegion};

use super::calls::CallError;
use super::members::{self, Parameters};
use super::ranges::{self, SubnetWithAgent};
use super::region_leader::{RegionLeader, ViewInputs};
use super::{RegionLeaders, Regions, is_deposed};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::elapsed_clock;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Deltas after which a new roster takes their place, so that a view stays short.
const MOST_DELTAS: u64 = 50;

/// Between two attempts to delete regions that ended.
const DELETION_MS: u64 = 3_600_000;

/// Rosters as in UbiCrawler section 4: *k* = 200, *t* = 1.
const PARAMETERS: Parameters = Parameters { mode: Mode::Safe, replicas: 200, recovery: 1 };

/// Forms regions of the agents that want it, and follows changes of agents and delegations.
pub async fn run(regions: &Regions) -> Result<Outcome, anyhow::Error> {
    if !regions.rules.enabled {
        return Ok(Outcome::Idle);
    }
    let Some(delegated) = regions.hierarchy.current() else { return Ok(Outcome::Idle) };
    let candidates = regions::candidates(&regions.store).await?;
    let members = regions::members(&regions.store).await?;
    let mut leaders = match regions.leaders().await {
        Err(CallError::NotLeader) => return Ok(Outcome::Idle),
        leaders => leaders?,
    };
    let names = leaders.by_region.iter().flatten();
    let names = names.map(|(id, leader)| (*id, leader.name.clone()));
    // The members of a region that cannot be read stay its members, because they may have a loan.
    let names: BTreeMap<RegionId, String> = names.chain(leaders.unreadable.clone()).collect();
    let registry = |candidate: &Candidate| registry_of(&delegated, candidate);
    let mut groups = members::groups(&candidates, &names, registry);
    // A region without members goes on until the subnets of its former members may go to any agent.
    for name in names.into_values() {
        groups.entry(name).or_default();
    }
    let table = Table::new(&delegated);
    let mut changed = 0;
    let mut failed = None;
    for (name, agents) in groups {
        let attended = attend(regions, &mut leaders, &name, &agents, (&table, &members)).await;
        // One region that cannot go on must not stop the others.
        match attended {
            Ok(is_published) => changed += u64::from(is_published),
            Err(error) if is_deposed(&error) => return Ok(Outcome::Idle),
            Err(error) => failed = failed.or(Some(error.context(format!("region {name}")))),
        }
    }
    allow_moves(regions, &leaders, &members);
    match forget_ended(regions, &mut leaders).await {
        Err(CallError::NotLeader) => return Ok(Outcome::Idle),
        forgotten => forgotten?,
    }
    if let Some(error) = failed {
        return Err(error);
    }
    if changed == 0 {
        return Ok(Outcome::Idle);
    }
    Ok(Outcome::Done(format!("published a view of {}", quantity(changed, "region"))))
}

/// The delegation table as regions see it.
struct Table<'a> {
    delegated: &'a DelegatedHierarchy,
    version: u64,
    /// Computed only if a region has to be compared with it, because a run without news must cost
    /// nothing.
    held: OnceLock<Vec<SubnetWithAgent>>,
}

impl<'a> Table<'a> {
    fn new(delegated: &'a DelegatedHierarchy) -> Self {
        Self { delegated, version: delegated.version(), held: OnceLock::new() }
    }

    fn held(&self) -> &[SubnetWithAgent] {
        self.held.get_or_init(|| ranges::held(self.delegated))
    }

    /// The disjoint ranges of these agents.
    fn ranges_of(&self, agents: &[AgentId]) -> Vec<(Range, Delegate)> {
        ranges::flatten(self.held().to_vec(), |agent| agents.contains(&agent))
    }
}

/// Forms one region, or follows the changes of its agents and delegations. True where a view was
/// published.
async fn attend(
    regions: &Regions,
    leaders: &mut RegionLeaders,
    name: &str,
    agents: &[&Candidate],
    (table, members): (&Table<'_>, &BTreeMap<RegionId, Vec<AgentId>>),
) -> Result<bool, anyhow::Error> {
    if leaders.unreadable.values().any(|unreadable| unreadable == name) {
        return Ok(false);
    }
    let term = leaders.term;
    let is_published = match leaders.of_name(name) {
        Some((id, leader)) => follow(regions, term, (id, leader), agents, table).await?,
        None => form(regions, leaders, name.to_owned(), agents, table).await?,
    };
    if let Some((id, leader)) = leaders.of_name(name) {
        let former = members.get(&id).into_iter().flatten().copied();
        let former: BTreeSet<AgentId> = former.filter(|agent| !leader.has_wanted(*agent)).collect();
        leader.note_former(&former);
        release_departed(regions, term, (id, leader), &former).await?;
    }
    Ok(is_published)
}

/// Gives the subnets of former members back to the coordinator, once no member fetches their hosts.
async fn release_departed(
    regions: &Regions,
    term: Term,
    (id, leader): (RegionId, &mut RegionLeader),
    former: &BTreeSet<AgentId>,
) -> Result<(), anyhow::Error> {
    let departed = leader.departed(former, elapsed_clock::now());
    if departed.is_empty() {
        return Ok(());
    }
    regions.fenced(term, regions::let_go(&regions.store, term, id, &departed).await)?;
    tracing::info!(region = leader.name, agents = departed.len(), "former members left the region");
    regions.events.emit(Event::SubnetsReleased);
    Ok(())
}

/// Deletes regions that all members left long ago. Looks for them once an hour, because a region
/// without members may stay for a year.
async fn forget_ended(regions: &Regions, leaders: &mut RegionLeaders) -> Result<(), CallError> {
    let ended = leaders.by_region.iter().flatten().filter(|(_, leader)| leader.is_dissolved);
    let ended: Vec<RegionId> = ended.map(|(id, _)| *id).collect();
    let now = elapsed_clock::now();
    let was_tried = leaders.last_deletion.is_some_and(|at| now.since(at) < DELETION_MS);
    if ended.is_empty() || regions.history_days == 0 || was_tried {
        return Ok(());
    }
    leaders.last_deletion = Some(now);
    let before = regions.now().plus_ms(-DAY_MS * i64::from(regions.history_days));
    let deleted = regions::forget(&regions.store, leaders.term, &ended, before).await;
    for id in regions.fenced(leaders.term, deleted)? {
        tracing::info!(%id, "deleted a region that ended long ago");
        leaders.by_region.get_or_insert_default().remove(&id);
    }
    Ok(())
}

/// Tells searches, balance and admins' orders which subnets may move within their regions.
fn allow_moves(
    regions: &Regions,
    leaders: &RegionLeaders,
    members: &BTreeMap<RegionId, Vec<AgentId>>,
) {
    let now = elapsed_clock::now();
    let subnets = leaders.by_region.iter().flatten().map(|(id, leader)| {
        let has_loan = |agent| members.get(id).is_some_and(|members| members.contains(&agent));
        (*id, leader.subnets(now, has_loan))
    });
    regions.moves.store(Arc::new(RegionMoves::new(subnets)));
}

/// The registry of the agent's home subnet.
fn registry_of(delegated: &DelegatedHierarchy, candidate: &Candidate) -> Option<String> {
    let hierarchy = delegated.hierarchy();
    let subnet = hierarchy.subnet(hierarchy.smallest(candidate.home));
    subnet.registry().map(|registry| registry.as_str().to_owned())
}

/// Forms a region once its candidates have stayed the same from one run to the next.
async fn form(
    regions: &Regions,
    leaders: &mut RegionLeaders,
    name: String,
    agents: &[&Candidate],
    table: &Table<'_>,
) -> Result<bool, anyhow::Error> {
    let numbers: Vec<AgentId> = agents.iter().map(|agent| agent.agent).collect();
    if leaders.waiting.insert(name.clone(), numbers.clone()).as_ref() != Some(&numbers) {
        return Ok(false);
    }
    let provisional = RegionId::new(0);
    if members::first_roster(provisional, PARAMETERS, agents).is_none() {
        return Ok(false);
    }
    let id = regions::next_id(&regions.store).await?;
    let Some(roster) = members::first_roster(id, PARAMETERS, agents) else { return Ok(false) };
    let wanted = table.ranges_of(&numbers);
    let roster = Roster { delegations: members::listed(&roster, wanted), ..roster };
    let view = SignedView { roster: SignedRoster::new(&regions.key, &roster)?, deltas: Vec::new() };
    let now = regions.both_clocks();
    let stored = StoredRegion {
        id,
        name: name.clone(),
        settings: serde_json::to_value(regions.rules.settings)?,
        view: postcard::to_allocvec(&view)?,
        promises: None,
        lent_until: now.wall,
    };
    let start = (regions.rules.loan_ms(), now.wall.0.max(0).unsigned_abs());
    // Built before anything is stored, because a roster that cannot be used must not be stored.
    let mut leader = RegionLeader::restore(stored.clone(), &regions.key, start, now)?;
    let created = regions::create(&regions.store, leaders.term, &stored, &numbers, now.wall).await;
    regions.fenced(leaders.term, created)?;
    tracing::info!(region = name, agents = numbers.len(), "formed a region");
    let view = leader.protocol.view().clone();
    regions.notify(leader.publish(view, &regions.key));
    leader.note_wanted(numbers.into_iter());
    leader.note_listed(table.held());
    leaders.by_region.get_or_insert_default().insert(id, leader);
    leaders.waiting.remove(&name);
    Ok(true)
}

/// Publishes a new roster where agents or their properties changed, a delta where only delegations
/// did.
async fn follow(
    regions: &Regions,
    term: Term,
    (id, leader): (RegionId, &mut RegionLeader),
    agents: &[&Candidate],
    table: &Table<'_>,
) -> Result<bool, anyhow::Error> {
    // A single member has no other to share with. It stays in the roster, but keeps no subnets for
    // the region, as if it had left.
    let sharing = if agents.len() < members::FEWEST { &[] } else { agents };
    let numbers: Vec<AgentId> = sharing.iter().map(|agent| agent.agent).collect();
    leader.note_wanted(numbers.iter().copied());
    let settled = leader.is_settled(elapsed_clock::now());
    let roster = members::next_roster(&leader.protocol, agents, settled);
    let view = leader.protocol.view().version();
    let view_inputs = ViewInputs { delegated: table.version, agents: numbers, view };
    if roster.is_none() && leader.view_inputs.as_ref() == Some(&view_inputs) {
        return Ok(false);
    }
    let wanted = table.ranges_of(&view_inputs.agents);
    let view = match roster {
        Some(roster) => Some(with_roster(regions, roster, wanted)?),
        None => with_changes(regions, leader.protocol.view(), wanted)?,
    };
    let Some(view) = view else {
        leader.note_listed(table.held());
        leader.view_inputs = Some(view_inputs);
        return Ok(false);
    };
    // A former member may have to stay in the roster for a while, because voters change one by one.
    let members: Vec<AgentId> =
        sharing.iter().map(|agent| agent.agent).filter(|agent| view.has(*agent)).collect();
    let bytes = postcard::to_allocvec(view.signed())?;
    let saved = regions::save_view(&regions.store, term, id, &bytes, &members).await;
    regions.fenced(term, saved)?;
    tracing::info!(region = leader.name, version = ?view.version(), "published a view");
    regions.notify(leader.publish(view, &regions.key));
    leader.note_listed(table.held());
    Ok(true)
}

fn with_roster(
    regions: &Regions,
    roster: Roster,
    wanted: Vec<(Range, Delegate)>,
) -> Result<View, RosterError> {
    let roster = Roster { delegations: members::listed(&roster, wanted), ..roster };
    View::open(&regions.key.public(), SignedRoster::new(&regions.key, &roster)?)
}

fn with_changes(
    regions: &Regions,
    view: &View,
    wanted: Vec<(Range, Delegate)>,
) -> Result<Option<View>, RosterError> {
    let roster = view.roster();
    let wanted = members::listed(roster, wanted);
    let changes = ranges::changes(view.delegations(), &wanted);
    if changes.is_empty() {
        return Ok(None);
    }
    if view.version().delta >= MOST_DELTAS {
        let next = Roster { epoch: roster.epoch + 1, ..roster.clone() };
        return with_roster(regions, next, wanted).map(Some);
    }
    let version = Version { delta: view.version().delta + 1, ..view.version() };
    let delta = Delta { region: roster.region, version, changes };
    view.after(&regions.key.public(), SignedDelta::new(&regions.key, &delta)?).map(Some)
}
