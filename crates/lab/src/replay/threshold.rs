//! The paper's search, run on a draw through the same code that the coordinator runs.

use delegation::{Asked, Availability, Book, Holding, Policy, Roster, Search, Step, Verdict, next_step};

use crate::replay::outcome::Decision;
use crate::{Draw, Site};

pub(crate) fn run<'d>(draw: &'d Draw<'_>, threshold_ms: f64) -> Vec<Decision<'d>> {
    let policy = Policy { threshold_us: (threshold_ms * 1000.0) as u32, ..Policy::default() };
    let roster = draw.crawlers.iter().map(|crawler| (crawler.agent, Availability::Ready)).collect();
    let mut book = draw.book();
    draw.sites.iter().filter_map(|site| search(draw, &policy, &roster, &mut book, *site)).collect()
}

fn search<'d>(
    draw: &'d Draw<'_>,
    policy: &Policy,
    roster: &Roster,
    book: &mut Book,
    site: Site,
) -> Option<Decision<'d>> {
    let hierarchy = &draw.ground.hierarchy;
    let mut trail: Vec<Asked> = Vec::new();
    loop {
        let search = Search { subnet: site.subnet, trail: &trail, provisional: None, waited_ms: 0 };
        match next_step(hierarchy, book, roster, policy, &search) {
            Step::Ask(candidate) => {
                let rtt_ms = draw.probe_ms(draw.crawler(candidate.agent), site);
                let verdict = Verdict::Measured { rtt_us: (rtt_ms * 1000.0) as u32 };
                trail.push(Asked { agent: candidate.agent, phase: candidate.phase, verdict });
            }
            Step::Decide { agent, reason, .. } => {
                book.insert(hierarchy, site.subnet, Holding { agent, reason });
                return Some(Decision { site, crawler: draw.crawler(agent), probes: trail.len() });
            }
            Step::Wait | Step::Silent | Step::NoAgents => return None,
        }
    }
}
