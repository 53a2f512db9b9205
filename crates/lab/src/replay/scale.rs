//! Many hosts with many agents: how fast are the decisions?

use std::hint::black_box;

use delegation::predict::{Experience, Foresight, Thought, WORTH_ASKING, next_step_keeping};
use delegation::{
    Asked, Availability, AvailableAgents, DelegationTable, Holding, Policy, Reason, next_step,
};

use crate::clock::Start;
use crate::replay::predictive::survey;
use crate::replay::walk::{searched, walk};
use crate::{Draw, Site, Took};

/// Which search is timed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Searching {
    /// The paper's, at 50 ms.
    Threshold,
    /// With landmarks.
    Predictive,
}

/// What a run over many hosts showed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Scale {
    /// Hosts that came up.
    pub hosts: u64,
    /// Of these, hosts whose subnet was delegated already.
    pub known: u64,
    /// Searches for the others.
    pub searches: u64,
    /// Probes of these.
    pub probes: u64,
    /// Decisions of the searches: whom to ask next, or whom to choose.
    pub decisions: u64,
    /// Landmarks and places of the predictive search.
    pub survey: Took,
    /// All hosts, with the simulation of their probes.
    pub run: Took,
    /// Decisions taken again in a tight loop, with the delegation table and the experience as they were in the
    /// end.
    pub decisions_again: u64,
    /// What those took, as the median of some turns: one of a second may meet a machine that is
    /// busy.
    pub again: Took,
}

/// Key of this stream of chance.
const HOST: u64 = 401;
/// Hosts crowd: the subnet of a host is the uniform draw to this power.
const CROWDING: f64 = 1.5;
/// Searches that are taken again.
const AGAIN: usize = 20_000;
/// How often.
const TURNS: usize = 5;

/// Lets so many hosts come up on the draw's subnets, each in its subnet's first address.
pub fn scale(draw: &Draw<'_>, hosts: u64, searching: Searching) -> Scale {
    let mut desk = Desk::new(draw, searching);
    let begun = Start::now();
    for host in 0..hosts {
        let place = draw.noise().uniform(&[HOST, host]).powf(CROWDING) * draw.sites.len() as f64;
        if let Some(site) = draw.sites.get(place as usize) {
            desk.host(*site);
        }
    }
    desk.seen.run = begun.took();
    desk.again();
    desk.seen
}

struct Desk<'d> {
    draw: &'d Draw<'d>,
    searching: Searching,
    roster: AvailableAgents,
    policy: Policy,
    delegation_table: DelegationTable,
    places: delegation::predict::Places,
    experience: Experience,
    trails: Vec<(Site, Vec<Asked>)>,
    seen: Scale,
}

impl<'d> Desk<'d> {
    fn new(draw: &'d Draw<'d>, searching: Searching) -> Self {
        let begun = Start::now();
        let places = survey(draw);
        let experience = Experience::of_landmarks(&draw.ground.hierarchy, &places);
        Self {
            draw,
            searching,
            roster: draw
                .crawlers
                .iter()
                .map(|crawler| (crawler.agent, Availability::Ready))
                .collect(),
            policy: Policy::default(),
            delegation_table: draw.delegation_table(),
            places,
            experience,
            trails: Vec::new(),
            seen: Scale { survey: begun.took(), ..Scale::default() },
        }
    }

    fn host(&mut self, site: Site) {
        let hierarchy = &self.draw.ground.hierarchy;
        self.seen.hosts += 1;
        black_box(hierarchy.smallest(hierarchy.subnet(site.subnet).range().first()));
        if self.delegation_table.agent_of(site.subnet).is_some() {
            self.seen.known += 1;
            return;
        }
        let mut kept = None;
        let walked = walk(self.draw, site, |search| self.step(search, &mut kept));
        let Some((crawler, reason, trail)) = walked else { return };
        let chances = kept.map(|thought| thought.chances().to_vec());
        self.seen.searches += 1;
        self.seen.probes += trail.len() as u64;
        self.seen.decisions += trail.len() as u64 + 1;
        self.learn(site, crawler.agent, reason, chances.as_deref());
        if self.trails.len() < AGAIN {
            self.trails.push((site, trail));
        }
    }

    fn step<'s>(
        &'s self,
        search: &delegation::Search<'_>,
        kept: &mut Option<Thought<'s>>,
    ) -> delegation::Step {
        let hierarchy = &self.draw.ground.hierarchy;
        match self.searching {
            Searching::Threshold => {
                next_step(hierarchy, &self.delegation_table, &self.roster, &self.policy, search)
            }
            Searching::Predictive => {
                let foresight = self.foresight();
                next_step_keeping(
                    hierarchy,
                    &self.delegation_table,
                    &self.roster,
                    &self.policy,
                    &foresight,
                    search,
                    kept,
                )
            }
        }
    }

    fn foresight(&self) -> Foresight<'_> {
        Foresight { places: &self.places, experience: &self.experience, worth_asking: WORTH_ASKING }
    }

    fn learn(
        &mut self,
        site: Site,
        agent: protocol::AgentId,
        reason: Reason,
        chances: Option<&[f64]>,
    ) {
        let hierarchy = &self.draw.ground.hierarchy;
        self.delegation_table.insert(hierarchy, site.subnet, Holding { agent, reason });
        if let Some(chances) = chances {
            self.experience.learn(hierarchy, site.subnet, chances);
        }
    }

    /// Every step of the kept searches once more, in turns.
    fn again(&mut self) {
        let mut turns: Vec<(u64, Took)> = (0..TURNS).map(|_| self.turn()).collect();
        turns.sort_by(|(_, a), (_, b)| a.cpu_ms.total_cmp(&b.cpu_ms));
        (self.seen.decisions_again, self.seen.again) = turns[TURNS / 2];
    }

    fn turn(&self) -> (u64, Took) {
        let begun = Start::now();
        let mut count = 0;
        for (site, trail) in &self.trails {
            let mut kept = None;
            for asked in 0..=trail.len() {
                black_box(self.step(&searched(*site, &trail[..asked]), &mut kept));
                count += 1;
            }
        }
        (count, begun.took())
    }
}
