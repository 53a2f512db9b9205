//! The predictive search, run on a draw through the same code that the coordinator runs.

use delegation::predict::{Experience, Foresight, Landmark, Places, next_step_keeping};
use delegation::{Availability, DelegationTable, Policy, Search};

use crate::replay::outcome::Decision;
use crate::replay::walk::walk;
use crate::{Crawler, Draw, Site};

/// Decisions, and how many probes the landmarks took.
pub(crate) fn run<'d>(draw: &'d Draw<'_>, worth_asking: f64) -> (Vec<Decision<'d>>, usize) {
    let hierarchy = &draw.ground.hierarchy;
    let places = survey(draw);
    let mut experience = Experience::of_landmarks(hierarchy, &places);
    let roster = draw.crawlers.iter().map(|crawler| (crawler.agent, Availability::Ready)).collect();
    let (delegation_table, policy) = (DelegationTable::default(), Policy::default());
    let mut decisions = Vec::new();
    for site in &draw.sites {
        let foresight = Foresight { places: &places, experience: &experience, worth_asking };
        let mut kept = None;
        let next = |search: &Search<'_>| {
            next_step_keeping(
                hierarchy,
                &delegation_table,
                &roster,
                &policy,
                &foresight,
                search,
                &mut kept,
            )
        };
        let Some((crawler, _, trail)) = walk(draw, *site, next) else { continue };
        let chances = kept.map(|thought| thought.chances().to_vec());
        if let Some(chances) = chances {
            experience.learn(hierarchy, site.subnet, &chances);
        }
        decisions.push(Decision { site: *site, crawler, probes: trail.len() });
    }
    (decisions, draw.landmarks.len() * draw.crawlers.len())
}

/// What the landmarks of a draw say.
pub(crate) fn survey(draw: &Draw<'_>) -> Places {
    let landmarks: Vec<Landmark> = draw.landmarks.iter().map(|site| measure(draw, *site)).collect();
    Places::survey(&landmarks)
}

fn measure(draw: &Draw<'_>, site: Site) -> Landmark {
    let time = |crawler: &Crawler| (crawler.agent, draw.probe_ms(crawler, site));
    Landmark { subnet: site.subnet, times_ms: draw.crawlers.iter().map(time).collect() }
}
