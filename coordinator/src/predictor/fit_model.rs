//! Background task: fits clusters and distances of agents to the times of landmarks.

use std::sync::Arc;

use delegation::plausibility::ReferenceTimes;
use delegation::predictor::Clusters;
use hierarchy::Hierarchy;
use model::UnixMillis;
use store::StoreError;
use store::home_times::{self, HomeTime};
use store::landmarks::{self, LandmarkReport, ReportCounts};
use tokio::time::Instant;

use crate::predictor::Predictor;
use crate::predictor::judge_landmarks::{self, JudgedLandmarks};
use crate::predictor::observation::landmark_times;
use crate::predictor::state::{FitInput, FittedModel};
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// A fit is due at once when one report in so many is new.
const CHANGED_SHARE: u64 = 50;
/// For fewer new reports a fit waits so long after the last one.
const MIN_INTERVAL_MS: u64 = 10 * 60_000;

/// Fits the model when the times of landmarks have changed enough, or the hierarchy is another. A
/// fit reads every time, so that it is never part of a search.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let hierarchy = delegated.hierarchy();
    let fitted = predictor.state.fit_input();
    let input =
        fitted.filter(|(numbering, _)| *numbering == hierarchy.numbering()).map(|(_, input)| input);
    let since = input.map_or(UnixMillis(0), |input| input.newest);
    let stock = report_counts(predictor, since).await?;
    if !is_due(input, stock, predictor.clock.now()) {
        return Ok(Outcome::Idle);
    }
    let began = Instant::now();
    let summary = {
        let _fitting = predictor.state.fitting.lock().await;
        fit(predictor, hierarchy).await?
    };
    Ok(Outcome::Done(format!("fitted {summary} in {} ms", began.elapsed().as_millis())))
}

/// Above so many reports they are counted only when there may be new ones.
const COUNTED_ALWAYS: u64 = 10_000;

/// Counts the reports; from memory where nothing can have changed since they were counted.
async fn report_counts(
    predictor: &Predictor,
    since: UnixMillis,
) -> Result<ReportCounts, StoreError> {
    let stamp = landmarks::stamp(&predictor.store).await?;
    if let Some(counts) = predictor.state.counted(stamp, since)
        && counts.reports > COUNTED_ALWAYS
    {
        return Ok(counts);
    }
    let counts = landmarks::count_reports(&predictor.store, since).await?;
    predictor.state.set_counted(stamp, since, counts);
    Ok(counts)
}

fn is_due(input: Option<FitInput>, stock: ReportCounts, now: UnixMillis) -> bool {
    let Some(input) = input else { return stock.reports > 0 };
    // An agent or a landmark is gone: the model still predicts from its times.
    let fewer = stock.reports < input.reports;
    let changed = stock.newer.max(stock.reports.abs_diff(input.reports));
    let rested = now.distance_ms(input.read_at) >= MIN_INTERVAL_MS;
    fewer || changed > stock.reports / CHANGED_SHARE || (rested && changed > 0)
}

/// Replaces the model, and says how large the new one is.
async fn fit(predictor: &Predictor, hierarchy: &Arc<Hierarchy>) -> Result<String, anyhow::Error> {
    let read_at = predictor.clock.now();
    let reports = landmarks::times(&predictor.store).await?;
    let newest = reports.iter().map(|report| report.measured_at).max().unwrap_or(UnixMillis(0));
    let input = FitInput { reports: reports.len() as u64, newest, read_at };
    let homes = home_times::list(&predictor.store).await?;
    let hierarchy = Arc::clone(hierarchy);
    // The computation takes seconds at full size, which would stall the threads of the runtime.
    let computing =
        tokio::task::spawn_blocking(move || compute(&hierarchy, input, (&reports, &homes)));
    let (model, judged, summary) = computing.await?;
    predictor.state.replace_fitted(model);
    judge_landmarks::store(predictor, judged).await?;
    Ok(summary)
}

fn compute(
    hierarchy: &Hierarchy,
    input: FitInput,
    (reports, homes): (&[LandmarkReport], &[HomeTime]),
) -> (FittedModel, Vec<JudgedLandmarks>, String) {
    let times = landmark_times(hierarchy, reports);
    let (ids, landmarks): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let references = ReferenceTimes::new(&landmarks, &judge_landmarks::home_times(homes));
    let judged = judge_landmarks::judge(&references, &ids, reports);
    let clusters = Clusters::fit(&landmarks);
    let model = FittedModel {
        numbering: hierarchy.numbering(),
        clusters,
        references: Arc::new(references),
        input,
    };
    let summary = format!(
        "{} from {}",
        quantity(model.clusters.len(), "cluster"),
        quantity(landmarks.len(), "landmark"),
    );
    (model, judged, summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ_AT: UnixMillis = UnixMillis(1_000);

    fn due(reports: u64, newer: u64, fitted: Option<u64>, later_ms: i64) -> bool {
        let newest = UnixMillis(5);
        let input = fitted.map(|reports| FitInput { reports, newest, read_at: READ_AT });
        is_due(input, ReportCounts { reports, newer }, READ_AT.plus_ms(later_ms))
    }

    #[test]
    fn a_fit_follows_the_first_report_then_one_in_fifty() {
        assert!(!due(0, 0, None, 0));
        assert!(due(1, 1, None, 0));
        assert!(!due(1_000, 20, Some(1_000), 0));
        assert!(due(1_000, 21, Some(1_000), 0));
        assert!(due(999, 0, Some(1_000), 0), "an agent or a landmark is gone");
        assert!(due(2, 1, Some(1), 0), "with few reports every new one counts");
        assert!(due(27, 0, Some(26), 0), "two reports came in the same moment");
    }

    #[test]
    fn a_few_reports_wait_for_ten_minutes() {
        assert!(!due(1_000, 1, Some(1_000), 599_999));
        assert!(due(1_000, 1, Some(1_000), 600_000));
        assert!(!due(1_000, 0, Some(1_000), 600_000), "nothing is new");
    }
}
