//! Evaluation of an assignment of hosts to agents (IPMicra section IV, without the probes).

use crate::{CityId, World};

/// A host with the agent that crawls it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostAssignment {
    /// City of the host.
    pub city: CityId,
    /// Requests its crawl takes; each costs one round trip here.
    pub pages: u64,
    /// Index into the agents of the agent that crawls it.
    pub agent: usize,
}

/// Figures of an assignment on the matrix.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Evaluation {
    pub hosts: usize,
    /// Hosts left out: their agent is not listed or the matrix knows no time to some agent.
    pub unjudged: usize,
    /// Share of hosts whose agent is a nearest one (ties within [`TIE_MS`] count); 0 to 1.
    pub share_optimal: f64,
    /// Mean over hosts of the time above the nearest agent's, in milliseconds.
    pub mean_excess_ms: f64,
    /// Sum over pages of the round trip from the host's agent, in milliseconds.
    pub crawl_ms: f64,
    /// The same sum as is expected when every host goes to an agent drawn uniformly.
    pub crawl_ms_random: f64,
    /// The same sum with every host at its nearest agent: no assignment is cheaper.
    pub crawl_ms_nearest: f64,
}

/// Two agents this near to each other in time are equally near, in milliseconds: no probe tells
/// them apart.
pub const TIE_MS: f64 = 0.05;

/// Evaluates an assignment on the true times of `world`; `agents` are the agents' cities.
pub fn evaluate(world: &World, agents: &[CityId], assignments: &[HostAssignment]) -> Evaluation {
    let judged: Vec<DelegatedHost> =
        assignments.iter().filter_map(|host| judge(world, agents, *host)).collect();
    let mean = |sum: f64| if judged.is_empty() { 0.0 } else { sum / judged.len() as f64 };
    let total =
        |of: fn(&DelegatedHost) -> f64| judged.iter().map(|host| host.pages * of(host)).sum();
    let optimal = judged.iter().filter(|host| host.excess_ms() <= TIE_MS).count();
    Evaluation {
        hosts: judged.len(),
        unjudged: assignments.len() - judged.len(),
        share_optimal: mean(optimal as f64),
        mean_excess_ms: mean(judged.iter().map(DelegatedHost::excess_ms).sum()),
        crawl_ms: total(|host| host.taken_ms),
        crawl_ms_random: total(|host| host.random_ms),
        crawl_ms_nearest: total(|host| host.nearest_ms),
    }
}

struct DelegatedHost {
    pages: f64,
    taken_ms: f64,
    nearest_ms: f64,
    random_ms: f64,
}

impl DelegatedHost {
    fn excess_ms(&self) -> f64 {
        self.taken_ms - self.nearest_ms
    }
}

fn judge(world: &World, agents: &[CityId], host: HostAssignment) -> Option<DelegatedHost> {
    let taken_ms = world.rtt_ms(*agents.get(host.agent)?, host.city);
    let times = agents.iter().map(|agent| world.rtt_ms(*agent, host.city));
    let random_ms = times.clone().sum::<f64>() / agents.len() as f64;
    let nearest_ms = times.fold(f64::INFINITY, f64::min);
    random_ms.is_finite().then_some(DelegatedHost {
        pages: host.pages as f64,
        taken_ms,
        nearest_ms,
        random_ms,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{City, partial_matrix::PartialMatrix};

    /// Three places in a row: 0 and 1 are 10 ms apart, 2 is 90 and 100 ms away.
    fn row() -> World {
        let mut costs = PartialMatrix::new(3);
        for (a, b, ms) in [(0, 1, 10.0), (1, 2, 90.0), (0, 2, 100.0)] {
            costs.set(a, b, ms);
        }
        let city = City { name: String::new(), country: "ZZ".into(), lat: 0.0, lon: 0.0 };
        World::from_partial(vec![city; 3], &costs, vec![0.0; 9])
    }

    #[test]
    fn one_right_and_one_wrong() {
        let agents = [CityId::new(0), CityId::new(2)];
        let right = HostAssignment { city: CityId::new(1), pages: 2, agent: 0 };
        let wrong = HostAssignment { city: CityId::new(1), pages: 1, agent: 1 };
        let stranger = HostAssignment { agent: 9, ..right };
        let seen = evaluate(&row(), &agents, &[right, wrong, stranger]);
        assert_eq!((seen.hosts, seen.unjudged), (2, 1));
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        close(seen.share_optimal, 0.5);
        close(seen.mean_excess_ms, 40.0);
        close(seen.crawl_ms, 2.0 * 10.0 + 90.0);
        close(seen.crawl_ms_random, 3.0 * 50.0);
        close(seen.crawl_ms_nearest, 30.0);
    }

    #[test]
    fn nothing_dealt_is_nothing_judged() {
        let seen = evaluate(&row(), &[CityId::new(0)], &[]);
        assert_eq!(seen.hosts, 0);
        assert!(
            seen.share_optimal.abs() < f64::EPSILON && seen.mean_excess_ms.abs() < f64::EPSILON
        );
    }
}
