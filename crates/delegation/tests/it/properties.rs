//! Whatever the hierarchy, the delegation table, the times and the agents' hours: what a search
//! always does.

use std::collections::{BTreeMap, HashSet};

use delegation::target::SILENT_AGENTS;
use delegation::{
    Availability, AvailableAgents, Delegation, DelegationTable, ProbeOutcome, Search, Step,
    TrailProbe, next_step,
};
use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, Phase, Policy, Reason};
use proptest::prelude::*;

use crate::map::{self, agent};

const AGENTS: i64 = 8;
const THRESHOLD_US: u32 = 50_000;

/// Random nested ranges of /8 to /28 in two corners of the address space, with few companies.
pub(crate) fn territory() -> impl Strategy<Value = Hierarchy> {
    let subnet = (0_u8..2, 0_u8..3, 0_u8..4, 1_u8..8, prop::option::of(0_u8..5));
    prop::collection::vec(subnet, 1..24).prop_map(|subnets| {
        let named: BTreeMap<String, Option<String>> = subnets
            .into_iter()
            .map(|(a, b, c, length, company)| {
                (cidr(a, b, c, length), company.map(|n| format!("company {n}")))
            })
            .collect();
        let subnets: Vec<_> =
            named.iter().map(|(range, company)| (range.as_str(), company.as_deref())).collect();
        map::hierarchy(&subnets)
    })
}

fn cidr(a: u8, b: u8, c: u8, length: u8) -> String {
    match length * 4 {
        length @ ..16 => format!("{}.0.0.0/{}", 20 + 16 * a, length.max(8)),
        length @ 16..24 => format!("{}.{}.0.0/{length}", 20 + 16 * a, 16 * b),
        length => format!("{}.{}.{}.0/{length}", 20 + 16 * a, 16 * b, c),
    }
}

/// What each agent would measure; `None` gets no answer.
type Times = Vec<Option<u32>>;

#[derive(Debug, Clone)]
struct Case {
    hierarchy: Hierarchy,
    delegation_table: DelegationTable,
    target: SubnetId,
    times: Times,
}

fn cases() -> impl Strategy<Value = Case> {
    let held = prop::collection::vec((any::<prop::sample::Index>(), 1..=AGENTS), 0..12);
    let times =
        prop::collection::vec(prop::option::weighted(0.9, 1_000_u32..200_000), AGENTS as usize);
    (territory(), held, any::<prop::sample::Index>(), times).prop_map(
        |(hierarchy, held, target, times)| {
            let at =
                |place: prop::sample::Index| SubnetId::new(place.index(hierarchy.len()) as u32);
            let target = at(target);
            let held = held.into_iter().map(|(place, number)| (at(place), number));
            let holding = |number| Delegation { agent: agent(number), reason: Reason::Threshold };
            let held: Vec<_> = held
                .filter(|(subnet, _)| *subnet != target)
                .map(|(s, n)| (s, holding(n)))
                .collect();
            Case {
                delegation_table: DelegationTable::of(&hierarchy, held),
                hierarchy,
                target,
                times,
            }
        },
    )
}

impl Case {
    fn step(
        &self,
        delegation_table: &DelegationTable,
        available: &AvailableAgents,
        trail: &[TrailProbe],
        provisional: Option<AgentId>,
    ) -> Step {
        let policy = Policy { threshold_us: THRESHOLD_US, patience_ms: 0, ..Policy::default() };
        let search = Search { subnet: self.target, trail, provisional, holder: None, waited_ms: 0 };
        next_step(&self.hierarchy, delegation_table, available, &policy, &search)
    }

    fn outcome(&self, agent: AgentId) -> ProbeOutcome {
        match self.times[agent.get() as usize - 1] {
            Some(rtt_us) => ProbeOutcome::Measured { rtt_us },
            None => ProbeOutcome::Unreachable,
        }
    }

    /// Runs the search to its end; `hours` says which agents can be asked at the n-th step.
    fn run(&self, hours: impl Fn(usize) -> AvailableAgents) -> (Vec<TrailProbe>, Step) {
        let mut trail = Vec::new();
        let mut provisional = None;
        for turn in 0..200 {
            match self.step(&self.delegation_table, &hours(turn), &trail, provisional) {
                Step::Ask(candidate) => {
                    let agent = candidate.agent;
                    let phase = candidate.phase;
                    trail.push(TrailProbe { agent, phase, outcome: self.outcome(agent) });
                }
                Step::Decide { agent, provisional: true, .. } => provisional = Some(agent),
                Step::Wait => {}
                end => return (trail, end),
            }
        }
        panic!("the search did not end: {trail:?}");
    }
}

fn everybody() -> AvailableAgents {
    map::ready(&(1..=AGENTS).collect::<Vec<_>>())
}

fn satisfies(asked: &TrailProbe) -> bool {
    matches!(asked.outcome, ProbeOutcome::Measured { rtt_us } if rtt_us < THRESHOLD_US)
}

fn distinct(trail: &[TrailProbe]) -> usize {
    trail.iter().map(|asked| asked.agent).collect::<HashSet<_>>().len()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn nobody_is_asked_twice_and_the_first_who_satisfies_gets_it(case in cases()) {
        let case =
            Case { times: case.times.iter().map(|time| time.or(Some(150_000))).collect(), ..case };
        let (trail, end) = case.run(|_| everybody());
        prop_assert_eq!(distinct(&trail), trail.len());
        let Step::Decide { agent, rtt_us, reason, provisional } = end else { panic!("{end:?}") };
        prop_assert!(!provisional);
        if let Some(first) = trail.iter().position(satisfies) {
            prop_assert_eq!(first, trail.len() - 1, "asked on although one satisfied");
            prop_assert_eq!(agent, trail[first].agent);
            prop_assert_eq!(reason == Reason::Company, trail[first].phase == Phase::Company);
        } else {
            prop_assert_eq!(reason, Reason::Lowest);
            prop_assert_eq!(trail.len(), AGENTS as usize, "somebody was left out");
            prop_assert_eq!(Some(rtt_us), case.times.iter().flatten().min().copied());
        }
    }

    #[test]
    fn phases_come_in_the_papers_order(case in cases()) {
        let (trail, _) = case.run(|_| everybody());
        let company = trail.iter().rposition(|asked| asked.phase == Phase::Company);
        let climb = trail.iter().position(|asked| asked.phase != Phase::Company);
        prop_assert!(company.zip(climb).is_none_or(|(company, climb)| company < climb));
        let rest = trail.iter().position(|asked| asked.phase == Phase::Rest);
        prop_assert!(
            rest.is_none_or(|rest| trail[rest..].iter().all(|asked| asked.phase == Phase::Rest))
        );
    }

    #[test]
    fn a_target_that_answers_nobody_is_silent(case in cases()) {
        let case = Case { times: vec![None; AGENTS as usize], ..case };
        let (trail, end) = case.run(|_| everybody());
        prop_assert_eq!(end, Step::NoAnswer);
        prop_assert_eq!(trail.len(), AGENTS as usize);
    }

    #[test]
    fn a_restart_changes_nothing(case in cases()) {
        let (trail, _) = case.run(|_| everybody());
        for done in 0..=trail.len() {
            let mut entries: Vec<_> = case.delegation_table.iter().collect();
            entries.sort_by_key(|(subnet, _)| std::cmp::Reverse(*subnet));
            let reloaded = DelegationTable::of(&case.hierarchy, entries);
            let before = case.step(&case.delegation_table, &everybody(), &trail[..done], None);
            prop_assert_eq!(case.step(&reloaded, &everybody(), &trail[..done], None), before);
        }
    }

    #[test]
    fn hours_delay_a_search_but_never_break_it(
        case in cases(),
        is_mostly_silent in any::<bool>(),
        hours in prop::collection::vec(prop::collection::vec(0_u8..4, AGENTS as usize), 1..30),
    ) {
        let case = if is_mostly_silent { answering_one(case) } else { case };
        let (trail, end) = case.run(|turn| hours.get(turn).map_or_else(everybody, |hour| at(hour)));
        prop_assert_eq!(distinct(&trail), trail.len());
        match end {
            Step::Decide { reason: Reason::Lowest, .. } => {
                prop_assert_eq!(trail.len(), AGENTS as usize, "somebody was left out");
            }
            // Agents that cannot be asked are not waited for where several others got no answer.
            Step::NoAnswer => {
                prop_assert!(trail.iter().all(|asked| asked.outcome == ProbeOutcome::Unreachable));
                prop_assert!(trail.len() >= SILENT_AGENTS, "given up after {}", trail.len());
            }
            Step::Decide { agent, .. } => {
                prop_assert!(trail.iter().any(|asked| asked.agent == agent && satisfies(asked)));
            }
            _ => panic!("{end:?}"),
        }
    }
}

/// The same case with a target that answers only the agent of the highest number.
fn answering_one(case: Case) -> Case {
    let last = case.times.last().copied().flatten();
    let mut times = vec![None; AGENTS as usize - 1];
    times.push(last);
    Case { times, ..case }
}

/// The available at an hour: one number per agent says how it is with it.
fn at(hour: &[u8]) -> AvailableAgents {
    let kinds =
        [Availability::Ready, Availability::Busy, Availability::Asleep, Availability::Unreachable];
    (1..=AGENTS)
        .zip(hour)
        .map(|(number, kind)| (agent(number), kinds[usize::from(*kind)]))
        .collect()
}
