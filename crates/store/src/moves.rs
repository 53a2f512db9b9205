//! Moves: subnets that balance gave to other agents.

use hierarchy::Range;
use model::{AgentId, BalanceRule, DelegationId, MoveId, UnixMillis};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::columns::{ReadColumn as _, bigint, range, read_word};
use crate::delegations::{Assignment, Cause, DelegationOutcome, assign_in};
use crate::moment::Moment;
use crate::{Store, StoreError};

/// The word of `moves.rule` for a move of a plan.
const OPTIMAL: &str = "optimal";

/// Why a subnet is moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveCause {
    /// It relieves its agent, and this rule chose it.
    Rule(BalanceRule),
    /// It is one of several moves that relieve agents only together.
    Relief,
    /// It is one of a pass, which moves towards the cheapest plan.
    Pass,
}

impl MoveCause {
    /// Name of the rule, or of the cause where no rule chose the subnet.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rule(rule) => rule.as_str(),
            Self::Relief => "relief",
            Self::Pass => OPTIMAL,
        }
    }

    /// Its word in `moves.rule`.
    fn rule(self) -> &'static str {
        match self {
            Self::Relief => OPTIMAL,
            Self::Rule(_) | Self::Pass => self.as_str(),
        }
    }
}

/// A subnet to be moved.
#[derive(Debug, Clone, Copy)]
pub struct New<'a> {
    pub subnet: Range,
    /// Who has it.
    pub from: AgentId,
    /// Who gets it.
    pub to: AgentId,
    /// Fencing number of its present delegation.
    pub fencing_number: i64,
    /// Why it is moved.
    pub cause: MoveCause,
    /// Its pages a day; at least 1.
    pub pages_a_day: u64,
    /// Its cost where it is, in milliseconds a day; none if it was not measured.
    pub before_ms: Option<f64>,
    /// Its cost where it goes, in milliseconds a day.
    pub after_ms: f64,
    /// Whether the region of both agents moves the hosts by itself.
    pub is_within_region: bool,
    /// Alternatives that were not taken, as `moves.refused` has them.
    pub refused: &'a Value,
    /// Why, in words, for the audit.
    pub note: &'a str,
}

/// Assigns a subnet to another agent and stores the reason, in one transaction.
pub async fn execute(
    store: &Store,
    new: &New<'_>,
    now: UnixMillis,
) -> Result<DelegationOutcome, StoreError> {
    let doing = StoreError::doing("move a subnet");
    let mut tx = store.begin().await.map_err(doing)?;
    let assignment = Assignment {
        subnet: new.subnet,
        agent: new.to,
        fencing_number: new.fencing_number,
        cause: Cause::Balance,
        by: "coordinator",
        note: new.note,
    };
    let moved_from = new.is_within_region.then_some(new.from);
    let assigned = assign_in(&mut tx, &assignment, moved_from, now).await?;
    let DelegationOutcome::Applied(delegation) = assigned else { return Ok(assigned) };
    sqlx::query(include_str!("moves/execute.sql"))
        .bind(Moment(now))
        .bind(new.subnet.first())
        .bind(new.subnet.last())
        .bind(new.from.get())
        .bind(new.to.get())
        .bind(delegation.get())
        .bind(new.cause.rule())
        .bind(new.cause != MoveCause::Pass)
        .bind(bigint(new.pages_a_day))
        .bind(new.before_ms)
        .bind(new.after_ms)
        .bind(new.refused)
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    tx.commit().await.map_err(doing)?;
    Ok(assigned)
}

/// A move that was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// Primary key of the row.
    pub id: MoveId,
    /// When it was written.
    pub at: UnixMillis,
    pub subnet: Range,
    /// Who had it, with the name.
    pub from: (AgentId, String),
    /// Who got it, with the name.
    pub to: (AgentId, String),
    /// The delegation that the move made.
    pub delegation: DelegationId,
    /// Why it is moved.
    pub cause: MoveCause,
    /// Its pages a day then.
    pub pages_a_day: u64,
    /// Its cost where it was, in milliseconds a day.
    pub before_ms: Option<f64>,
    /// Its cost where it went, in milliseconds a day.
    pub after_ms: f64,
    /// Alternatives that were not taken, as `moves.refused` has them.
    pub refused: Value,
}

impl FromRow<'_, PgRow> for Move {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            id: MoveId::new(id),
            at: row.read("at")?,
            subnet: range(row.try_get("first")?, row.try_get("last")?)?,
            from: (row.read("from_agent")?, row.try_get("from_name")?),
            to: (row.read("to_agent")?, row.try_get("to_name")?),
            delegation: row.read("delegation")?,
            cause: match (row.try_get("rule")?, row.try_get("is_relief")?) {
                (OPTIMAL, false) => MoveCause::Pass,
                (OPTIMAL, true) => MoveCause::Relief,
                (rule, _) => MoveCause::Rule(read_word("moves", "rule", id, rule)?),
            },
            pages_a_day: row.read("pages_a_day")?,
            before_ms: row.try_get("cost_before_ms")?,
            after_ms: row.try_get("cost_after_ms")?,
            refused: row.try_get("refused")?,
        })
    }
}

/// Moves with a number below `before`, the newest first.
pub async fn list(store: &Store, before: i64, limit: i64) -> Result<Vec<Move>, StoreError> {
    sqlx::query_as(include_str!("moves/list.sql"))
        .bind(before)
        .bind(limit)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the moves"))
}

/// The move behind a delegation, also if a new generation of the hierarchy has remapped it since.
pub async fn of_delegation(
    store: &Store,
    delegation: DelegationId,
) -> Result<Option<Move>, StoreError> {
    let id: Option<i64> = sqlx::query_scalar(
        "WITH RECURSIVE line AS (
            SELECT id, remapped_from FROM delegations WHERE id = $1
            UNION ALL
            SELECT d.id, d.remapped_from FROM delegations d JOIN line ON d.id = line.remapped_from
         )
         SELECT m.id FROM moves m JOIN line ON m.delegation = line.id ORDER BY m.id DESC LIMIT 1",
    )
    .bind(delegation.get())
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find the move behind a delegation"))?;
    let Some(id) = id else { return Ok(None) };
    Ok(list(store, id.saturating_add(1), 1).await?.into_iter().find(|found| found.id.get() == id))
}

/// How many subnets passes have moved since then.
pub async fn of_passes_since(store: &Store, since: UnixMillis) -> Result<u64, StoreError> {
    let count: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM moves WHERE rule = 'optimal' AND NOT is_relief AND at > $1",
    )
    .bind(Moment(since))
    .fetch_one(&store.pool())
    .await
    .map_err(StoreError::doing("count the moves of a day"))?;
    Ok(count.unsigned_abs())
}
