//! Moves delegations and open searches to their subnets in a new generation of the hierarchy.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;

use hierarchy::remap::{
    Claim, Plan, Remapping, SearchClaim, SearchRemapping, has_company, successor_of_company,
};
use hierarchy::{Hierarchy, Range, Scope};
use model::{AgentId, DelegationId, Reason, SearchId, UnixMillis};
use sqlx::PgConnection;

use super::{ActiveDelegation, list_active, notify};
use crate::columns::range;
use crate::commit::commit;
use crate::constraints::{self, Constraint, Kind, LostCompany};
use crate::moment::Moment;
use crate::{Store, StoreError, regions};

/// Added to the ranks of agents outside regions: more than any rank.
const OUTSIDE: u64 = 1 << 40;

impl ActiveDelegation {
    /// The delegation as a claim on its range. Agents that an admin chose rank first, then agents
    /// that live in the subnet, then the nearer agent.
    pub fn claim(&self) -> Claim<DelegationId> {
        let rank = match self.reason {
            Reason::Pinned | Reason::Override => 0,
            Reason::Home => 1,
            _ => 2 + self.rtt_us.map_or(u64::from(u32::MAX), u64::from),
        };
        Claim { key: self.id, range: self.subnet, rank, provisional: self.provisional }
    }
}

/// Everything that refers to subnets and must be remapped for a new generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemapInput {
    /// Delegations that hold, in the order of their ids.
    pub held: Vec<ActiveDelegation>,
    /// Agents to whose regions what they have may be lent.
    pub members: BTreeSet<AgentId>,
    /// Open searches, in the order of their ids.
    pub searched: Vec<SearchClaim<SearchId>>,
    /// Pins and exclusions that apply, with any scope.
    pub rules: Vec<(Kind, Constraint)>,
}

impl RemapInput {
    /// Reads the present delegations, searches and constraints.
    pub async fn read(store: &Store) -> Result<Self, StoreError> {
        let mut rules = vec![];
        for kind in [Kind::Pin, Kind::Exclusion] {
            let counting = constraints::list(store, kind, false, i64::MAX, i64::MAX).await?;
            rules.extend(counting.into_iter().map(|rule| (kind, rule)));
        }
        Ok(Self {
            held: list_active(store).await?,
            members: regions::members(store).await?.into_values().flatten().collect(),
            searched: open_search_claims(store).await?,
            rules,
        })
    }

    /// Computes the remapping; see [`Plan`].
    pub fn plan(
        &self,
        old: Option<&Hierarchy>,
        new: &Hierarchy,
    ) -> Plan<DelegationId, SearchId, i64> {
        let searched = self.searched.iter().copied();
        Plan::of(
            old,
            new,
            self.held.iter().map(|held| self.claim(held)),
            searched,
            self.groups().into_values(),
        )
    }

    /// Claims of agents in regions rank before all others: while a region has a loan, it may crawl
    /// what its members had, even if another agent gets it.
    fn claim(&self, held: &ActiveDelegation) -> Claim<DelegationId> {
        let claim = held.claim();
        let is_lent = self.members.contains(&held.agent);
        Claim { rank: if is_lent { claim.rank } else { OUTSIDE + claim.rank }, ..claim }
    }

    /// Rules about ranges: all pins, and the exclusions of each agent.
    fn groups(&self) -> BTreeMap<Option<AgentId>, Vec<Claim<i64>>> {
        let mut groups: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (kind, rule) in &self.rules {
            let Scope::Range(range) = rule.scope else { continue };
            let group = (*kind == Kind::Exclusion).then_some(rule.agent);
            let claim = Claim { key: rule.id, range, rank: 0, provisional: false };
            groups.entry(group).or_default().push(claim);
        }
        groups
    }

    /// Pins and exclusions of companies whose handles the new generation does not have, although
    /// the old one had, with the handles that hold most of their addresses now.
    pub fn lost_companies(&self, old: Option<&Hierarchy>, new: &Hierarchy) -> Vec<LostCompany> {
        let Some(old) = old else { return vec![] };
        let lost = self
            .rules
            .iter()
            .filter(|(_, rule)| !has_company(new, &rule.scope) && has_company(old, &rule.scope));
        lost.map(|(kind, rule)| LostCompany {
            kind: *kind,
            id: rule.id,
            scope: rule.scope.clone(),
            becomes: successor_of_company(old, new, &rule.scope)
                .map(|(registry, handle)| Scope::Company { registry, handle }),
        })
        .collect()
    }

    /// Whether everything fits this generation without a look at the one before. A range that is a
    /// block now does not: only that one says what it was. Once it was remapped, rules of companies
    /// that vanished without a successor fit: they stay as they are.
    pub fn fits(&self, new: &Hierarchy, is_remapped: bool) -> bool {
        let held = self.held.iter().map(|held| &held.subnet);
        let mut subnets = held.chain(self.searched.iter().map(|claim| &claim.range));
        let is_there = |range: &Range| new.find_delegable(range).is_some();
        let rule_fits = |(_, rule): &(Kind, Constraint)| match &rule.scope {
            Scope::Range(range) => is_there(range) || new.inside(range).next().is_some(),
            scope => is_remapped || has_company(new, scope),
        };
        subnets.all(is_there) && self.rules.iter().all(rule_fits)
    }
}

/// Moves delegations to their ranges in a new generation, all in one transaction, and returns how
/// many ended. Delegations that ended meanwhile are skipped; those that keep their range are not
/// changed. An agent that lived in the range is at home only in the part where it lives.
pub async fn remap(
    store: &Store,
    remapped: &[Remapping<DelegationId>],
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let moved: Vec<_> = remapped.iter().filter(|one| !one.stays()).collect();
    let doing = StoreError::doing("remap the delegations");
    let mut tx = store.begin().await.map_err(doing)?;
    let ended = sqlx::query(include_str!("remap.sql"))
        .bind(moved.iter().map(|one| one.claim.key.get()).collect::<Vec<_>>())
        .bind(moved.iter().map(|one| one.change.as_str()).collect::<Vec<_>>())
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let mut ids = vec![];
    let mut ranges = vec![];
    for one in moved {
        ids.extend(one.assigned.iter().map(|_| one.claim.key.get()));
        ranges.extend_from_slice(&one.assigned);
    }
    delegate_remapped(&mut tx, ids, &ranges, now).await?;
    notify(&mut tx, None).await?;
    commit(tx).await.map_err(doing)?;
    Ok(ended.rows_affected())
}

/// Delegates each range like the delegation beside it in `ids`, which ended at the same moment.
async fn delegate_remapped(
    db: &mut PgConnection,
    ids: Vec<i64>,
    ranges: &[Range],
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("delegate_remapped.sql"))
        .bind(ids)
        .bind(ranges.iter().map(Range::first).collect::<Vec<_>>())
        .bind(ranges.iter().map(Range::last).collect::<Vec<_>>())
        .bind(Moment(now))
        .execute(db)
        .await
        .map_err(StoreError::doing("delegate remapped ranges"))?;
    Ok(())
}

/// Every open search, in order.
pub async fn open_search_claims(store: &Store) -> Result<Vec<SearchClaim<SearchId>>, StoreError> {
    let rows: Vec<(i64, IpAddr, IpAddr, IpAddr)> = sqlx::query_as(
        "SELECT id, first, last, target FROM searches WHERE state = 'open' ORDER BY id",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read the open searches"))?;
    let claim = |(id, first, last, target)| {
        Ok(SearchClaim { key: SearchId::new(id), range: range(first, last)?, target })
    };
    rows.into_iter().map(claim).collect()
}

/// Moves open searches, with their probes, to the subnets in which their targets lie now, all in
/// one transaction. Searches that keep their subnet are not changed. All that move are closed
/// first: a subnet has at most one open search, and two of them may swap subnets.
pub async fn remap_searches(
    store: &Store,
    remapped: &[SearchRemapping<SearchId>],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let mut moved: Vec<_> = remapped.iter().filter(|one| !one.stays()).collect();
    let doing = StoreError::doing("remap the open searches");
    let mut tx = store.begin().await.map_err(doing)?;
    let closed: Vec<i64> = sqlx::query_scalar(include_str!("close_remapped_searches.sql"))
        .bind(moved.iter().map(|one| one.search.key.get()).collect::<Vec<_>>())
        .bind(Moment(now))
        .fetch_all(&mut *tx)
        .await
        .map_err(doing)?;
    let closed: HashSet<i64> = closed.into_iter().collect();
    moved.retain(|one| closed.contains(&one.search.key.get()));
    place(&mut tx, &moved).await?;
    tx.commit().await.map_err(doing)
}

/// Opens the moved searches again at their subnets, except redundant ones.
async fn place(
    db: &mut PgConnection,
    moved: &[&SearchRemapping<SearchId>],
) -> Result<(), StoreError> {
    sqlx::query(include_str!("place_remapped_searches.sql"))
        .bind(moved.iter().map(|one| one.search.key.get()).collect::<Vec<_>>())
        .bind(moved.iter().map(|one| one.subnet.first()).collect::<Vec<_>>())
        .bind(moved.iter().map(|one| one.subnet.last()).collect::<Vec<_>>())
        .bind(moved.iter().map(|one| one.redundant).collect::<Vec<_>>())
        .execute(db)
        .await
        .map_err(StoreError::doing("remap the open searches"))?;
    Ok(())
}
