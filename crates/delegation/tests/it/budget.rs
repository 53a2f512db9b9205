//! Budgets of probes, addresses that answer nothing, and subnets that are in several places.

use std::net::{IpAddr, Ipv4Addr};

use delegation::budget::ProbeUsage;
use delegation::target::{RETRY_AFTER_MS, next_address};
use delegation::virtual_subnets::{AddressTimes, may_be_one_location, split};
use delegation::{
    Availability, LONGEST_SILENCE_MS, ProbeOutcome, Search, Step, TrailProbe, next_step,
};
use hierarchy::{Hierarchy, Range, SubnetId};
use model::policy::ProbesADay;
use model::{AgentId, Phase, Policy, UnixMillis};
use proptest::prelude::*;

use crate::map::{self, agent, subnet};

const DAY: i64 = 86_400_000;
const RANGES: [&str; 4] = ["20.1.0.0/16", "20.2.0.0/16", "20.3.0.0/16", "20.4.0.0/16"];

fn hierarchy() -> Hierarchy {
    map::hierarchy(&RANGES.map(|range| (range, Some(range))))
}

#[test]
fn an_agent_without_probes_left_is_busy_until_tomorrow() {
    let limits = ProbesADay { per_agent: 2, ..ProbesADay::default() };
    let mut usage = ProbeUsage::default();
    let seen =
        |usage: &ProbeUsage, now, at| usage.availability(&limits, agent(1), now, UnixMillis(at));
    for n in 0..2 {
        assert_eq!(seen(&usage, Availability::Ready, n), Availability::Ready);
        usage.record(agent(1), SubnetId::new(n as u32), UnixMillis(n));
    }
    assert_eq!(seen(&usage, Availability::Ready, 9), Availability::Busy);
    assert_eq!(seen(&usage, Availability::Asleep, 9), Availability::Asleep);
    assert_eq!(seen(&usage, Availability::Ready, DAY), Availability::Ready);
    assert_eq!(
        usage.availability(&limits, agent(2), Availability::Ready, UnixMillis(9)),
        Availability::Ready
    );
}

#[test]
fn probes_besides_searches_count_for_the_agent_and_in_all() {
    let limits = ProbesADay { per_agent: 2, per_target: 9, in_all: 3 };
    let mut usage = ProbeUsage::default();
    let at = UnixMillis(0);
    let target = SubnetId::new(0);
    usage.record(agent(1), target, at);
    usage.record_other(agent(1), at);
    let availability = usage.availability(&limits, agent(1), Availability::Ready, at);
    assert_eq!(availability, Availability::Busy);
    assert!(usage.allows(&limits, target, at));
    usage.record_other(agent(2), at);
    assert!(!usage.allows(&limits, target, at));
}

#[test]
fn a_held_search_goes_to_the_best_so_far_and_on_tomorrow() {
    let hierarchy = hierarchy();
    let delegation_table = map::delegation_table(&hierarchy, &[(RANGES[0], 1), (RANGES[1], 2)]);
    let available = map::ready(&[1, 2]);
    let policy = Policy::default();
    let target = subnet(&hierarchy, RANGES[3]);
    let limits = ProbesADay { per_target: 1, ..ProbesADay::default() };
    let trail = [TrailProbe {
        agent: agent(1),
        phase: Phase::Sibling,
        outcome: ProbeOutcome::Measured { rtt_us: 90_000 },
    }];
    let mut usage = ProbeUsage::default();
    usage.record(agent(1), target, UnixMillis(0));
    let step = |waited_ms, at| {
        let search =
            Search { subnet: target, trail: &trail, provisional: None, holder: None, waited_ms };
        let step = next_step(&hierarchy, &delegation_table, &available, &policy, &search);
        usage.hold(&limits, step, (&available, &policy, &search), UnixMillis(at))
    };
    assert_eq!(step(0, 1), Step::Wait);
    assert!(matches!(
        step(policy.patience_ms.into(), 1),
        Step::Decide { provisional: true, agent: chosen, .. } if chosen == agent(1)
    ));
    assert!(matches!(step(0, DAY), Step::Ask(candidate) if candidate.agent == agent(2)));
}

#[test]
fn a_held_search_that_nobody_could_answer_ends() {
    let hierarchy = hierarchy();
    let delegation_table = map::delegation_table(&hierarchy, &[(RANGES[0], 1), (RANGES[1], 2)]);
    let available = map::ready(&[1, 2, 3, 4]);
    let policy = Policy::default();
    let target = subnet(&hierarchy, RANGES[3]);
    let limits = ProbesADay { per_target: 3, ..ProbesADay::default() };
    let mut usage = ProbeUsage::default();
    (1..=3).for_each(|number| usage.record(agent(number), target, UnixMillis(0)));
    let step = |answers: usize, waited_ms| {
        let outcome = |nth| {
            if nth < answers { ProbeOutcome::Unreachable } else { ProbeOutcome::Pending }
        };
        let trail: Vec<TrailProbe> = (0..3_i64)
            .zip(0..)
            .map(|(number, nth)| TrailProbe {
                agent: agent(number + 1),
                phase: Phase::Rest,
                outcome: outcome(nth),
            })
            .collect();
        let policy = Policy { parallel: 4, ..policy };
        let search =
            Search { subnet: target, trail: &trail, provisional: None, holder: None, waited_ms };
        let step = next_step(&hierarchy, &delegation_table, &available, &policy, &search);
        usage.hold(&limits, step, (&available, &policy, &search), UnixMillis(1))
    };
    assert_eq!(step(3, 0), Step::Wait);
    assert_eq!(step(2, policy.patience_ms.into()), Step::Wait, "an answer is due");
    assert_eq!(step(3, policy.patience_ms.into()), Step::NoAnswer);
}

#[test]
fn a_held_search_that_few_were_asked_for_goes_on_tomorrow() {
    let hierarchy = hierarchy();
    let delegation_table = map::delegation_table(&hierarchy, &[(RANGES[0], 1), (RANGES[1], 2)]);
    let available = map::ready(&[1, 2]);
    let policy = Policy::default();
    let target = subnet(&hierarchy, RANGES[3]);
    let limits = ProbesADay { in_all: 1, ..ProbesADay::default() };
    let outcome = ProbeOutcome::Unreachable;
    let trail = [TrailProbe { agent: agent(1), phase: Phase::Sibling, outcome }];
    let mut usage = ProbeUsage::default();
    usage.record(agent(1), subnet(&hierarchy, RANGES[0]), UnixMillis(0));
    let waited_ms = LONGEST_SILENCE_MS;
    let search =
        Search { subnet: target, trail: &trail, provisional: None, holder: None, waited_ms };
    let step = next_step(&hierarchy, &delegation_table, &available, &policy, &search);
    let step = |at| usage.hold(&limits, step, (&available, &policy, &search), UnixMillis(at));
    assert_eq!(step(1), Step::Wait);
    assert!(matches!(step(DAY), Step::Ask(candidate) if candidate.agent == agent(2)));
}

#[test]
fn silent_addresses_give_way_to_others_for_a_week() {
    let [first, second] = [1, 2].map(|last| IpAddr::from([20, 1, 0, last]));
    let next = |silent: [bool; 2], at| {
        let since = silent.map(|silent| silent.then_some(UnixMillis(0)));
        next_address(&[(first, since[0]), (second, since[1])], UnixMillis(at))
    };
    assert_eq!(next([false, false], 0), Some(first));
    assert_eq!(next([true, false], 1), Some(second));
    assert_eq!(next([true, true], 1), None);
    assert_eq!(next([true, true], i64::try_from(RETRY_AFTER_MS).unwrap()), Some(first));
    let mut addresses: Vec<_> =
        (1..4).map(|last| (IpAddr::from([20, 1, 0, last]), Some(UnixMillis(0)))).collect();
    addresses.push((IpAddr::from([20, 1, 0, 4]), None));
    assert_eq!(next_address(&addresses, UnixMillis(1)), None, "three silent ones are enough");
}

fn measured(address: u32, times_ms: &[f64]) -> AddressTimes {
    let times_ms = (1..).map(agent).zip(times_ms.iter().copied()).collect();
    AddressTimes { address: Ipv4Addr::from_bits(address).into(), times_ms }
}

#[test]
fn a_slow_line_is_no_other_place() {
    let near = measured(0, &[20.0, 90.0]);
    assert!(may_be_one_location(&near, &measured(1, &[60.0, 130.0])), "40 ms more from everywhere");
    assert!(!may_be_one_location(&near, &measured(1, &[90.0, 20.0])));
    assert!(may_be_one_location(&near, &measured(1, &[])), "nothing in common says nothing");
    assert!(!may_be_one_location(&measured(0, &[20.0]), &measured(1, &[250.0])));
}

#[test]
fn a_block_is_split_where_neighbours_disagree() {
    let range: Range = "20.0.0.0/16".parse().unwrap();
    let base = 20_u32 << 24;
    let east = |at| measured(base + at, &[20.0, 90.0]);
    let west = |at| measured(base + at, &[90.0, 20.0]);
    let pieces = split(range, &[east(1), east(900), west(9_000), west(60_000)]);
    assert_eq!(pieces.len(), 2);
    assert!(pieces[0].contains(east(900).address) && pieces[1].contains(west(9_000).address));
    assert_eq!(
        split(range, &[east(1), west(2)]).len(),
        1,
        "within one /22 there is no place to split"
    );
    assert_eq!(split(range, &[]), [range]);
}

proptest! {
    /// No agent is asked beyond the limits, in any order of events.
    #[test]
    fn allowances_are_kept(
        asks in prop::collection::vec((1_i64..4, 0_u32..4, 0_i64..(3 * DAY)), 0..200),
    ) {
        let limits = ProbesADay { per_agent: 5, per_target: 4, in_all: 9 };
        let mut usage = ProbeUsage::default();
        let mut granted = Vec::new();
        let mut asks = asks;
        asks.sort_by_key(|(_, _, at)| *at);
        for (who, target, at) in asks {
            let target = SubnetId::new(target);
            let moment = UnixMillis(at);
            let ready = usage.availability(&limits, agent(who), Availability::Ready, moment)
                == Availability::Ready;
            if ready && usage.allows(&limits, target, moment) {
                usage.record(agent(who), target, moment);
                granted.push((who, target, at / DAY));
            }
        }
        for day in 0..3 {
            let today = || granted.iter().filter(|(_, _, on)| *on == day);
            prop_assert!(today().count() <= 9);
            prop_assert!(
                (1..4).all(|who| today().filter(|(other, ..)| *other == who).count() <= 5)
            );
            prop_assert!(
                (0..4).all(
                    |target| today().filter(|(_, other, _)| other.get() == target).count() <= 4
                )
            );
        }
    }

    /// The pieces of a block are the block, and each is worth the name.
    #[test]
    fn pieces_cover_the_block(
        seen in prop::collection::vec((0_u32..65_536, any::<bool>()), 0..12),
    ) {
        let range: Range = "20.0.0.0/16".parse().unwrap();
        let seen: Vec<AddressTimes> = seen
            .into_iter()
            .map(|(at, east)| {
                measured((20_u32 << 24) + at, if east { &[20.0, 90.0] } else { &[90.0, 20.0] })
            })
            .collect();
        let pieces = split(range, &seen);
        prop_assert_eq!(
            (pieces[0].first(), pieces[pieces.len() - 1].last()),
            (range.first(), range.last())
        );
        prop_assert_eq!(pieces.iter().map(Range::addresses).sum::<u128>(), range.addresses());
        prop_assert!(pieces.iter().all(|piece| piece.addresses() % 1024 == 0));
        if seen.windows(2).all(|pair| may_be_one_location(&pair[0], &pair[1])) {
            prop_assert_eq!(pieces.len(), 1);
        }
    }
}

#[test]
fn searches_at_once_follow_what_agents_can_answer_today() {
    let noon = UnixMillis(43_200_000);
    let limits = ProbesADay { per_agent: 100, per_target: 50, in_all: 1_000 };
    let mut usage = ProbeUsage::default();
    let agents = || (1..=100).map(AgentId::new);
    let at_once = |usage: &ProbeUsage, agents: usize, parallel, at| {
        let few = (1..=100).map(AgentId::new).take(agents);
        usage.searches_at_once(&limits, few, (8, parallel), at)
    };
    assert_eq!(at_once(&usage, 0, 1, noon), 0);
    assert_eq!((at_once(&usage, 1, 1, noon), at_once(&usage, 12, 1, noon)), (4, 48));
    assert_eq!(at_once(&usage, 100, 1, noon), 400);
    assert_eq!(at_once(&usage, 100, 2, noon), 200, "each search asks two");
    for agent in agents().take(50) {
        for _ in 0..10 {
            usage.record(agent, SubnetId::new(1), noon);
        }
    }
    assert_eq!(at_once(&usage, 100, 1, noon), 250, "500 probes of today are left in all");
    for _ in 0..85 {
        usage.record(AgentId::new(1), SubnetId::new(1), noon);
    }
    assert_eq!(at_once(&usage, 1, 1, noon), 3, "5 are left for this agent");
    assert_eq!(at_once(&usage, 1, 1, noon.plus_ms(86_400_000)), 4, "tomorrow");
}
