//! Background task: asks agents to measure the home addresses of other agents.
//!
//! The times tell where agents are. In addition, an agent cannot influence what others measure to
//! its home address, and its own reports must agree with that.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use delegation::Availability;
use delegation::home_measurements::wanted_measurements;
use delegation::plausibility::HomeMeasurement;
use model::{AgentId, DAY_MS, Strategy, UnixMillis};
use store::agents::{self, Worker};
use store::home_times;

use crate::predictor::Predictor;
use crate::runtime::metrics::probes::ProbePurpose;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// A home address is measured again after so long, also by a witness that got no answer.
const REPEAT_AFTER_MS: i64 = 7 * DAY_MS;

/// Orders the measurements that are missing or old, from agents that are ready. Agents are few, so
/// that all known times are read.
pub async fn run(predictor: &Predictor) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = predictor.hierarchy.current() else { return Ok(Outcome::Idle) };
    let policy = predictor.policy.load_full();
    if policy.strategy != Strategy::Predictive && policy.control_permille == 0 {
        return Ok(Outcome::Idle);
    }
    let model = predictor.state.model(delegated.hierarchy());
    let missing = model.as_ref().map_or(&[][..], |model| &model.missing);
    let workers = agents::workers(&predictor.store).await?;
    let known = home_times::list(&predictor.store).await?;
    let now = predictor.clock.now();
    let mut ready: Vec<&Worker> = workers.iter().collect();
    ready.retain(|worker| predictor.availability(worker, &policy.probes) == Availability::Ready);
    let ready: BTreeSet<AgentId> = ready.iter().map(|worker| worker.agent).collect();
    let agents: Vec<AgentId> = workers.iter().map(|worker| worker.agent).collect();
    let reports = model.as_ref().map(|model| Arc::clone(&model.home_reports)).unwrap_or_default();
    let measured: HashMap<HomeMeasurement, UnixMillis> =
        known.iter().map(|time| ((time.agent, time.witness), time.measured_at)).collect();
    let was_tried = |pair: &HomeMeasurement| measured.contains_key(pair);
    let is_ready = |agent| ready.contains(&agent);
    let wanted = wanted_measurements(&agents, &reports, missing, was_tried, is_ready);
    let mut due = due_measurements(wanted, &measured, now);
    due.retain(|(_, witness)| ready.contains(witness));
    if due.is_empty() {
        return Ok(Outcome::Idle);
    }
    let asked = home_times::order(&predictor.store, &due, now).await?;
    if asked.is_empty() {
        return Ok(Outcome::Idle);
    }
    let count = asked.len();
    predictor.state.budget.record_others(&asked, now);
    predictor.probe_metrics.ordered(ProbePurpose::Home, count as u64);
    predictor.agent_wakeups.wake(asked);
    Ok(Outcome::Done(format!("asked for {} of home addresses", quantity(count, "measurement"))))
}

/// What is to be measured now: what was never measured, and everything known again after a week.
fn due_measurements(
    mut wanted: BTreeSet<HomeMeasurement>,
    measured: &HashMap<HomeMeasurement, UnixMillis>,
    now: UnixMillis,
) -> Vec<HomeMeasurement> {
    let is_due = |wanted: &HomeMeasurement| {
        measured.get(wanted).is_none_or(|at| at.plus_ms(REPEAT_AFTER_MS) <= now)
    };
    wanted.extend(measured.keys());
    wanted.into_iter().filter(is_due).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_measured_again_after_a_week() {
        let pair = (AgentId::new(1), AgentId::new(2));
        let wanted = || BTreeSet::from([pair]);
        let now = UnixMillis(REPEAT_AFTER_MS);
        assert_eq!(due_measurements(wanted(), &HashMap::new(), now), [pair]);
        let today = HashMap::from([(pair, UnixMillis(1))]);
        assert_eq!(due_measurements(wanted(), &today, now), []);
        let week_old = HashMap::from([(pair, UnixMillis(0))]);
        assert_eq!(due_measurements(BTreeSet::new(), &week_old, now), [pair]);
    }
}
