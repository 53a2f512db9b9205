//! Who can tell a slow way from a slow server?

use model::{AgentId, IncidentCause};

use super::cause;

/// An agent that measured the subnet when all was well, and what it measured, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ControlProbe {
    /// Who.
    pub agent: AgentId,
    /// Its round trip then.
    pub before_us: u32,
}

impl ControlProbe {
    /// The best control probe against `slow`, which had the round trip `own_us` when it got the subnet:
    /// another agent, ready to measure, that measured the subnet then (the nearest of them), or
    /// else `slow` itself. `measured` comes fastest first.
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

    /// Why the pages that `slow` fetches take `ratio` times as long as usual, when the control probe
    /// measures `now_us`. Another agent that sees it too blames the server ([`cause`]). `slow`
    /// itself blames its way when its own round trip has grown, and else the server, which is slow
    /// to think.
    pub fn cause(&self, slow: AgentId, ratio: f64, now_us: u32) -> IncidentCause {
        let ms = |us: u32| f64::from(us) / 1_000.0;
        let seen = cause(ratio, ms(self.before_us), ms(now_us));
        match (self.agent == slow, seen) {
            (false, seen) => seen,
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
    fn another_agent_that_was_there_is_the_best_witness() {
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
        assert_eq!(ControlProbe::choose(SLOW, None, &[], |_| true), None, "nobody ever measured");
    }

    #[test]
    fn a_server_is_slow_for_everybody_and_a_way_for_one() {
        let other = ControlProbe { agent: NEXT, before_us: 30_000 };
        assert_eq!(other.cause(SLOW, 4.0, 31_000), IncidentCause::Path);
        assert_eq!(other.cause(SLOW, 4.0, 130_000), IncidentCause::Server);
        let own = ControlProbe { agent: SLOW, before_us: 9_000 };
        assert_eq!(own.cause(SLOW, 4.0, 109_000), IncidentCause::Path);
        assert_eq!(own.cause(SLOW, 4.0, 9_500), IncidentCause::Server);
    }
}
