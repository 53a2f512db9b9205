//! Trust in the reports of agents, as the store has it.

use std::collections::HashMap;
use std::net::IpAddr;

use delegation::plausibility::{Judgement, Trust, TrustLevel, Verdict};
use model::{AgentId, LandmarkId};
use serde_json::Value;
use store::trust::{self, Contradiction, JudgedReport};

use crate::predictor::Predictor;
use crate::runtime::events::Event;

/// A report with its judgement.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReportJudgement {
    /// The landmark that was measured; none for a search.
    pub landmark: Option<LandmarkId>,
    /// The address that was measured.
    pub target: Option<IpAddr>,
    /// What others say about the report.
    pub judgement: Judgement,
}

/// The trust in all agents with judged reports.
pub async fn read_trust(store: &store::Store) -> Result<HashMap<AgentId, Trust>, anyhow::Error> {
    let tests = trust::tests(store).await?;
    tests.into_iter().map(|(agent, tests)| Ok((agent, decode_trust(Some(tests))?))).collect()
}

/// Counts judged reports of an agent. Emits an event when its reports turn out to be forged.
pub async fn record_judgements(
    predictor: &Predictor,
    agent: AgentId,
    judgements: &[ReportJudgement],
) -> Result<(), anyhow::Error> {
    let now = predictor.clock.now();
    let judged = |report: &ReportJudgement| {
        let judgement = report.judgement;
        let contradiction = judgement.is_contradicted().then(|| Contradiction {
            target: report.target,
            reported_us: micros(judgement.reported_ms),
            least_us: micros(judgement.least_ms),
            witness: judgement.witness.map(|witness| (witness.agent, micros(witness.ms))),
            apart_us: judgement.apart_ms.map(micros),
            judged_at: now,
        });
        JudgedReport { landmark: report.landmark, contradiction }
    };
    let judged: Vec<JudgedReport> = judgements.iter().map(judged).collect();
    let mut is_forging = false;
    trust::record(&predictor.store, agent, &judged, |tests, counted| {
        let mut trust = decode_trust(tests)?;
        for report in counted {
            let witness = report.contradiction.as_ref().map(|found| found.witness);
            let verdict = match witness {
                None => Verdict::Plausible,
                Some(None) => Verdict::Impossible,
                Some(Some((witness, _))) => Verdict::ContradictedBy(witness),
            };
            match report.landmark {
                Some(_) => trust.observe_landmark(verdict),
                None => trust.observe_win(verdict),
            }
        }
        is_forging = trust.level() == TrustLevel::Forging;
        Ok::<_, anyhow::Error>(serde_json::to_value(trust)?)
    })
    .await?;
    if is_forging {
        predictor.events.emit(Event::ForgeryFound);
    }
    Ok(())
}

/// The tests on an agent's reports. Null stands for an agent without judged reports.
pub fn decode_trust(tests: Option<Value>) -> Result<Trust, serde_json::Error> {
    let tests: Option<Trust> = serde_json::from_value(tests.unwrap_or(Value::Null))?;
    Ok(tests.unwrap_or_default())
}

fn micros(ms: f64) -> u32 {
    (ms * 1000.0).round().clamp(0.0, f64::from(u32::MAX)) as u32
}
