//! The predictive search, run on a draw through the same code that the coordinator runs.

use delegation::predict::{Experience, Foresight, Landmark, Places, next_step};
use delegation::{Asked, Availability, Book, Policy, Roster, Search, Step, Verdict};

use crate::replay::outcome::Decision;
use crate::{Crawler, Draw, Site};

/// Decisions, and how many probes the landmarks took.
pub(crate) fn run<'d>(draw: &'d Draw<'_>, worth_asking: f64) -> (Vec<Decision<'d>>, usize) {
    let landmarks: Vec<Landmark> = draw.landmarks.iter().map(|site| measure(draw, *site)).collect();
    let places = Places::survey(&landmarks);
    let mut experience = Experience::of_landmarks(&draw.ground.hierarchy, &places);
    let roster = draw.crawlers.iter().map(|crawler| (crawler.agent, Availability::Ready)).collect();
    let mut decisions = Vec::new();
    for site in &draw.sites {
        let foresight = Foresight { places: &places, experience: &experience, worth_asking };
        let Some((crawler, trail)) = search(draw, &roster, &foresight, *site) else { continue };
        let chances = foresight.belief(&draw.ground.hierarchy, &searched(*site, &trail)).chances();
        experience.learn(&draw.ground.hierarchy, site.subnet, &chances);
        decisions.push(Decision { site: *site, crawler, probes: trail.len() });
    }
    (decisions, draw.landmarks.len() * draw.crawlers.len())
}

fn measure(draw: &Draw<'_>, site: Site) -> Landmark {
    let time = |crawler: &Crawler| (crawler.agent, draw.probe_ms(crawler, site));
    Landmark { subnet: site.subnet, times_ms: draw.crawlers.iter().map(time).collect() }
}

fn search<'d>(
    draw: &'d Draw<'_>,
    roster: &Roster,
    foresight: &Foresight<'_>,
    site: Site,
) -> Option<(&'d Crawler, Vec<Asked>)> {
    let (book, policy) = (Book::default(), Policy::default());
    let mut trail: Vec<Asked> = Vec::new();
    loop {
        let search = searched(site, &trail);
        match next_step(&draw.ground.hierarchy, &book, roster, &policy, foresight, &search) {
            Step::Ask(candidate) => {
                let rtt_ms = draw.probe_ms(draw.crawler(candidate.agent), site);
                let verdict = Verdict::Measured { rtt_us: (rtt_ms * 1000.0) as u32 };
                trail.push(Asked { agent: candidate.agent, phase: candidate.phase, verdict });
            }
            Step::Decide { agent, .. } => return Some((draw.crawler(agent), trail)),
            Step::Wait | Step::Silent | Step::NoAgents => return None,
        }
    }
}

fn searched(site: Site, trail: &[Asked]) -> Search<'_> {
    Search { subnet: site.subnet, trail, provisional: None, waited_ms: 0 }
}
