//! Predictor: learns from searches which agent is probably nearest to a subnet.
//!
//! Its state is derived from Postgres: the model from the places of the agents, their times to each
//! other and the trails of searches, the spent budget from the probes of today. A coordinator that
//! becomes the leader derives it again.

mod agent_places;
mod findings;
pub mod measure_homes;
mod observation;
mod probe_budget;
mod report_trust;
mod state;
pub mod train_model;
mod training_window;

use std::sync::Arc;

use delegation::Availability;
use model::policy::ProbesADay;
use model::{DAY_MS, UnixMillis};
use store::Store;
use store::agents::Worker;

use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Limits;
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::metrics::probes::ProbeMetrics;
use crate::runtime::policy::CurrentPolicy;
use crate::runtime::uptime::Uptime;

pub use findings::{propose_splits, store_findings};
pub use observation::Observation;
pub use report_trust::{
    ReportJudgement, read_current_trust, read_trust, record_judgements, search_reports,
};
pub use state::PredictorState;
pub use train_model::ensure_trained;

/// The predictor and the parts that its tasks use.
pub struct Predictor {
    pub store: Store,
    /// How many probes an agent may have at the same time.
    pub limits: Limits,
    /// Time of all decisions and rows.
    pub clock: Arc<dyn Clock>,
    /// Receives the events of this stage.
    pub events: Arc<Events>,
    /// Finds the subnets of searches.
    pub hierarchy: Arc<CurrentHierarchy>,
    /// Strategy, share of control probes, probes a day.
    pub policy: Arc<CurrentPolicy>,
    /// Notifies agents that are asked to measure homes.
    pub agent_wakeups: Arc<AgentWakeups>,
    /// The model and the probes of today.
    pub state: PredictorState,
    /// Counts the probes of all stages.
    pub probe_metrics: ProbeMetrics,
}

impl Predictor {
    /// Whether an agent can be asked for a probe now: it is awake, sends heartbeats, carries out
    /// orders, and has room for another probe, both at the same time and in its budget of the day.
    pub fn availability(&self, worker: &Worker, probe_limits: &ProbesADay) -> Availability {
        let now = self.clock.now();
        let availability = match presence(worker, self.limits.heartbeat_cutoff(now), now) {
            Availability::Ready if worker.orders >= self.limits.orders_per_agent => {
                Availability::Busy
            }
            presence => presence,
        };
        self.within_budget(worker, availability, probe_limits)
    }

    /// This availability of an agent; busy where its probes of the day are used up.
    pub fn within_budget(
        &self,
        worker: &Worker,
        availability: Availability,
        probe_limits: &ProbesADay,
    ) -> Availability {
        let now = self.clock.now();
        self.state
            .budget
            .usage(|usage| usage.availability(probe_limits, worker.agent, availability, now))
    }
}

/// Milliseconds of uptime after which an agent that was expected is not counted on any more: a day.
const ABSENT_AFTER_MS: i64 = DAY_MS;

/// Whether an agent has been away for so long that searches do not wait for it any more. They do
/// again after its next heartbeat. Downtime of the coordinators does not count. Otherwise the first
/// agent that comes back after it would win all searches.
pub fn is_absent(worker: &Worker, uptime: &Uptime, now: UnixMillis) -> bool {
    let expected_at = worker.last_heartbeat_at.max(worker.asleep_until).max(worker.approved_at);
    expected_at.is_some_and(|at| uptime.between_ms(at, now) > ABSENT_AFTER_MS)
}

/// Whether an agent carries out probes now, however many it has to do.
pub fn presence(worker: &Worker, heartbeat_cutoff: UnixMillis, now: UnixMillis) -> Availability {
    let is_reachable = worker.last_heartbeat_at.is_some_and(|at| at >= heartbeat_cutoff);
    if worker.asleep_until.is_some_and(|until| until > now) {
        Availability::Asleep
    } else if !is_reachable {
        Availability::Unreachable
    } else if !worker.takes_probes {
        Availability::Idle
    } else {
        Availability::Ready
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use model::AgentId;

    use super::*;

    #[test]
    fn an_agent_is_absent_a_day_after_it_was_expected() {
        let worker = |last_heartbeat_at, asleep_until| Worker {
            agent: AgentId::new(1),
            home: Ipv4Addr::LOCALHOST.into(),
            approved_at: None,
            last_heartbeat_at,
            asleep_until,
            takes_probes: true,
            orders: 0,
        };
        let at = |days: i64| Some(UnixMillis(days * ABSENT_AFTER_MS));
        let now = UnixMillis(10 * ABSENT_AFTER_MS);
        let is_absent = |last_heartbeat_at, asleep_until| {
            is_absent(&worker(last_heartbeat_at, asleep_until), &Uptime::default(), now)
        };
        assert!(!is_absent(None, None), "it has just joined");
        assert!(!is_absent(at(9), None));
        assert!(is_absent(at(8), None));
        assert!(!is_absent(at(2), at(12)), "it sleeps as it said");
        assert!(is_absent(at(2), at(8)));
        let never_started = |approved_at| Worker { approved_at, ..worker(None, None) };
        let is_absent = |days| super::is_absent(&never_started(at(days)), &Uptime::default(), now);
        assert!(is_absent(8) && !is_absent(9));
    }
}
