//! Background task: asks agents to measure the home addresses of other agents.
//!
//! The times tell where agents are. And what others measure to the home address of an agent is not
//! in the agent's hands: its own reports must agree with that.

use std::collections::{BTreeSet, HashMap};

use delegation::Availability;
use delegation::plausibility::partner_measurements;
use model::{AgentId, Strategy, UnixMillis};
use store::agents::{self, Worker};
use store::home_times::{self, HomeTime};

use crate::predictor::{Predictor, probe_limits};
use crate::runtime::metrics::probes::ProbePurpose;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// A home address is measured again after so long, also by a witness that got no answer.
const REPEAT_AFTER_MS: i64 = 7 * 86_400_000;

/// An agent, and the witness that measures its home address.
type Measurement = (AgentId, AgentId);

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
    let limits = probe_limits(policy.probes);
    let workers = agents::workers(&predictor.store).await?;
    let known = home_times::list(&predictor.store).await?;
    let now = predictor.clock.now();
    let mut ready: Vec<&Worker> = workers.iter().collect();
    ready.retain(|worker| predictor.availability(worker, &limits) == Availability::Ready);
    let ready: BTreeSet<AgentId> = ready.iter().map(|worker| worker.agent).collect();
    let agents: Vec<AgentId> = workers.iter().map(|worker| worker.agent).collect();
    let reports = model.as_ref().map(|model| &model.home_reports);
    let is_accepted = |agent: AgentId| {
        // Nobody has more partners before the first ones were measured.
        let known = reports.and_then(|reports| reports.get(&agent));
        known.is_none_or(|reports| reports.is_accepted || reports.judgements.is_empty())
    };
    let partners = partner_measurements(&agents, is_accepted);
    let mut due = due_measurements(partners, missing, &known, now);
    due.retain(|(_, witness)| ready.contains(witness));
    let ordered =
        if due.is_empty() { 0 } else { home_times::order(&predictor.store, &due, now).await? };
    if ordered == 0 {
        return Ok(Outcome::Idle);
    }
    predictor.probe_metrics.ordered(ProbePurpose::Home, ordered);
    predictor.agent_wakeups.wake(due.iter().map(|(_, witness)| *witness).collect::<Vec<_>>());
    Ok(Outcome::Done(format!("asked for {} of home addresses", quantity(ordered, "measurement"))))
}

/// What is to be measured now: by the partners of each agent, and by one of each pair that the map
/// lacks.
fn due_measurements(
    partners: BTreeSet<Measurement>,
    missing: &[(AgentId, AgentId)],
    known: &[HomeTime],
    now: UnixMillis,
) -> Vec<Measurement> {
    let measured: HashMap<Measurement, UnixMillis> =
        known.iter().map(|time| ((time.agent, time.witness), time.measured_at)).collect();
    let is_due = |wanted: &Measurement| {
        measured.get(wanted).is_none_or(|at| at.plus_ms(REPEAT_AFTER_MS) <= now)
    };
    let mut wanted = partners;
    wanted.extend(measured.keys());
    for (a, b) in missing {
        // The other direction is tried where the first got no answer.
        let untried = [(*a, *b), (*b, *a)].into_iter().find(|pair| !measured.contains_key(pair));
        wanted.extend(untried);
    }
    wanted.into_iter().filter(is_due).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_measured_from_the_other_side_where_one_got_no_answer_and_again_after_a_week() {
        let a = AgentId::new(1);
        let b = AgentId::new(2);
        let none = BTreeSet::new;
        let now = UnixMillis(REPEAT_AFTER_MS);
        let unanswered =
            HomeTime { agent: a, witness: b, rtt_us: None, measured_at: UnixMillis(1) };
        assert_eq!(due_measurements(none(), &[(a, b)], &[], now), [(a, b)]);
        assert_eq!(due_measurements(none(), &[(a, b)], &[unanswered], now), [(b, a)]);
        let week_old = HomeTime { measured_at: UnixMillis(0), ..unanswered };
        assert_eq!(due_measurements(none(), &[], &[week_old], now), [(a, b)]);
    }
}
