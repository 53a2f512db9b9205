//! Control probe: another agent's probe that separates a slow path from a slow server.

use model::{AgentId, IncidentCause};

use super::cause;

/// An agent that measured the subnet before the incident.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlProbe {
    /// The agent that probes again.
    pub agent: AgentId,
    /// Its round trip before the incident, in microseconds.
    pub before_us: u32,
}

impl ControlProbe {
    /// The best control probe for an incident of `slow`, which had the round trip `own_us` when it
    /// got the subnet: of another agent that is ready and measured the subnet then (the nearest of
    /// them), or else of `slow` itself. `measured` is sorted, fastest first.
    pub fn choose(
        slow: AgentId,
        own_us: Option<u32>,
        measured: &[(AgentId, u32)],
        is_ready: impl Fn(AgentId) -> bool,
    ) -> Option<Self> {
        let others = measured.iter().filter(|(agent, _)| *agent != slow);
        let ready = others.map(|(agent, us)| (*agent, *us)).find(|(agent, _)| is_ready(*agent));
        let own = own_us.filter(|_| is_ready(slow)).map(|us| (slow, us));
        ready.or(own).map(|(agent, before_us)| Self { agent, before_us })
    }

    /// Whether a second control probe, of one more agent, is asked for before the server is blamed.
    /// The slower path is measured, so that the verdict of one agent, whose own path varies over
    /// the day as well, is not enough against it. `path_ratio` is the recent round trip over the
    /// usual one; none where only pages were slow.
    pub fn needs_second(path_ratio: Option<f64>, cause: IncidentCause, so_far: u32) -> bool {
        path_ratio.is_some_and(|ratio| ratio > 1.0) && cause == IncidentCause::Server && so_far < 2
    }

    /// The cause by the path of the agent itself: the server, when pages became slower and the path
    /// did not. None where the path is not known or became slower as well; then a control probe
    /// finds the cause.
    pub fn cause_by_path(ratio: f64, path_ratio: Option<f64>) -> Option<IncidentCause> {
        let is_usual = path_ratio.is_some_and(|path| path < ratio.max(1.0).sqrt());
        is_usual.then_some(IncidentCause::Server)
    }

    /// The cause of an incident, when the pages that `slow` fetches take `ratio` times as long as
    /// usual and the control probe measures `now_us`. When another agent sees the slowdown too, the
    /// server is the cause ([`cause`]). `slow` itself blames its path when its own round trip has
    /// grown, and else the server, which takes longer to answer.
    pub fn cause(&self, slow: AgentId, ratio: f64, now_us: u32) -> IncidentCause {
        let ms = |us: u32| f64::from(us) / 1_000.0;
        let by_probe = cause(ratio, ms(self.before_us), ms(now_us));
        match (self.agent == slow, by_probe) {
            (false, cause) => cause,
            (true, IncidentCause::Server) => IncidentCause::Path,
            (true, IncidentCause::Path) => IncidentCause::Server,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: AgentId = AgentId::new(1);
    const NEXT: AgentId = AgentId::new(2);
    const FAR: AgentId = AgentId::new(3);
    const MEASURED: [(AgentId, u32); 3] = [(SLOW, 9_000), (NEXT, 30_000), (FAR, 80_000)];

    #[test]
    fn another_agent_that_measured_before_is_the_best_control() {
        let choose = |measured: &[(AgentId, u32)], asleep: &[AgentId]| {
            ControlProbe::choose(SLOW, Some(9_000), measured, |agent| !asleep.contains(&agent))
        };
        assert_eq!(choose(&MEASURED, &[]), Some(ControlProbe { agent: NEXT, before_us: 30_000 }));
        assert_eq!(
            choose(&MEASURED, &[NEXT]),
            Some(ControlProbe { agent: FAR, before_us: 80_000 })
        );
        assert_eq!(
            choose(&MEASURED[..1], &[]),
            Some(ControlProbe { agent: SLOW, before_us: 9_000 })
        );
        assert_eq!(choose(&MEASURED, &[SLOW, NEXT, FAR]), None);
        assert_eq!(ControlProbe::choose(SLOW, None, &[], |_| true), None, "no agent has measured");
    }

    #[test]
    fn a_measured_path_is_believed() {
        let server = IncidentCause::Server;
        assert_eq!(ControlProbe::cause_by_path(4.0, Some(1.0)), Some(server));
        assert_eq!(ControlProbe::cause_by_path(4.0, Some(2.1)), None);
        assert_eq!(ControlProbe::cause_by_path(4.0, None), None);
        assert!(ControlProbe::needs_second(Some(2.0), server, 1));
        assert!(!ControlProbe::needs_second(Some(2.0), server, 2));
        assert!(!ControlProbe::needs_second(Some(2.0), IncidentCause::Path, 1));
        assert!(!ControlProbe::needs_second(None, server, 1));
    }

    #[test]
    fn a_server_is_slow_for_all_agents_and_a_path_for_one() {
        let other = ControlProbe { agent: NEXT, before_us: 30_000 };
        assert_eq!(other.cause(SLOW, 4.0, 31_000), IncidentCause::Path);
        assert_eq!(other.cause(SLOW, 4.0, 130_000), IncidentCause::Server);
        let own = ControlProbe { agent: SLOW, before_us: 9_000 };
        assert_eq!(own.cause(SLOW, 4.0, 109_000), IncidentCause::Path);
        assert_eq!(own.cause(SLOW, 4.0, 9_500), IncidentCause::Server);
    }
}
