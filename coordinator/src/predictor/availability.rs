//! Which agents can be asked for a probe now.

use delegation::Availability;
use model::UnixMillis;
use store::agents::Worker;

use crate::runtime::config::Limits;

/// Whether an agent can be asked now, apart from the probes a day that the policy allows.
pub fn availability(limits: &Limits, worker: &Worker, now: UnixMillis) -> Availability {
    let is_reachable = worker.last_heartbeat_at.is_some_and(|at| at >= limits.heard_since(now));
    if worker.asleep_until.is_some_and(|until| until > now) {
        Availability::Asleep
    } else if !is_reachable {
        Availability::Unreachable
    } else if worker.orders >= limits.orders_per_agent {
        Availability::Busy
    } else {
        Availability::Ready
    }
}
