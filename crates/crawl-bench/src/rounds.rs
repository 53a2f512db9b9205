//! Rounds: each crawls every case with every peer, so that a busy minute of the machine meets all
//! of them.

use crate::case::Case;
use crate::machine;
use crate::measurement::Measurement;
use crate::peers::{self, Job, Peer, Programs};
use crate::process::syscalls::Counter;
use crate::referee::Referee;
use crate::referee::control::Options;

/// What is run.
#[derive(Debug, Clone)]
pub struct Plan {
    pub cases: Vec<Case>,
    pub peers: Vec<Peer>,
    /// Rounds of each case.
    pub rounds: u32,
    /// Threads of the referee.
    pub referee_threads: usize,
    /// Counts calls of fsync in another crawl by the agent of each case without delay.
    pub counter: Option<Counter>,
}

impl Plan {
    /// Peers of a case. Most have no delay of a host, so that they crawl with a delay only when
    /// they were asked for by name; and only the agent is given a name server, which hosts on one
    /// address need.
    fn peers_of(&self, case: &Case, named: bool) -> impl Iterator<Item = Peer> + '_ {
        let all = (case.delay.is_zero() || named) && !case.web.one_address;
        self.peers.iter().copied().filter(move |peer| all || *peer == Peer::Ours)
    }
}

/// Runs everything and gives each measurement to `tell` as soon as there is one.
pub async fn run(
    plan: &Plan,
    named: bool,
    programs: &Programs,
    mut tell: impl FnMut(&Measurement),
) -> anyhow::Result<Vec<Measurement>> {
    let mut measurements = Vec::new();
    for case in &plan.cases {
        let options = Options { web: case.web, threads: plan.referee_threads };
        let mut referee = Referee::start(options).await?;
        for round in 1..=plan.rounds {
            for peer in plan.peers_of(case, named) {
                let measured = measure(case, peer, round, programs, &mut referee, None).await?;
                tell(&measured);
                measurements.push(measured);
            }
        }
        let counter = plan.counter.filter(|_| case.delay.is_zero());
        if counter.is_some() && plan.peers.contains(&Peer::Ours) {
            let measured = measure(case, Peer::Ours, 0, programs, &mut referee, counter).await?;
            tell(&measured);
            measurements.push(measured);
        }
    }
    Ok(measurements)
}

async fn measure(
    case: &Case,
    peer: Peer,
    round: u32,
    programs: &Programs,
    referee: &mut Referee,
    counter: Option<Counter>,
) -> anyhow::Result<Measurement> {
    let dir = tempfile::Builder::new().prefix("nearcrawl-bench-").tempdir()?;
    let port = referee.port();
    let seeds = case.web.seeds(port);
    referee.reset().await?;
    let load = machine::load();
    let job = Job { case, seeds: &seeds, port, dir: dir.path(), counter };
    let outcome = peers::crawl(peer, programs, &job, referee).await?;
    let report = referee.report().await?;
    Ok(Measurement::new(case, peer, round, load, report, outcome))
}
