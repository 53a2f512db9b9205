//! Delegations and open searches find their places in a new generation of the hierarchy.

use std::net::IpAddr;

use hierarchy::Range;
use hierarchy::carry::{Carried, Claim};
use protocol::{DelegationId, SearchId, UnixMillis};
use sqlx::PgConnection;

use super::{Held, range};
use crate::moment::Moment;
use crate::{Store, StoreError};

impl Held {
    /// As something to be carried over: agents that live in a subnet come first, then who is nearer.
    pub fn claim(&self) -> Claim<DelegationId> {
        let rank =
            if self.reason == "home" { 0 } else { 1 + self.rtt_us.map_or(u64::from(u32::MAX), u64::from) };
        Claim { key: self.id, range: self.subnet, rank }
    }
}

/// Moves delegations to their places in a new generation, all in one transaction, and says how many ended where they were. One
/// that ended meanwhile is passed over; those that stay are not touched. An agent that lived in the range is at home only in the
/// part where it lives.
pub async fn carry(
    store: &Store,
    carried: &[Carried<DelegationId>],
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let moved: Vec<_> = carried.iter().filter(|one| !one.stays()).collect();
    let doing = StoreError::doing("carry the delegations over");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    let ended = sqlx::query(
        "UPDATE delegations d SET ended_at = $3, fate = m.fate
         FROM unnest($1::bigint[], $2::text[]) AS m (id, fate) WHERE d.id = m.id AND d.ended_at IS NULL",
    )
    .bind(moved.iter().map(|one| one.claim.key.get()).collect::<Vec<_>>())
    .bind(moved.iter().map(|one| one.fate.as_str()).collect::<Vec<_>>())
    .bind(Moment(now))
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    let (mut ids, mut ranges) = (vec![], vec![]);
    for one in moved {
        ids.extend(one.gets.iter().map(|_| one.claim.key.get()));
        ranges.extend_from_slice(&one.gets);
    }
    begin_again(&mut tx, ids, &ranges, now).await?;
    tx.commit().await.map_err(doing)?;
    Ok(ended.rows_affected())
}

/// Delegates each range as the delegation beside it in `ids` was, which ended at the same moment.
async fn begin_again(
    db: &mut PgConnection,
    ids: Vec<i64>,
    ranges: &[Range],
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO delegations (first, last, agent, generation, reason, provisional, search, rtt_us, decided_at, carried_from,
                                  pin, assigned_by, note)
         SELECT m.first, m.last, d.agent,
                1 + coalesce((SELECT max(g.generation) FROM delegations g WHERE g.first = m.first AND g.last = m.last), 0),
                CASE WHEN d.reason = 'home' AND NOT a.home BETWEEN m.first AND m.last THEN 'company' ELSE d.reason END,
                d.provisional, d.search, d.rtt_us, $4, d.id, d.pin, d.assigned_by, d.note
         FROM unnest($1::bigint[], $2::inet[], $3::inet[]) AS m (id, first, last)
         JOIN delegations d ON d.id = m.id AND d.ended_at = $4 AND d.fate IS NOT NULL
         JOIN agents a ON a.id = d.agent",
    )
    .bind(ids)
    .bind(ranges.iter().map(Range::first).collect::<Vec<_>>())
    .bind(ranges.iter().map(Range::last).collect::<Vec<_>>())
    .bind(Moment(now))
    .execute(db)
    .await
    .map_err(StoreError::doing("delegate what was carried over"))?;
    Ok(())
}

/// An open search and what it is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Searched {
    /// The search.
    pub search: SearchId,
    /// The subnet that wants an agent.
    pub subnet: Range,
    /// The address that candidates probe.
    pub target: IpAddr,
}

/// Every open search.
pub async fn searched(store: &Store) -> Result<Vec<Searched>, StoreError> {
    let rows: Vec<(i64, IpAddr, IpAddr, IpAddr)> =
        sqlx::query_as("SELECT id, first, last, target FROM searches WHERE state = 'open' ORDER BY id")
            .fetch_all(store.pool())
            .await
            .map_err(StoreError::doing("read the open searches"))?;
    let searched = |(id, first, last, target)| {
        Ok(Searched { search: SearchId::new(id), subnet: range(first, last)?, target })
    };
    rows.into_iter().map(searched).collect()
}

/// Puts open searches, with the probes they made, on the subnets that their targets lie in now. Where the subnet has an open
/// search or an agent already, the search is over.
pub async fn carry_searches(
    store: &Store,
    moved: &[(SearchId, Range)],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("carry the open searches over");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    for (search, subnet) in moved {
        sqlx::query(
            "UPDATE searches s SET
                 first = $2, last = $3,
                 state = CASE WHEN taken THEN 'decided' ELSE 'open' END,
                 decided_at = CASE WHEN taken THEN $4::timestamptz END
             FROM (SELECT EXISTS (SELECT FROM searches o WHERE o.first = $2 AND o.last = $3 AND o.state = 'open' AND o.id <> $1)
                       OR EXISTS (SELECT FROM delegations d WHERE d.first = $2 AND d.last = $3 AND d.ended_at IS NULL
                                                              AND NOT d.provisional) AS taken) AS t
             WHERE s.id = $1 AND s.state = 'open'",
        )
        .bind(search.get())
        .bind(subnet.first())
        .bind(subnet.last())
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    }
    tx.commit().await.map_err(doing)
}
