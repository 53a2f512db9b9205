//! A small world for scenarios: synthetic registry data, a few agents, a few hundred pages.

use std::time::Duration;

use tests::demo::{
    CrawlSettings, Deployment, Numbers, PeerPaths, RegionPlan, RegistryData, Setup, Watch,
    WorldRequest,
};
use tests::harness::RunDirectory;
use tests::net::take_privilege;
use tests::referee::Rules;
use tests::world::{Geography, Size};

/// No small crawl takes longer, also when the machine is busy.
pub(crate) const LIMIT: Duration = Duration::from_mins(6);

const SEED: u64 = 7;

/// Everything that a scenario needs. Fields are dropped in this order: programs first, then the
/// world, then its files.
pub(crate) struct SmallWorld {
    pub(crate) deployment: Deployment,
    pub(crate) setup: Setup,
    pub(crate) geography: Geography,
    pub(crate) settings: CrawlSettings,
    pub(crate) run_directory: RunDirectory,
}

impl SmallWorld {
    /// Puts it up; nothing is crawled yet.
    pub(crate) async fn open(size: Size, documents: usize) -> Self {
        Self::open_with(size, documents, None).await
    }

    /// One whose agents form a region and reach each other in this way.
    pub(crate) async fn open_region(size: Size, documents: usize, paths: PeerPaths) -> Self {
        Self::open_with(size, documents, Some(RegionPlan::short(paths))).await
    }

    pub(crate) async fn open_with(
        size: Size,
        documents: usize,
        region: Option<RegionPlan>,
    ) -> Self {
        let run_directory = RunDirectory::open("scenario").unwrap();
        let data = RegistryData::made_up(&run_directory).unwrap();
        let geography = Geography::open(None, SEED).unwrap();
        // In a test there are several threads already: an ordinary user's world is on loopback.
        let request =
            WorldRequest { size, documents, seed: SEED, namespaces: take_privilege().is_ok() };
        let setup = Setup::open(data, &geography, request, &run_directory).unwrap();
        setup.environment.prove_isolated().unwrap();
        let settings = CrawlSettings {
            host_delay_ms: 100,
            ship_age_ms: 1_000,
            region,
            ..CrawlSettings::default()
        };
        let deployment =
            Deployment::assemble(&setup.environment, &setup.data, &run_directory, settings)
                .await
                .unwrap();
        Self { deployment, setup, geography, settings, run_directory }
    }

    /// Waits for the end of the crawl and gathers what came of it.
    pub(crate) async fn finish(&mut self) -> Numbers {
        let took = Watch::new(self.setup.environment.referee(), &self.deployment.admin)
            .until_over(LIMIT)
            .await;
        let rules = Rules { least_gap: Duration::from_millis(self.settings.host_delay_ms) };
        Numbers::gather(
            &self.setup.environment,
            &self.geography,
            &mut self.deployment,
            rules,
            (took, None),
        )
        .await
        .unwrap()
    }

    /// Share of the expected URLs that have been fetched; 0 to 1.
    pub(crate) fn progress(&self) -> f64 {
        self.setup.environment.referee().coverage().all.share()
    }
}
