//! Judgement of new reports on landmarks, with each fit of the model.

use std::collections::HashMap;
use std::net::IpAddr;

use delegation::plausibility::{self, Judgement, ReferenceTimes};
use model::{AgentId, LandmarkId};
use store::home_times::HomeTime;
use store::landmarks::LandmarkReport;

use crate::predictor::Predictor;
use crate::predictor::observation::millis;
use crate::predictor::report_trust::{ReportJudgement, record_judgements};

/// The judged reports of one agent.
pub(super) type JudgedLandmarks = (AgentId, Vec<ReportJudgement>);

/// The measured ones of the times of home addresses.
pub(super) fn home_times(homes: &[HomeTime]) -> Vec<plausibility::HomeTime> {
    let measured = |home: &HomeTime| {
        let HomeTime { agent, witness, rtt_us, .. } = *home;
        Some(plausibility::HomeTime { agent, witness, ms: millis(rtt_us?) })
    };
    homes.iter().filter_map(measured).collect()
}

/// Judges the reports that do not count yet. `ids` are the landmarks of the reference times, in
/// their order.
pub(super) fn judge(
    references: &ReferenceTimes,
    ids: &[LandmarkId],
    reports: &[LandmarkReport],
) -> Vec<JudgedLandmarks> {
    let mut new: HashMap<AgentId, HashMap<LandmarkId, IpAddr>> = HashMap::new();
    for report in reports.iter().filter(|report| !report.judged) {
        new.entry(report.agent).or_default().insert(report.landmark, report.address);
    }
    let judged = new.into_iter().map(|(agent, new)| {
        let is_new = |landmark: usize| new.contains_key(&ids[landmark]);
        let judgements = plausibility::judge_landmarks(references, agent, is_new);
        let of_landmark = |(landmark, judgement): (usize, Judgement)| {
            let landmark = ids[landmark];
            let target = new.get(&landmark).copied();
            ReportJudgement { landmark: Some(landmark), target, judgement }
        };
        (agent, judgements.into_iter().map(of_landmark).collect())
    });
    judged.filter(|(_, judged): &JudgedLandmarks| !judged.is_empty()).collect()
}

/// Counts the judged reports in the trust of their agents.
pub(super) async fn store(
    predictor: &Predictor,
    judged: Vec<JudgedLandmarks>,
) -> Result<(), anyhow::Error> {
    for (agent, judgements) in judged {
        record_judgements(predictor, agent, &judgements).await?;
    }
    Ok(())
}
