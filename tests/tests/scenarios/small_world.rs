//! A world small enough for a test: made-up registry data, a handful of agents, a few hundred
//! pages.

use std::time::Duration;

use tests::demo::{Cast, Ground, Manners, Numbers, RegistryData, Watch, Wish};
use tests::harness::Room;
use tests::net::take_privilege;
use tests::referee::Rules;
use tests::world::{Geography, Size};

/// No small crawl takes longer, also when the machine is busy.
pub(crate) const LIMIT: Duration = Duration::from_mins(6);

const SEED: u64 = 7;

/// Everything that a scenario needs. Fields are dropped in this order: programs first, then the
/// world, then its files.
pub(crate) struct SmallWorld {
    pub(crate) cast: Cast,
    pub(crate) ground: Ground,
    pub(crate) geography: Geography,
    pub(crate) manners: Manners,
    pub(crate) room: Room,
}

impl SmallWorld {
    /// Puts it up; nothing is crawled yet.
    pub(crate) async fn open(size: Size, documents: usize) -> Self {
        let room = Room::open("scenario").unwrap();
        let data = RegistryData::made_up(&room).unwrap();
        let geography = Geography::open(None, SEED).unwrap();
        // In a test there are several threads already: an ordinary user's world is on loopback.
        let wish = Wish { size, documents, seed: SEED, namespaces: take_privilege().is_ok() };
        let ground = Ground::open(data, &geography, wish, &room).unwrap();
        ground.stage.prove_isolated().unwrap();
        let manners = Manners { host_delay_ms: 100, ship_age_ms: 1_000, ..Manners::default() };
        let cast = Cast::assemble(&ground.stage, &ground.data, &room, manners).await.unwrap();
        Self { cast, ground, geography, manners, room }
    }

    /// Waits for the end of the crawl and gathers what came of it.
    pub(crate) async fn finish(&mut self) -> Numbers {
        let took =
            Watch::new(self.ground.stage.referee(), &self.cast.admin).until_over(LIMIT).await;
        let rules = Rules { least_gap: Duration::from_millis(self.manners.host_delay_ms) };
        Numbers::gather(&self.ground.stage, &self.geography, &mut self.cast, rules, took)
            .await
            .unwrap()
    }

    /// Share of the expected URLs that have been fetched; 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        self.ground.stage.referee().coverage().all.share()
    }
}
