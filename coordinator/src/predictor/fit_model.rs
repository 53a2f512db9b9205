//! Background task: fits clusters and prior to the times of landmarks and of decided searches.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use delegation::plausibility::ReferenceTimes;
use delegation::predictor::{Clusters, Prior};
use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, SearchId, UnixMillis};
use store::StoreError;
use store::home_times::{self, HomeTime};
use store::landmarks::{self, LandmarkReport, ReportCounts};
use store::round_trips::{self, RoundTrip};
use store::searches;
use tokio::time::Instant;

use crate::predictor::Predictor;
use crate::predictor::judge_landmarks::{self, JudgedLandmarks};
use crate::predictor::observation::{Observation, landmark_times, millis};
use crate::predictor::state::{FitInput, FittedModel};
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Newest decided searches from which the prior is fitted.
const OBSERVATIONS: usize = 50_000;
/// Decided searches that are read at once.
const BATCH: u32 = 5_000;

/// A fit is due at once when one report in so many is new.
const CHANGED_SHARE: u64 = 50;
/// For fewer new reports a fit waits so long after the last one.
const MIN_INTERVAL_MS: u64 = 10 * 60_000;

/// Fits the model when the times of landmarks have changed enough, or the hierarchy is another. A
/// fit reads every time and thousands of trails, so that it is never part of a search.
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
    predictor.events.emit(Event::ModelFitted);
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

/// Fits the model unless there is one for this hierarchy, even one without landmarks: a search
/// that continues after a restart must not change to the paper's order.
pub async fn ensure_fitted(
    predictor: &Predictor,
    hierarchy: &Arc<Hierarchy>,
) -> Result<(), anyhow::Error> {
    let is_fitted = || {
        let input = predictor.state.fit_input();
        input.is_some_and(|(numbering, _)| numbering == hierarchy.numbering())
    };
    if !is_fitted() {
        let _fitting = predictor.state.fitting.lock().await;
        // Another task may have fitted it while this one waited for the lock.
        if !is_fitted() {
            fit(predictor, hierarchy).await?;
        }
    }
    Ok(())
}

/// Replaces the model, and says how large the new one is. What is learned during the fit may be
/// missing until the next one.
async fn fit(predictor: &Predictor, hierarchy: &Arc<Hierarchy>) -> Result<String, anyhow::Error> {
    let read_at = predictor.clock.now();
    let reports = landmarks::times(&predictor.store).await?;
    let newest = reports.iter().map(|report| report.measured_at).max().unwrap_or(UnixMillis(0));
    let input = FitInput { reports: reports.len() as u64, newest, read_at };
    // Trails say nothing without clusters to compare them with.
    let observations =
        if reports.is_empty() { Vec::new() } else { observations(predictor, hierarchy).await? };
    let homes = home_times::list(&predictor.store).await?;
    let hierarchy = Arc::clone(hierarchy);
    // The computation takes seconds at full size, which would stall the threads of the runtime.
    let computing = tokio::task::spawn_blocking(move || {
        compute(&hierarchy, input, (&reports, &homes), &observations)
    });
    let (model, judged, summary) = computing.await?;
    predictor.state.replace(model);
    judge_landmarks::store(predictor, judged).await?;
    Ok(summary)
}

fn compute(
    hierarchy: &Hierarchy,
    input: FitInput,
    (reports, homes): (&[LandmarkReport], &[HomeTime]),
    observations: &[Observation],
) -> (FittedModel, Vec<JudgedLandmarks>, String) {
    let times = landmark_times(hierarchy, reports);
    let (ids, landmarks): (Vec<_>, Vec<_>) = times.into_iter().unzip();
    let references = ReferenceTimes::new(&landmarks, &judge_landmarks::home_times(homes));
    let judged = judge_landmarks::judge(&references, &ids, reports);
    let clusters = Clusters::fit(&landmarks);
    let prior = Prior::from_landmarks(hierarchy, &clusters);
    let mut model = FittedModel {
        numbering: hierarchy.numbering(),
        clusters,
        prior,
        references: Arc::new(references),
        input,
    };
    if !model.clusters.is_empty() {
        for observation in observations {
            model.learn(hierarchy, observation);
        }
    }
    let summary = format!(
        "{} from {} and {}",
        quantity(model.clusters.len(), "cluster"),
        quantity(landmarks.len(), "landmark"),
        quantity(observations.len(), "observation"),
    );
    (model, judged, summary)
}

/// The newest decided searches, oldest first: a later observation weighs more than an earlier one
/// of the same subnet. Fetches are added to them.
async fn observations(
    predictor: &Predictor,
    hierarchy: &Hierarchy,
) -> Result<Vec<Observation>, StoreError> {
    let mut found = Vec::new();
    let mut before = SearchId::new(i64::MAX);
    while found.len() < OBSERVATIONS {
        let batch = searches::list_decided(&predictor.store, before, BATCH).await?;
        let Some(last) = batch.last() else { break };
        before = last.id;
        found.extend(batch.iter().filter_map(|decided| {
            let subnet = hierarchy.find(&decided.subnet)?;
            let times = decided.times.iter().map(|(agent, rtt_us)| (*agent, millis(*rtt_us)));
            Observation::from_times(subnet, times)
        }));
    }
    found.reverse();
    let round_trips = round_trips::newest(&predictor.store, OBSERVATIONS).await?;
    add_fetches(hierarchy, &mut found, &round_trips);
    Ok(found)
}

/// Adds the round trips of fetches: to the last observation of their subnet where its probes did
/// not ask that agent, else as an observation of its own.
fn add_fetches(
    hierarchy: &Hierarchy,
    observations: &mut Vec<Observation>,
    round_trips: &[RoundTrip],
) {
    // A fetch includes the server's delay; the shortest is nearest to the round trip of a probe.
    let mut shortest: BTreeMap<(SubnetId, AgentId), RoundTrip> = BTreeMap::new();
    for one in round_trips {
        let known = shortest.entry((hierarchy.smallest(one.address), one.agent)).or_insert(*one);
        known.rtt_us = known.rtt_us.min(one.rtt_us);
    }
    let mut last: HashMap<SubnetId, usize> =
        observations.iter().enumerate().map(|(index, seen)| (seen.subnet, index)).collect();
    for fetched in shortest.values().map(|one| Observation::from_fetch(hierarchy, one)) {
        if let Some(index) = last.get(&fetched.subnet) {
            let known = &mut observations[*index].times_ms;
            for (agent, rtt_ms) in fetched.times_ms {
                if known.iter().all(|(other, _)| *other != agent) {
                    known.push((agent, rtt_ms));
                }
            }
        } else {
            last.insert(fetched.subnet, observations.len());
            observations.push(fetched);
        }
    }
}

#[cfg(test)]
mod tests {
    use hierarchy::{Builder, CompanyIndex, Generation, Record, SubnetKind};

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

    fn two_subnets() -> Hierarchy {
        let mut builder = Builder::default();
        for range in ["198.51.100.0/24", "203.0.113.0/24"] {
            let range = range.parse().unwrap();
            let kind = SubnetKind::Delegated;
            builder.add(Record { range, kind, registry: None, company: None, country: None });
        }
        builder.build(Generation::new(1), CompanyIndex::default().into_companies()).0
    }

    #[test]
    fn fetches_complete_observations_of_probes_and_add_their_own() {
        let hierarchy = two_subnets();
        let id = |subnet: &str| hierarchy.find(&subnet.parse().unwrap()).unwrap();
        let one = AgentId::new(1);
        let two = AgentId::new(2);
        let observation = |subnet, times_ms| Observation { subnet: id(subnet), times_ms };
        let mut observations = vec![observation("198.51.100.0/24", vec![(one, 10.0)])];
        let from = |address: &str, agent, rtt_us| RoundTrip {
            address: address.parse().unwrap(),
            agent,
            rtt_us,
        };
        let round_trips = [
            from("198.51.100.1", one, 8_000),
            from("198.51.100.1", two, 95_000),
            from("198.51.100.9", two, 90_000),
            from("203.0.113.7", two, 7_000),
        ];
        add_fetches(&hierarchy, &mut observations, &round_trips);
        assert_eq!(
            observations,
            [
                observation("198.51.100.0/24", vec![(one, 10.0), (two, 90.0)]),
                observation("203.0.113.0/24", vec![(two, 7.0)])
            ]
        );
    }
}
