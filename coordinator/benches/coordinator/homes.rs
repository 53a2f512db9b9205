//! What the agents measured of each other's home addresses: all that the coordinator asks for.

use delegation::home_measurements::{mutual_times, wanted_measurements};
use delegation::places::{AgentClaim, map_agents};
use delegation::plausibility::{HomeReports, HomeTimes, ReferenceTimes};
use model::AgentId;

use crate::cities::{Cities, round_trip_us};

/// Measures as agents do, until the coordinator's rules ask for no more. What a rule still asked
/// for would be a probe order that the agents of the bench never execute.
pub(crate) fn measured(agents: u32, cities: &Cities) -> HomeTimes {
    let claims: Vec<AgentClaim> = (1..=agents).map(|agent| claim(agent, cities)).collect();
    let agents: Vec<AgentId> = claims.iter().map(|claim| claim.agent).collect();
    let mut times = HomeTimes::new();
    loop {
        let missing = map_agents(&claims, &mutual_times(&times)).missing;
        let reports = HomeReports::judge_all(&ReferenceTimes::new(&times));
        let was_tried = |pair: &(AgentId, AgentId)| times.contains_key(pair);
        let mut wanted = wanted_measurements(&agents, &reports, &missing, was_tried, |_| true);
        wanted.retain(|pair| !was_tried(pair));
        if wanted.is_empty() {
            return times;
        }
        times.extend(wanted.into_iter().map(|pair| (pair, Some(ms(pair, cities)))));
    }
}

/// The statement that stores the times, measured yesterday.
pub(crate) fn insert(times: &HomeTimes) -> String {
    let row = |((agent, witness), ms): (&(AgentId, AgentId), &Option<f64>)| {
        Some(format!("({}, {}, {})", agent.get(), witness.get(), ((*ms)? * 1_000.0).round()))
    };
    let rows: Vec<String> = times.iter().filter_map(row).collect();
    format!(
        "INSERT INTO home_times (agent, witness, home, rtt_us, measured_at)
         SELECT a.id, t.witness, a.home, t.rtt_us, now() - interval '1 day'
         FROM (VALUES {}) AS t (agent, witness, rtt_us) JOIN agents a ON a.id = t.agent",
        rows.join(", ")
    )
}

fn claim(agent: u32, cities: &Cities) -> AgentClaim {
    let city = cities.get(agent.into());
    AgentClaim {
        agent: AgentId::new(agent.into()),
        position: Some(city.position),
        is_by_owner: true,
        country: Some(city.country),
    }
}

fn ms((agent, witness): (AgentId, AgentId), cities: &Cities) -> f64 {
    let city = |agent: AgentId| cities.get(agent.get().unsigned_abs());
    f64::from(round_trip_us(city(agent), city(witness))) / 1_000.0
}
