//! Plausibility of reports on a line: agents at places, a millisecond between two.

use std::collections::HashMap;

use delegation::plausibility::{
    HomeReports, HomeTimes, Judgement, ReferenceTimes, ReportKind, Review, Trust, TrustLevel,
    WitnessTime,
};
use delegation::{
    Availability, AvailableAgents, Candidate, ProbeOutcome, Search, Step, TrailProbe,
};
use hierarchy::SubnetId;
use model::{AgentId, Phase, Reason};

/// Places of the agents, in milliseconds from the end of the line.
const AGENTS: [f64; 12] =
    [0.0, 40.0, 80.0, 120.0, 160.0, 200.0, 20.0, 60.0, 100.0, 140.0, 180.0, 220.0];

fn agent(index: usize) -> AgentId {
    AgentId::new(index.cast_signed() as i64 + 1)
}

fn distance_ms(index: usize, place: f64) -> f64 {
    (AGENTS[index] - place).abs() + 2.0
}

/// What all agents report of the homes of all others: `report` turns what an agent measures into
/// that; agent `moved` has its home elsewhere.
fn homes(report: impl Fn(usize, f64) -> f64, moved: Option<(usize, f64)>) -> HomeTimes {
    let mut homes = HomeTimes::new();
    for (index, place) in AGENTS.iter().enumerate() {
        let place = moved.filter(|(moved, _)| *moved == index).map_or(*place, |(_, place)| place);
        for witness in (0..AGENTS.len()).filter(|witness| *witness != index) {
            let ms = report(witness, distance_ms(witness, place));
            homes.insert((agent(index), agent(witness)), Some(ms));
        }
    }
    homes
}

fn honest() -> ReferenceTimes {
    ReferenceTimes::new(&homes(|_, ms| ms, None))
}

fn trust_after(references: &ReferenceTimes, index: usize) -> Trust {
    let mut all = Trust::of_all(&HomeReports::judge_all(references), HashMap::new());
    all.remove(&agent(index)).unwrap_or_default()
}

fn report(reported_ms: f64, least_ms: f64, witness: Option<usize>) -> Judgement {
    let witness = witness.map(|index| WitnessTime { agent: agent(index), ms: 100.0 });
    Judgement { reported_ms, least_ms, witness, apart_ms: None, witnesses: 2 }
}

/// A search that the agent won, contradicted by another agent or not.
fn won(trust: &mut Trust, contradicted_by: Option<usize>) {
    let least_ms = if contradicted_by.is_some() { 60.0 } else { 30.0 };
    trust.searches.observe(ReportKind::Win, &report(50.0, least_ms, contradicted_by.or(Some(1))));
}

#[test]
fn honest_agents_are_trusted_after_their_first_win() {
    let references = honest();
    for index in 0..AGENTS.len() {
        let mut trust = trust_after(&references, index);
        assert_eq!((trust.homes.judgements.len(), trust.homes.contradicted()), (11, 0));
        assert_eq!(trust.level(), TrustLevel::New, "its first win is checked");
        won(&mut trust, None);
        assert_eq!(trust.level(), TrustLevel::Trusted);
    }
}

#[test]
fn a_constant_and_half_of_the_truth_are_found_and_nobody_else_is_blamed() {
    for report in [|_: f64| 0.001, |_: f64| 1.0, |ms: f64| ms / 2.0] {
        let forged = homes(|index, ms| if index == 0 { report(ms) } else { ms }, None);
        let references = ReferenceTimes::new(&forged);
        assert_eq!(trust_after(&references, 0).level(), TrustLevel::Forging);
        for index in 1..AGENTS.len() {
            let trust = trust_after(&references, index);
            assert_eq!(trust.homes.contradicted(), 0, "agent {index}");
            assert!(trust.is_accepted(), "agent {index}");
        }
    }
}

#[test]
fn a_lying_witness_blames_nobody() {
    // It reports long times where the truth is short, and the other way round.
    let forged = homes(|index, ms| if index == 3 { 222.0 - ms } else { ms }, None);
    let references = ReferenceTimes::new(&forged);
    for index in (0..AGENTS.len()).filter(|index| *index != 3) {
        assert!(trust_after(&references, index).level() <= TrustLevel::New, "agent {index}");
    }
}

#[test]
fn a_home_address_elsewhere_a_satellite_link_and_a_near_neighbour_are_no_forgery() {
    let proxied = ReferenceTimes::new(&homes(|_, ms| ms, Some((0, 220.0))));
    assert_eq!(trust_after(&proxied, 0).homes.contradicted(), 0, "its home is that of a proxy");

    let satellite = homes(|index, ms| if index == 0 { ms + 600.0 } else { ms }, None);
    let references = ReferenceTimes::new(&satellite);
    for index in 0..AGENTS.len() {
        assert_eq!(trust_after(&references, index).homes.contradicted(), 0, "agent {index}");
    }

    // The target stands in the building of agent 0; its neighbour measures a little more.
    let references = honest();
    let trail = trail(&[(0, 0.2), (1, 41.0)]);
    let judgement = review(&references, &HashMap::new()).judge(agent(0), &trail).unwrap();
    assert!(!judgement.is_contradicted(), "{judgement:?}");
}

#[test]
fn doubted_agents_take_no_part_while_the_others_are_at_least_half() {
    let forged = homes(|index, ms| if index == 0 { ms / 2.0 } else { ms }, None);
    let references = ReferenceTimes::new(&forged);
    let trust = Trust::of_all(&HomeReports::judge_all(&references), HashMap::new());
    let available = |count: usize| -> AvailableAgents {
        (0..count).map(|index| (agent(index), Availability::Ready)).collect()
    };
    let admitted = review(&references, &trust).admit(&available(3)).admitted;
    assert_eq!(admitted.agents().collect::<Vec<_>>(), [agent(1), agent(2)]);
    let alone = review(&references, &trust).admit(&available(1)).admitted;
    assert_eq!(alone.agents().count(), 1, "somebody has to do it");
}

fn trail(times_ms: &[(usize, f64)]) -> Vec<TrailProbe> {
    let probe = |(index, ms): &(usize, f64)| {
        let outcome = ProbeOutcome::Measured { rtt_us: (ms * 1000.0) as u32 };
        TrailProbe { agent: agent(*index), phase: Phase::Predicted, outcome }
    };
    times_ms.iter().map(probe).collect()
}

fn review<'a>(references: &'a ReferenceTimes, trust: &'a HashMap<AgentId, Trust>) -> Review<'a> {
    Review { references, trust, control_share: 0.01 }
}

#[test]
fn implausible_times_are_replaced_by_the_least_plausible_one() {
    let references = honest();
    let trust = HashMap::new();
    let review = review(&references, &trust);
    // The target is at the other end of the line, next to agent 5.
    let reports = trail(&[(0, 1.0), (5, 3.0), (4, 42.0)]);
    let believed = review.credible_trail(&reports);
    let ProbeOutcome::Measured { rtt_us } = believed[0].outcome else { panic!("{believed:?}") };
    assert!((50_000..202_000).contains(&rtt_us), "{rtt_us}");
    assert_eq!(believed[1..], reports[1..]);
    let two = trail(&[(0, 1.0), (5, 3.0)]);
    assert_eq!(review.credible_trail(&two), two, "one of the two is wrong, but which?");
    let judged = review.judge_decided(&two);
    assert_eq!((judged.len(), judged[0].agent, judged[0].kind), (1, agent(0), ReportKind::Win));
    assert_eq!(judged[0].judgement.reported_ms.to_bits(), 1.0_f64.to_bits());
}

#[test]
fn the_first_win_of_an_agent_and_a_sample_of_later_ones_are_checked() {
    let references = honest();
    let ready: AvailableAgents =
        (0..AGENTS.len()).map(|index| (agent(index), Availability::Ready)).collect();
    let trail = trail(&[(0, 5.0), (2, 70.0)]);
    let subnet = SubnetId::new(9);
    let alone =
        Search { subnet, trail: &trail[..1], provisional: None, holder: None, waited_ms: 0 };
    let search = Search { trail: &trail, ..alone };
    let decide = |provisional| Step::Decide {
        agent: agent(0),
        rtt_us: 5_000,
        reason: Reason::Predicted,
        provisional,
    };
    let step_of = |search: &Search<'_>, trust: &HashMap<AgentId, Trust>, draw, provisional| {
        let order = (0..AGENTS.len()).map(agent);
        review(&references, trust).confirm(decide(provisional), search, &ready, draw, order)
    };
    let step = |trust: &HashMap<AgentId, Trust>, draw, provisional| {
        step_of(&search, trust, draw, provisional)
    };
    let ask = Step::Ask(Candidate { agent: agent(1), phase: Phase::Control, level: subnet });
    let mut trust = HashMap::new();
    assert_eq!(step(&trust, 0.5, false), ask, "nothing is known of the agent");
    assert_eq!(step(&trust, 0.5, true), decide(true), "a URL has waited long enough");
    let mut known = trust_after(&references, 0);
    trust.insert(agent(0), known.clone());
    assert_eq!(step(&trust, 0.5, false), ask, "its first win");
    won(&mut known, None);
    trust.insert(agent(0), known);
    assert_eq!(step(&trust, 0.5, false), decide(false));
    assert_eq!(step_of(&alone, &trust, 0.5, false), decide(false));
    assert_eq!(step_of(&alone, &trust, 0.005, false), ask, "one in a hundred");
}

/// A witness may reach a whole region by detours only, so that it contradicts an honest agent at
/// each target there.
#[test]
fn a_trusted_agent_that_one_witness_contradicts_gets_a_second_one() {
    let references = honest();
    let ready: AvailableAgents =
        (0..AGENTS.len()).map(|index| (agent(index), Availability::Ready)).collect();
    let mut known = trust_after(&references, 0);
    won(&mut known, None);
    let trust = HashMap::from([(agent(0), known)]);
    let review = review(&references, &trust);
    let subnet = SubnetId::new(9);
    let decide = Step::Decide {
        agent: agent(0),
        rtt_us: 5_000,
        reason: Reason::Predicted,
        provisional: false,
    };
    let next = |trail: &[TrailProbe]| {
        let search = Search { subnet, trail, provisional: None, holder: None, waited_ms: 0 };
        review.confirm(decide, &search, &ready, 0.5, (0..AGENTS.len()).map(agent))
    };
    let ask = Step::Ask(Candidate { agent: agent(1), phase: Phase::Control, level: subnet });
    assert_eq!(next(&trail(&[(0, 5.0), (2, 70.0)])), decide, "it agrees");
    assert_eq!(next(&trail(&[(0, 5.0), (2, 200.0)])), ask);
    let checked = trail(&[(0, 5.0), (2, 200.0), (1, 45.0)]);
    assert_eq!(next(&checked), decide);
    let judged = review.judge_decided(&checked);
    assert!(!judged[0].judgement.is_contradicted(), "{judged:?}");
}

#[test]
fn before_homes_are_measured_no_probe_is_spent() {
    let references = ReferenceTimes::default();
    let trust = HashMap::new();
    let ready: AvailableAgents = (0..2).map(|index| (agent(index), Availability::Ready)).collect();
    let trail = trail(&[(0, 5.0)]);
    let search = Search {
        subnet: SubnetId::new(9),
        trail: &trail,
        provisional: None,
        holder: None,
        waited_ms: 0,
    };
    let decide =
        Step::Decide { agent: agent(0), rtt_us: 5_000, reason: Reason::Lowest, provisional: false };
    let order = (0..2).map(agent);
    assert_eq!(review(&references, &trust).confirm(decide, &search, &ready, 0.0, order), decide);
}

/// Neighbours of one city cannot tell whether an agent behind a proxy forges: any report is
/// plausible between them.
#[test]
fn reports_that_nothing_could_contradict_prove_nothing() {
    let mut times = HomeTimes::new();
    for home in 0..AGENTS.len() {
        for witness in (0..AGENTS.len()).filter(|witness| *witness != home) {
            let ms = if home == 0 { 40.0 + 9.0 * witness as f64 } else { 3.0 };
            times.insert((agent(home), agent(witness)), Some(ms));
        }
    }
    let references = ReferenceTimes::new(&times);
    let proxied = trust_after(&references, 0);
    assert!(proxied.homes.judgements.len() > 6 && proxied.homes.contradicted() == 0);
    assert!(!proxied.homes.is_accepted, "{proxied:?}");
    assert!(trust_after(&references, 1).homes.is_accepted, "both directions of its pairs agree");
}

/// Trust in agent 0 whose reports on homes leave it doubted.
fn doubted() -> Trust {
    let mut trust = Trust::default();
    trust.homes.score = 6.0;
    trust.homes.judgements = (1..=6).map(|witness| report(1.0, 60.0, Some(witness))).collect();
    assert!(trust.needs_examination(), "{:?}", trust.level());
    trust
}

#[test]
fn a_decided_search_examines_a_doubted_agent_and_nothing_else_follows_from_its_report() {
    let references = honest();
    let trust = HashMap::from([(agent(0), doubted())]);
    let review = review(&references, &trust);
    let ready: AvailableAgents =
        (0..AGENTS.len()).map(|index| (agent(index), Availability::Ready)).collect();
    let suspects = review.admit(&ready).suspects;
    assert_eq!(suspects.agents().collect::<Vec<_>>(), [agent(0)]);
    let decide = Step::Decide {
        agent: agent(5),
        rtt_us: 3_000,
        reason: Reason::Predicted,
        provisional: false,
    };
    let subnet = SubnetId::new(9);
    let next = |trail: &[TrailProbe]| {
        let trail = review.credible_trail(trail);
        let search =
            Search { subnet, trail: &trail, provisional: None, holder: None, waited_ms: 0 };
        review.examine(decide, &search, &suspects)
    };
    // The target is at the other end of the line, next to agent 5.
    let mut probes = trail(&[(5, 3.0), (4, 42.0)]);
    let ask = Step::Ask(Candidate { agent: agent(0), phase: Phase::Control, level: subnet });
    assert_eq!(next(&probes), ask);
    assert_eq!(next(&probes[..1]), decide, "one of two would be wrong, but which?");
    assert_eq!(next(&trail(&[(6, 3.0), (1, 42.0)])), decide, "too near to tell");
    let pending = ProbeOutcome::Pending;
    probes.push(TrailProbe { agent: agent(0), phase: Phase::Control, outcome: pending });
    assert_eq!(next(&probes), Step::Wait);
    probes[2].outcome = ProbeOutcome::Measured { rtt_us: 1_000 };
    assert_eq!(next(&probes), decide);
    assert_eq!(review.credible_trail(&probes)[2].outcome, ProbeOutcome::Unreachable);
    let judged = review.judge_decided(&probes);
    let kinds: Vec<_> = judged.iter().map(|judged| (judged.agent, judged.kind)).collect();
    assert_eq!(kinds, [(agent(5), ReportKind::Win), (agent(0), ReportKind::Examination)]);
    assert!(!judged[0].judgement.is_contradicted() && judged[1].judgement.is_contradicted());
}

#[test]
fn examinations_end_a_doubt_one_way_or_the_other() {
    let level_after = |least_ms: f64| {
        let mut trust = doubted();
        let examined = (0..200).take_while(|index| {
            let needs = trust.needs_examination();
            let judgement = report(50.0, least_ms, Some(1 + index % 2));
            trust.searches.observe(ReportKind::Examination, &judgement);
            needs
        });
        (examined.count(), trust.level())
    };
    let (examined, level) = level_after(30.0);
    assert!(examined < 10 && level == TrustLevel::New, "{examined} {level:?}");
    let (examined, level) = level_after(60.0);
    assert!(examined < 10 && level == TrustLevel::Forging, "{examined} {level:?}");
}

#[test]
fn examinations_do_not_excuse_won_searches_and_come_to_an_end() {
    let mut trust = trust_after(&honest(), 0);
    while trust.level() < TrustLevel::Doubted {
        won(&mut trust, Some(1));
    }
    let mut examined = 0;
    while trust.needs_examination() {
        trust.searches.observe(ReportKind::Examination, &report(50.0, 30.0, Some(1)));
        examined += 1;
    }
    assert_eq!((examined, trust.level()), (50, TrustLevel::Doubted));
}

#[test]
fn what_no_network_stack_reaches_is_contradicted_without_a_witness() {
    let references = ReferenceTimes::default();
    let trust = HashMap::new();
    let judgement = review(&references, &trust).judge(agent(0), &trail(&[(0, 0.001)])).unwrap();
    assert!(judgement.is_contradicted());
    let believed = review(&references, &trust).credible_trail(&trail(&[(0, 0.001)]));
    assert_eq!(believed[0].outcome, ProbeOutcome::Unreachable, "it is never chosen");
    assert_eq!(review(&references, &trust).judge(agent(0), &trail(&[(0, 0.05)])), None);
}

#[test]
fn an_agent_that_begins_to_forge_late_is_found() {
    let mut trust = trust_after(&honest(), 0);
    for _ in 0..10_000 {
        won(&mut trust, None);
    }
    let found = (0..25).any(|_| {
        trust.searches.observe(ReportKind::Win, &report(0.001, 0.01, None));
        trust.level() == TrustLevel::Forging
    });
    assert!(found, "{trust:?}");
}

#[test]
fn a_single_witness_pauses_nobody() {
    let mut trust = Trust::default();
    for _ in 0..100 {
        won(&mut trust, Some(1));
    }
    assert_eq!(trust.level(), TrustLevel::Doubted);
    won(&mut trust, Some(2));
    assert_eq!(trust.level(), TrustLevel::Forging);
}
