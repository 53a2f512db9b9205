//! Subnets that are where no landmark is, on the line of [`crate::predictor`].

use delegation::predictor::{Clusters, Landmark, Posterior, Prior};
use hierarchy::Hierarchy;

use crate::map::{agent, subnet};
use crate::predictor::{
    AGENTS, CLUSTERS, case, cluster_of, hierarchy, records, time_ms, truth, uniform,
};

/// Landmarks at the left end, as many at each cluster as `there`.
fn survey_of_the_left(hierarchy: &Hierarchy, there: usize) -> (Clusters, Prior) {
    let left = records(hierarchy).into_iter().filter(|subnet| cluster_of(hierarchy, *subnet) < 4);
    let mut found = [0; CLUSTERS];
    let landmarks: Vec<Landmark> = left
        .filter_map(|subnet| {
            let cluster = cluster_of(hierarchy, subnet);
            found[cluster] += 1;
            let times_ms =
                AGENTS.iter().map(|(number, at)| (agent(*number), time_ms(*at, cluster))).collect();
            (found[cluster] <= there).then_some(Landmark { subnet, times_ms })
        })
        .collect();
    let clusters = Clusters::fit(&landmarks);
    let prior = Prior::from_landmarks(hierarchy, &clusters);
    (clusters, prior)
}

#[test]
fn what_no_place_explains_is_elsewhere_and_what_one_explains_is_not() {
    let hierarchy = hierarchy();
    let (clusters, _) = survey_of_the_left(&hierarchy, 2);
    let after = |probes: &[(i64, usize)], cluster: usize| {
        let mut posterior = Posterior::new(&clusters, &uniform(&clusters));
        for (number, at) in probes {
            posterior.observe(agent(*number), time_ms(*at, cluster));
        }
        posterior
    };
    let both = [(2, 3), (1, 0)];
    assert!(after(&both[..1], 2).background() < 0.05);
    assert!(after(&both, 2).background() < 0.01);
    let far = after(&both, 9);
    assert!(far.background() > 0.9, "{}", far.background());
    let (expected_ms, deviation_ms) = far.expected_ms(agent(4));
    assert!(
        (20.0..150.0).contains(&expected_ms) && deviation_ms > 20.0,
        "{expected_ms} {deviation_ms}"
    );
}

/// The fourth agent is far from all landmarks, so that known clusters alone would say that it is
/// far from everything.
#[test]
fn who_is_far_from_all_landmarks_is_found_by_what_is_near_to_it() {
    for there in [1, 2, 6] {
        let mut case = case();
        (case.clusters, case.prior) = survey_of_the_left(&case.hierarchy, there);
        for target in ["20.9.9.0/24", "20.8.18.0/24"].map(|range| subnet(&case.hierarchy, range)) {
            case.trail.clear();
            let cluster = cluster_of(&case.hierarchy, target);
            let chosen = case.run(target, |agent| truth(agent, cluster));
            assert_eq!(chosen, agent(4), "{there}: {:?}", case.trail);
        }
    }
}

/// The more landmarks stand alone, the likelier the next subnet is at another cluster.
#[test]
fn lonely_landmarks_make_other_places_likely() {
    let hierarchy = hierarchy();
    let target = subnet(&hierarchy, "20.9.9.0/24");
    let background = |there| {
        survey_of_the_left(&hierarchy, there).1.probabilities(&hierarchy, target).pop().unwrap()
    };
    let alone = background(1);
    let in_company = background(6);
    assert!(alone > 0.2 && in_company < 0.01, "{alone} {in_company}");
}
