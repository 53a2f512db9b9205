//! Subnets that are where no landmark is, on the line of [`crate::predict`].

use delegation::predict::{Belief, Experience, Landmark, Places};
use hierarchy::Hierarchy;

use crate::map::{agent, subnet};
use crate::predict::{AGENTS, PLACES, case, hierarchy, place_of, records, time_ms, truth, uniform};

/// Landmarks at the left end, as many at each place as `there`.
fn survey_of_the_left(hierarchy: &Hierarchy, there: usize) -> (Places, Experience) {
    let left = records(hierarchy).into_iter().filter(|subnet| place_of(hierarchy, *subnet) < 4);
    let mut found = [0; PLACES];
    let landmarks: Vec<Landmark> = left
        .filter_map(|subnet| {
            let place = place_of(hierarchy, subnet);
            found[place] += 1;
            let times_ms =
                AGENTS.iter().map(|(number, at)| (agent(*number), time_ms(*at, place))).collect();
            (found[place] <= there).then_some(Landmark { subnet, times_ms })
        })
        .collect();
    let places = Places::survey(&landmarks);
    let experience = Experience::of_landmarks(hierarchy, &places);
    (places, experience)
}

#[test]
fn what_no_place_explains_is_elsewhere_and_what_one_explains_is_not() {
    let hierarchy = hierarchy();
    let (places, _) = survey_of_the_left(&hierarchy, 2);
    let after = |probes: &[(i64, usize)], place: usize| {
        let mut belief = Belief::new(&places, &uniform(&places));
        for (number, at) in probes {
            belief.observe(agent(*number), time_ms(*at, place));
        }
        belief
    };
    let both = [(2, 3), (1, 0)];
    assert!(after(&both[..1], 2).elsewhere() < 0.05);
    assert!(after(&both, 2).elsewhere() < 0.01);
    let far = after(&both, 9);
    assert!(far.elsewhere() > 0.9, "{}", far.elsewhere());
    let (expected_ms, deviation_ms) = far.expected_ms(agent(4));
    assert!(
        (20.0..150.0).contains(&expected_ms) && deviation_ms > 20.0,
        "{expected_ms} {deviation_ms}"
    );
}

/// The fourth agent is far from all landmarks, so that known places alone would say that it is far
/// from everything.
#[test]
fn who_is_far_from_all_landmarks_is_found_by_what_is_near_to_it() {
    for there in [1, 2, 6] {
        let mut case = case();
        (case.places, case.experience) = survey_of_the_left(&case.hierarchy, there);
        for target in ["20.9.9.0/24", "20.8.18.0/24"].map(|range| subnet(&case.hierarchy, range)) {
            case.trail.clear();
            let place = place_of(&case.hierarchy, target);
            let chosen = case.run(target, |agent| truth(agent, place));
            assert_eq!(chosen, agent(4), "{there}: {:?}", case.trail);
        }
    }
}

/// The more landmarks stand alone, the likelier the next subnet is at another place.
#[test]
fn lonely_landmarks_make_other_places_likely() {
    let hierarchy = hierarchy();
    let target = subnet(&hierarchy, "20.9.9.0/24");
    let elsewhere =
        |there| survey_of_the_left(&hierarchy, there).1.prior(&hierarchy, target).pop().unwrap();
    let (alone, in_company) = (elsewhere(1), elsewhere(6));
    assert!(alone > 0.2 && in_company < 0.01, "{alone} {in_company}");
}
