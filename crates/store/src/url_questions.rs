//! Questions of people to agents about URLs, on their way in heartbeats.

use model::{AgentId, UnixMillis};
use protocol::host_status::{HostStatus, UrlStatus};
use protocol::limits::QUESTIONS_PER_HEARTBEAT;
use sqlx::types::Json;

use crate::columns::bigint;
use crate::line::one_line;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// How long a question is kept, in milliseconds.
const KEPT_MS: i64 = 3_600_000;

/// An agent's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What the agent said.
    pub status: UrlStatus,
    /// When it arrived.
    pub at: UnixMillis,
}

/// Asks an agent about a URL. The question goes with the next answer to a heartbeat.
pub async fn ask(
    store: &Store,
    agent: AgentId,
    url: &str,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("ask an agent about a URL");
    sqlx::query("DELETE FROM url_questions WHERE asked_at < $1")
        .bind(Moment(now.plus_ms(-KEPT_MS)))
        .execute(&store.pool())
        .await
        .map_err(doing)?;
    sqlx::query(
        "INSERT INTO url_questions (agent, url, asked_at) VALUES ($1, $2, $3)
         ON CONFLICT (agent, url) DO UPDATE SET asked_at = excluded.asked_at, sent_at = NULL",
    )
    .bind(agent.get())
    .bind(url)
    .bind(Moment(now))
    .execute(&store.pool())
    .await
    .map_err(doing)?;
    Ok(())
}

/// Takes the questions that were not sent to the agent yet.
pub async fn take(
    store: &Store,
    agent: AgentId,
    now: UnixMillis,
) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(
        "UPDATE url_questions SET sent_at = $2
         WHERE agent = $1 AND url IN (SELECT url FROM url_questions
             WHERE agent = $1 AND sent_at IS NULL ORDER BY asked_at LIMIT $3)
         RETURNING url",
    )
    .bind(agent.get())
    .bind(Moment(now))
    .bind(bigint(QUESTIONS_PER_HEARTBEAT))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read the questions to an agent"))
}

/// Stores answers of an agent; those without a question are dropped.
pub async fn answer(
    store: &Store,
    agent: AgentId,
    answers: &[UrlStatus],
    now: UnixMillis,
) -> Result<(), StoreError> {
    for status in answers.iter().take(QUESTIONS_PER_HEARTBEAT) {
        sqlx::query(
            "UPDATE url_questions SET answered_at = $3, answer = $4 WHERE agent = $1 AND url = $2",
        )
        .bind(agent.get())
        .bind(&status.url)
        .bind(Moment(now))
        .bind(Json(with_plain_texts(status)))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("store an agent's answer about a URL"))?;
    }
    Ok(())
}

/// The answer with the agent's texts as they are shown to people.
fn with_plain_texts(status: &UrlStatus) -> UrlStatus {
    let HostStatus { host, reason, next, .. } = &status.host;
    let host = HostStatus {
        host: one_line(host),
        reason: one_line(reason),
        next: next.as_deref().map(one_line),
        ..status.host.clone()
    };
    UrlStatus { host, ..status.clone() }
}

/// The last answer of an agent about a URL.
pub async fn find(store: &Store, agent: AgentId, url: &str) -> Result<Option<Answer>, StoreError> {
    let found: Option<(Json<UrlStatus>, Moment)> = sqlx::query_as(
        "SELECT answer, answered_at FROM url_questions
         WHERE agent = $1 AND url = $2 AND answered_at IS NOT NULL",
    )
    .bind(agent.get())
    .bind(url)
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("read an agent's answer about a URL"))?;
    Ok(found.map(|(status, at)| Answer { status: status.0, at: at.0 }))
}
