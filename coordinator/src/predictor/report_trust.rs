//! Trust in the reports of agents, as the store has it.

use std::collections::HashMap;
use std::net::IpAddr;

use delegation::plausibility::{
    HomeReports, Judgement, ReferenceTimes, ReportKind, SearchReports, Trust,
};
use model::{AgentId, UnixMillis};
use serde_json::Value;
use store::trust::{self, Contradiction};
use store::{Store, StoreError};

use crate::predictor::Predictor;
use crate::predictor::agent_places::home_times;
use crate::runtime::events::Event;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportJudgement {
    /// The address that was measured.
    pub target: Option<IpAddr>,
    /// What others say about the report.
    pub judgement: Judgement,
}

impl ReportJudgement {
    /// The numbers of a report that others contradict.
    pub fn contradiction(&self, now: UnixMillis) -> Option<Contradiction> {
        let judgement = self.judgement;
        judgement.is_contradicted().then(|| Contradiction {
            target: self.target,
            reported_us: micros(judgement.reported_ms),
            least_us: micros(judgement.least_ms),
            witness: judgement.witness.map(|witness| (witness.agent, micros(witness.ms))),
            apart_us: judgement.apart_ms.map(micros),
            judged_at: now,
        })
    }
}

/// How the reports of agents in searches were judged.
pub async fn search_reports(store: &Store) -> Result<HashMap<AgentId, SearchReports>, StoreError> {
    let tests = trust::tests(store).await?;
    Ok(tests.into_iter().map(|(agent, tests)| (agent, decode(Some(tests)))).collect())
}

/// The trust in all agents with judged reports. The leader judges the reports on homes when one is
/// new; other coordinators judge them here.
pub async fn read_trust(predictor: &Predictor) -> Result<HashMap<AgentId, Trust>, StoreError> {
    match predictor.state.home_reports() {
        Some(homes) => Ok(Trust::of_all(&homes, search_reports(&predictor.store).await?)),
        None => read_current_trust(&predictor.store).await,
    }
}

/// The trust in all agents by what the store has now. Reports of agents that do not work any more
/// are not among it.
pub async fn read_current_trust(store: &Store) -> Result<HashMap<AgentId, Trust>, StoreError> {
    let searches = search_reports(store).await?;
    // Only times with an answer judge a report, so that it does not matter who is gone.
    let homes = home_times(&store::home_times::list(store).await?, |_| false);
    Ok(Trust::of_all(&HomeReports::judge_all(&ReferenceTimes::new(&homes)), searches))
}

/// Tests of another version of the program cannot be read. Then the agent starts with new tests.
fn decode(tests: Option<Value>) -> SearchReports {
    let known = serde_json::from_value::<Option<SearchReports>>(tests.unwrap_or(Value::Null));
    known.ok().flatten().unwrap_or_default()
}

/// Counts judged reports of an agent. Emits an event when some are contradicted: together with
/// others they may prove that it forges.
pub async fn record_judgements(
    predictor: &Predictor,
    agent: AgentId,
    judged: &[(ReportKind, ReportJudgement)],
) -> Result<(), anyhow::Error> {
    let now = predictor.clock.now();
    let contradictions: Vec<Contradiction> =
        judged.iter().filter_map(|(_, report)| report.contradiction(now)).collect();
    trust::record(&predictor.store, agent, &contradictions, |tests| {
        let mut searches = decode(tests);
        for (kind, report) in judged {
            searches.observe(*kind, &report.judgement);
        }
        Ok::<_, anyhow::Error>(serde_json::to_value(searches)?)
    })
    .await?;
    if !contradictions.is_empty() {
        predictor.events.emit(Event::ForgeryFound);
    }
    Ok(())
}

fn micros(ms: f64) -> u32 {
    (ms * 1000.0).round().clamp(0.0, f64::from(u32::MAX)) as u32
}
