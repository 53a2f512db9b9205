//! Candidates that cannot be asked, and decisions that are improved later.

use delegation::{
    Availability, AvailableAgents, DelegationTable, LONGEST_SILENCE_MS, ProbeOutcome, Search, Step,
    TrailProbe, next_step,
};
use hierarchy::Hierarchy;
use model::{Phase, Policy, Reason};

use crate::map::{self, agent, subnet};

const PATIENCE_MS: u32 = 1_000;

struct Case {
    hierarchy: Hierarchy,
    delegation_table: DelegationTable,
    available: AvailableAgents,
    policy: Policy,
    trail: Vec<TrailProbe>,
    provisional: Option<i64>,
    holder: Option<i64>,
    waited_ms: u64,
}

/// Three agents in three sibling subnets; the target is the fourth.
fn case() -> Case {
    let ranges = ["20.1.0.0/16", "20.2.0.0/16", "20.3.0.0/16", "20.4.0.0/16"];
    let hierarchy = map::hierarchy(&ranges.map(|range| (range, Some(range))));
    let delegation_table =
        map::delegation_table(&hierarchy, &[(ranges[0], 1), (ranges[1], 2), (ranges[2], 3)]);
    let policy = Policy { patience_ms: PATIENCE_MS, ..Policy::default() };
    let available = map::ready(&[1, 2, 3]);
    Case {
        hierarchy,
        delegation_table,
        available,
        policy,
        trail: Vec::new(),
        provisional: None,
        holder: None,
        waited_ms: 0,
    }
}

impl Case {
    fn answered(mut self, number: i64, outcome: ProbeOutcome) -> Self {
        self.trail.push(TrailProbe { agent: agent(number), phase: Phase::Sibling, outcome });
        self
    }

    fn with(mut self, number: i64, availability: Availability) -> Self {
        self.available.set(agent(number), availability);
        self
    }

    fn overdue(mut self) -> Self {
        self.waited_ms = PATIENCE_MS.into();
        self
    }

    fn handed_to(mut self, number: i64) -> Self {
        self.provisional = Some(number);
        self
    }

    fn held_by(mut self, number: i64) -> Self {
        self.holder = Some(number);
        self
    }

    fn step(&self) -> Step {
        let search = Search {
            subnet: subnet(&self.hierarchy, "20.4.0.0/16"),
            trail: &self.trail,
            provisional: self.provisional.map(agent),
            holder: self.holder.map(agent),
            waited_ms: self.waited_ms,
        };
        next_step(&self.hierarchy, &self.delegation_table, &self.available, &self.policy, &search)
    }

    #[track_caller]
    fn asks(&self, number: i64) {
        let Step::Ask(candidate) = self.step() else { panic!("{:?}", self.step()) };
        assert_eq!(candidate.agent, agent(number));
    }
}

fn ms(rtt_ms: u32) -> ProbeOutcome {
    ProbeOutcome::Measured { rtt_us: rtt_ms * 1000 }
}

fn lowest(number: i64, rtt_ms: u32, provisional: bool) -> Step {
    Step::Decide {
        agent: agent(number),
        rtt_us: rtt_ms * 1000,
        reason: Reason::Lowest,
        provisional,
    }
}

#[test]
fn who_cannot_be_asked_is_passed_over_and_come_back_to() {
    for away in
        [Availability::Busy, Availability::Idle, Availability::Asleep, Availability::Unreachable]
    {
        let case = case().with(1, away);
        case.asks(2);
        let case = case.answered(2, ms(80)).with(1, Availability::Ready);
        case.asks(1);
    }
}

#[test]
fn a_satisfying_answer_is_final_although_somebody_slept() {
    let case = case().with(1, Availability::Asleep).answered(2, ms(20));
    assert!(matches!(
        case.step(),
        Step::Decide { reason: Reason::Threshold, provisional: false, .. }
    ));
}

#[test]
fn sleepers_are_waited_for_until_patience_ends() {
    let case = case().with(1, Availability::Asleep).answered(2, ms(80)).answered(3, ms(90));
    assert_eq!(case.step(), Step::Wait);
    let case = case.overdue();
    assert_eq!(case.step(), lowest(2, 80, true));
    let case = case.handed_to(2);
    assert_eq!(case.step(), Step::Wait, "it is done; the sleeper may still be better");
    let case = case.with(1, Availability::Ready);
    case.asks(1);
    assert_eq!(case.answered(1, ms(70)).step(), lowest(1, 70, false));
}

#[test]
fn patience_also_ends_while_an_answer_is_due_or_others_can_be_asked() {
    let due = case().answered(1, ms(80)).answered(2, ProbeOutcome::Pending).overdue();
    assert_eq!(due.step(), lowest(1, 80, true));
    assert_eq!(due.handed_to(1).step(), Step::Wait);
    let more = case().answered(1, ms(80)).overdue();
    assert_eq!(more.step(), lowest(1, 80, true));
    more.handed_to(1).asks(2);
}

#[test]
fn a_better_agent_takes_over_while_the_sleeper_is_still_waited_for() {
    let case = case().with(3, Availability::Asleep).overdue().handed_to(1);
    let case = case.answered(1, ms(80)).answered(2, ms(60));
    assert_eq!(case.step(), lowest(2, 60, true));
}

#[test]
fn nothing_is_decided_without_a_measurement() {
    let case = case().with(1, Availability::Asleep).overdue();
    let case = case.answered(2, ProbeOutcome::Unreachable).answered(3, ProbeOutcome::Expired);
    assert_eq!(case.step(), Step::Wait);
}

#[test]
fn a_target_that_several_agents_did_not_reach_is_not_waited_for() {
    let mut case = case().with(4, Availability::Unreachable);
    for number in [1, 2] {
        case = case.answered(number, ProbeOutcome::Unreachable);
    }
    case.asks(3);
    let case = case.answered(3, ProbeOutcome::Unreachable);
    assert_eq!(case.step(), Step::Wait, "the fourth agent may come back");
    assert_eq!(case.overdue().step(), Step::NoAnswer);
}

#[test]
fn a_silent_target_is_given_up_after_a_day_however_few_agents_take_probes() {
    let mut case = case().with(3, Availability::Idle);
    case.waited_ms = LONGEST_SILENCE_MS;
    case.available.remove(agent(2));
    case.asks(1);
    assert_eq!(case.with(1, Availability::Idle).step(), Step::Wait, "nobody was asked");

    let mut case = self::case().with(3, Availability::Idle);
    for number in [1, 2] {
        case = case.answered(number, ProbeOutcome::Unreachable);
    }
    case.waited_ms = LONGEST_SILENCE_MS - 1;
    assert_eq!(case.step(), Step::Wait);
    case.waited_ms = LONGEST_SILENCE_MS;
    assert_eq!(case.step(), Step::NoAnswer);
    let mut measured = case.answered(4, ms(80));
    assert_eq!(measured.step(), Step::Wait, "it answered an agent that left");
    measured.trail.pop();
    let due = measured.answered(4, ProbeOutcome::Pending).with(4, Availability::Ready);
    assert_eq!(due.step(), Step::Wait, "an answer is due");
}

#[test]
fn an_agent_whose_probes_are_used_up_is_waited_for_longer_than_a_day() {
    let mut case = case().with(3, Availability::Busy);
    for number in [1, 2] {
        case = case.answered(number, ProbeOutcome::Unreachable);
    }
    case.waited_ms = LONGEST_SILENCE_MS;
    assert_eq!(case.step(), Step::Wait, "it can be asked tomorrow");
    let case = case.with(3, Availability::Ready);
    case.asks(3);
    let case = case.answered(3, ProbeOutcome::Expired).with(3, Availability::Busy);
    assert_eq!(case.step(), Step::NoAnswer);
}

#[test]
fn an_answer_from_who_left_is_not_waited_for() {
    let mut case = case().answered(1, ProbeOutcome::Pending);
    assert_eq!(case.step(), Step::Wait);
    case.available.remove(agent(1));
    case.asks(2);
}

#[test]
fn several_are_asked_at_once_where_the_policy_allows_it() {
    let mut case = case().answered(1, ProbeOutcome::Pending);
    case.policy.parallel = 2;
    case.asks(2);
    assert_eq!(case.answered(2, ProbeOutcome::Pending).step(), Step::Wait);
}

#[test]
fn without_agents_there_is_nobody_to_ask() {
    let mut case = case();
    case.available = AvailableAgents::default();
    assert_eq!(case.step(), Step::NoAgents);
}

#[test]
fn the_agent_that_has_the_subnet_keeps_it_until_it_was_asked() {
    for away in [Availability::Busy, Availability::Asleep, Availability::Unreachable] {
        let searched =
            || case().with(1, away).answered(2, ms(80)).answered(3, ms(90)).overdue().held_by(1);
        assert_eq!(searched().step(), Step::Wait);
        let awake = searched().with(1, Availability::Ready);
        awake.asks(1);
        let asked = searched().answered(1, ms(95));
        assert_eq!(asked.step(), lowest(2, 80, true));
    }
    let gone = case().answered(2, ms(80)).overdue().held_by(7);
    assert_eq!(gone.step(), lowest(2, 80, true), "it is no agent any more");
    let idle = case().with(1, Availability::Idle).answered(2, ms(80)).overdue().held_by(1);
    assert_eq!(idle.step(), lowest(2, 80, true), "its owner may have paused it for weeks");
}
