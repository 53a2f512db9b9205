//! The predictive strategy on a line: clusters 0 to 9, agents at clusters 0, 3, 6 and 9, neighbours
//! 20 ms apart.

use delegation::predictor::{Clusters, Landmark, Posterior, Predictor, Prior, next_step};
use delegation::{
    Availability, AvailableAgents, DelegationTable, Policy, ProbeOutcome, Search, Step, TrailProbe,
};
use hierarchy::{Hierarchy, SubnetId, SubnetKind};
use model::{AgentId, Phase, Reason};
use proptest::prelude::*;

use crate::map::{self, agent, subnet};

pub(crate) const CLUSTERS: usize = 10;
pub(crate) const AGENTS: [(i64, usize); 4] = [(1, 0), (2, 3), (3, 6), (4, 9)];
const ACCESS_MS: f64 = 5.0;

pub(crate) fn time_ms(agent_at: usize, cluster: usize) -> f64 {
    20.0 * agent_at.abs_diff(cluster) as f64 + 1.0 + ACCESS_MS
}

/// Three companies per cluster, two subnets each; the last digit of the company is its cluster.
pub(crate) fn hierarchy() -> Hierarchy {
    let named: Vec<(String, String)> = (0..60)
        .map(|n| {
            (
                format!("20.{}.{n}.0/24", n % CLUSTERS),
                format!("company {}-{}", n / 20, n % CLUSTERS),
            )
        })
        .collect();
    let subnets: Vec<_> =
        named.iter().map(|(range, company)| (range.as_str(), Some(company.as_str()))).collect();
    map::hierarchy(&subnets)
}

/// The second number of the address is the cluster.
pub(crate) fn cluster_of(hierarchy: &Hierarchy, subnet: SubnetId) -> usize {
    hierarchy.subnet(subnet).range().to_string().split('.').nth(1).unwrap().parse().unwrap()
}

pub(crate) fn records(hierarchy: &Hierarchy) -> Vec<SubnetId> {
    let records = hierarchy.iter().filter(|subnet| subnet.kind() == SubnetKind::Delegated);
    records.map(|subnet| subnet.id()).collect()
}

/// Every third subnet is a landmark; `knows` says which agents have measured.
pub(crate) fn fit(hierarchy: &Hierarchy, knows: impl Fn(AgentId) -> bool) -> (Clusters, Prior) {
    let measured = |cluster: usize| {
        let measuring = AGENTS.iter().filter(|(number, _)| knows(agent(*number)));
        measuring.map(|(number, at)| (agent(*number), time_ms(*at, cluster))).collect()
    };
    let landmarks: Vec<Landmark> = records(hierarchy)
        .into_iter()
        .step_by(3)
        .map(|subnet| Landmark { subnet, times_ms: measured(cluster_of(hierarchy, subnet)) })
        .collect();
    let clusters = Clusters::fit(&landmarks);
    let prior = Prior::from_landmarks(hierarchy, &clusters);
    (clusters, prior)
}

/// All clusters alike, and one probability in a hundred of being background.
pub(crate) fn uniform(clusters: &Clusters) -> Vec<f64> {
    let mut prior = vec![0.99 / clusters.len() as f64; clusters.len()];
    prior.push(0.01);
    prior
}

/// The cluster that the agents' own times name.
fn recognised(clusters: &Clusters, cluster: usize) -> usize {
    (0..clusters.len())
        .find(|found| {
            (clusters.time_ms(*found, agent(1)).unwrap() - time_ms(0, cluster)).abs() < 1.0
        })
        .unwrap()
}

#[test]
fn landmarks_that_look_alike_are_one_place() {
    let hierarchy = hierarchy();
    let (clusters, _) = fit(&hierarchy, |_| true);
    assert_eq!(clusters.len(), CLUSTERS);
    for (landmark, cluster) in clusters.members() {
        assert_eq!(recognised(&clusters, cluster_of(&hierarchy, *landmark)), *cluster);
    }
}

#[test]
fn a_slow_access_line_is_no_other_place() {
    let at = |access: f64| Landmark {
        subnet: SubnetId::new(1),
        times_ms: AGENTS
            .iter()
            .map(|(number, from)| (agent(*number), time_ms(*from, 4) + access))
            .collect(),
    };
    let clusters = Clusters::fit(&[at(0.0), at(6.0), at(-3.0)]);
    assert_eq!(clusters.len(), 1);
    let mean = clusters.time_ms(0, agent(2)).unwrap();
    assert!(
        (mean - time_ms(3, 4) - 1.0).abs() < 1.0,
        "the usual access is the mean of the three: {mean}"
    );
}

#[test]
fn who_has_not_measured_a_landmark_is_not_in_its_place() {
    let hierarchy = hierarchy();
    let (clusters, _) = fit(&hierarchy, |who| who != agent(4));
    assert_eq!(clusters.time_ms(0, agent(4)), None);
    assert!(clusters.time_ms(0, agent(3)).is_some());
    assert!(Clusters::fit(&[]).is_empty());
}

#[test]
fn a_company_counts_before_its_country() {
    let hierarchy = hierarchy();
    let (clusters, mut prior) = fit(&hierarchy, |_| true);
    let target = subnet(&hierarchy, "20.7.27.0/24");
    let before = prior.probabilities(&hierarchy, target);
    let mut background = vec![0.0; clusters.len()];
    let other = recognised(&clusters, 2);
    background[other] = 1.0;
    for _ in 0..5 {
        prior.add_observation(&hierarchy, target, &background);
    }
    let after = prior.probabilities(&hierarchy, target);
    assert!(
        after[other] > 0.5 && after[other] > 3.0 * before[other],
        "{} {}",
        before[other],
        after[other]
    );
    for prior in [before, after] {
        assert!((prior.iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn two_probes_tell_the_place_and_one_strange_one_does_not_ruin_it() {
    let hierarchy = hierarchy();
    let (clusters, _) = fit(&hierarchy, |_| true);
    let uniform = uniform(&clusters);
    let mut posterior = Posterior::new(&clusters, &uniform);
    posterior.observe(agent(2), time_ms(3, 5));
    let probabilities = posterior.probabilities();
    let left = probabilities[recognised(&clusters, 1)];
    let right = probabilities[recognised(&clusters, 5)];
    assert!(
        (left - right).abs() < 0.05 && left + right > 0.6,
        "40 ms to either side: {left} {right}"
    );
    posterior.observe(agent(3), time_ms(6, 5));
    assert!(posterior.probabilities()[recognised(&clusters, 5)] > 0.7);
    posterior.observe(agent(1), 900.0);
    assert!(posterior.probabilities()[recognised(&clusters, 5)] > 0.5);
}

fn ready() -> AvailableAgents {
    AGENTS.iter().map(|(number, _)| (agent(*number), Availability::Ready)).collect()
}

pub(crate) struct Case {
    pub(crate) hierarchy: Hierarchy,
    pub(crate) clusters: Clusters,
    pub(crate) prior: Prior,
    available: AvailableAgents,
    pub(crate) trail: Vec<TrailProbe>,
    waited_ms: u64,
    provisional: Option<AgentId>,
}

pub(crate) fn case() -> Case {
    let hierarchy = hierarchy();
    let (clusters, prior) = fit(&hierarchy, |_| true);
    Case {
        hierarchy,
        clusters,
        prior,
        available: ready(),
        trail: Vec::new(),
        waited_ms: 0,
        provisional: None,
    }
}

impl Case {
    fn step(&self, target: SubnetId) -> Step {
        let predictor =
            Predictor { clusters: &self.clusters, prior: &self.prior, min_probability: 0.07 };
        let provisional = self.provisional;
        let waited_ms = self.waited_ms;
        let search = Search { subnet: target, trail: &self.trail, provisional, waited_ms };
        next_step(
            &self.hierarchy,
            &DelegationTable::default(),
            &self.available,
            &Policy::default(),
            &predictor,
            &search,
        )
        .0
    }

    fn answer(&mut self, agent: AgentId, rtt_ms: f64) {
        let outcome = ProbeOutcome::Measured { rtt_us: (rtt_ms * 1000.0) as u32 };
        self.trail.push(TrailProbe { agent, phase: Phase::Predicted, outcome });
    }

    /// Runs to the end and gives whom it chose; `time` is the truth.
    pub(crate) fn run(&mut self, target: SubnetId, time: impl Fn(AgentId) -> f64) -> AgentId {
        for _ in 0..=AGENTS.len() {
            match self.step(target) {
                Step::Ask(candidate) => self.answer(candidate.agent, time(candidate.agent)),
                Step::Decide { agent, reason, provisional, .. } => {
                    assert_eq!((reason, provisional), (Reason::Predicted, false));
                    return agent;
                }
                other => panic!("{other:?}"),
            }
        }
        panic!("asked somebody twice: {:?}", self.trail);
    }
}

pub(crate) fn truth(number: AgentId, cluster: usize) -> f64 {
    time_ms(AGENTS.iter().find(|(other, _)| agent(*other) == number).unwrap().1, cluster)
}

#[test]
fn the_nearest_is_found_and_a_known_company_takes_one_probe() {
    let case = case();
    let known: Vec<SubnetId> =
        case.clusters.members().iter().map(|(landmark, _)| *landmark).collect();
    let mut probes_of_known = Vec::new();
    for target in records(&case.hierarchy) {
        let cluster = cluster_of(&case.hierarchy, target);
        let mut search = Case { trail: Vec::new(), ..self::case() };
        let chosen = search.run(target, |agent| truth(agent, cluster));
        let best = AGENTS
            .iter()
            .map(|(number, _)| truth(agent(*number), cluster))
            .fold(f64::INFINITY, f64::min);
        assert!(
            (truth(chosen, cluster) - best).abs() < 1e-9,
            "cluster {cluster}: {:?}",
            search.trail
        );
        if known.contains(&target) {
            probes_of_known.push(search.trail.len() as f64);
        }
    }
    let mean = probes_of_known.iter().sum::<f64>() / probes_of_known.len() as f64;
    assert!(mean < 2.0, "{mean}");
}

#[test]
fn a_sleeping_rival_is_waited_for_and_the_rest_is_not_asked() {
    let mut case = case();
    let target = subnet(&case.hierarchy, "20.9.9.0/24");
    case.available.set(agent(4), Availability::Asleep);
    case.answer(agent(3), time_ms(6, 9));
    case.answer(agent(2), time_ms(3, 9));
    assert_eq!(case.step(target), Step::Wait);
    case.waited_ms = Policy::default().patience_ms;
    assert!(matches!(
        case.step(target),
        Step::Decide { agent: chosen, provisional: true, .. } if chosen == agent(3)
    ));
    case.provisional = Some(agent(3));
    case.available.set(agent(4), Availability::Ready);
    assert!(matches!(case.step(target), Step::Ask(candidate) if candidate.agent == agent(4)));
    case.answer(agent(4), time_ms(9, 9));
    assert!(matches!(
        case.step(target),
        Step::Decide { agent: chosen, provisional: false, .. } if chosen == agent(4)
    ));
}

#[test]
fn an_answer_that_may_still_change_the_choice_is_waited_for() {
    let mut case = case();
    let target = subnet(&case.hierarchy, "20.9.9.0/24");
    case.answer(agent(3), time_ms(6, 9));
    case.answer(agent(2), time_ms(3, 9));
    case.trail.push(TrailProbe {
        agent: agent(4),
        phase: Phase::Predicted,
        outcome: ProbeOutcome::Pending,
    });
    assert_eq!(case.step(target), Step::Wait);
}

#[test]
fn who_never_measured_a_landmark_is_tried() {
    let mut case = case();
    (case.clusters, case.prior) = fit(&case.hierarchy, |who| who != agent(4));
    let target = subnet(&case.hierarchy, "20.9.9.0/24");
    let chosen = case.run(target, |agent| truth(agent, 9));
    assert_eq!(chosen, agent(4), "{:?}", case.trail);
}

#[test]
fn without_landmarks_it_is_the_papers_search() {
    let mut case = case();
    case.clusters = Clusters::default();
    let target = subnet(&case.hierarchy, "20.9.9.0/24");
    assert!(matches!(case.step(target), Step::Ask(candidate) if candidate.phase == Phase::Rest));
}

#[test]
fn a_target_that_answers_nobody_is_silent() {
    let mut case = case();
    let target = subnet(&case.hierarchy, "20.9.9.0/24");
    for _ in AGENTS {
        let Step::Ask(candidate) = case.step(target) else { panic!("{:?}", case.trail) };
        let outcome = ProbeOutcome::Unreachable;
        case.trail.push(TrailProbe { agent: candidate.agent, phase: candidate.phase, outcome });
    }
    assert_eq!(case.step(target), Step::NoAnswer);
}

proptest! {
    /// Whatever the network really is like: nobody is asked twice, and the fastest of those who
    /// were asked gets it.
    #[test]
    fn any_truth_ends_in_the_fastest_measured(
        target in 0_usize..60,
        times in prop::collection::vec(1.0..400.0, 4),
    ) {
        let mut case = case();
        let target = records(&case.hierarchy)[target];
        let chosen = case.run(target, |agent| times[agent.get() as usize - 1]);
        let fastest = case
            .trail
            .iter()
            .map(|asked| times[asked.agent.get() as usize - 1])
            .fold(f64::INFINITY, f64::min);
        prop_assert!((times[chosen.get() as usize - 1] - fastest).abs() < 0.002);
    }

    #[test]
    fn chances_are_probabilities(
        probes in prop::collection::vec((0_usize..4, 0.1..2000.0), 0..6),
        best in 0.1..2000.0,
    ) {
        let case = case();
        let mut posterior = Posterior::new(&case.clusters, &uniform(&case.clusters));
        for (who, rtt_ms) in probes {
            posterior.observe(agent(AGENTS[who].0), rtt_ms);
        }
        let everybody: Vec<AgentId> = AGENTS.iter().map(|(number, _)| agent(*number)).collect();
        prop_assert!((posterior.probabilities().iter().sum::<f64>() - 1.0).abs() < 1e-6);
        let search = Search {
            subnet: subnet(&case.hierarchy, "20.9.9.0/24"),
            trail: &[],
            provisional: None,
            waited_ms: 0,
        };
        let nearest = everybody
            .iter()
            .map(|agent| posterior.probability_nearest(*agent, &case.available, &search));
        prop_assert!((nearest.sum::<f64>() + posterior.background() - 1.0).abs() < 0.01);
        prop_assert!(
            posterior
                .probabilities_below(best, &everybody)
                .iter()
                .all(|probability| (0.0..1.000_001).contains(probability))
        );
    }
}
