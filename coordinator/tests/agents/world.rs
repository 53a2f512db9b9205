//! A coordinator in this process, on a database and a directory of its own.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use coordinator::http::agent::tokens;
use coordinator::intake::seed_checks::check_seeds;
use coordinator::intake::seeds::add_seeds;
use coordinator::placement::agent_administration::{AgentAction, administer};
use coordinator::runtime::clock::{Clock, SystemClock};
use coordinator::runtime::config::Config;
use coordinator::runtime::coordinator_key;
use coordinator::runtime::events::Event;
use coordinator::runtime::failure::Failure;
use coordinator::runtime::uptime::SETTING;
use coordinator::startup::cli::ServeArgs;
use coordinator::startup::{boot, configuration, serve};
use coordinator::tasks::coordinator::Coordinator;
use hierarchy::{
    BuildReport, Builder, CompanyIndex, Generation, Hierarchy, Record, Registry, SubnetKind,
};
use index::{Index, SearchResults};
use model::{AgentId, CrawlUrl, UnixMillis};
use protocol::join_token::JoinToken;
use s3_server::S3Server;
use serde_json::json;
use store::generations::Load;
use store::testing::TestDatabase;
use store::urls::NewUrl;
use store::{Address, Store, join_tokens, settings};
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Longest wait for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// What outlives a coordinator.
pub(crate) struct Ground {
    database: TestDatabase,
    dir: TempDir,
    resolver: Option<SocketAddr>,
    s3: Option<S3Server>,
}

impl Ground {
    /// With the little internet of [`hierarchy`] loaded.
    pub(crate) async fn new() -> Self {
        let bare = Self::bare().await;
        load(bare.store(), &hierarchy()).await;
        bare
    }

    /// Without registry data.
    pub(crate) async fn bare() -> Self {
        let database = TestDatabase::new().await.unwrap();
        Self { database, dir: tempfile::tempdir().unwrap(), resolver: None, s3: None }
    }

    /// Several coordinators may share the packages.
    pub(crate) fn with_shared_storage(self) -> Self {
        Self { s3: Some(S3Server::start().unwrap()), ..self }
    }

    /// The storage that several coordinators may share.
    pub(crate) fn shared_storage(&self) -> &S3Server {
        self.s3.as_ref().unwrap()
    }

    pub(crate) fn with_resolver(self, resolver: SocketAddr) -> Self {
        Self { resolver: Some(resolver), ..self }
    }

    pub(crate) fn store(&self) -> &Store {
        self.database.store()
    }

    /// Makes all time until now uptime of the coordinator.
    pub(crate) async fn forget_downtime(&self) {
        let up = json!({ "seen": SystemClock.now(), "downtimes": [] });
        settings::set(self.store(), SETTING, &up).await.unwrap();
    }

    /// Where the packages lie.
    pub(crate) fn packages(&self) -> PathBuf {
        self.dir.path().join("packages")
    }

    /// The file with the hierarchy for the next start.
    pub(crate) fn snapshot(&self) -> Vec<u8> {
        std::fs::read(self.dir.path().join("hierarchy.snapshot")).unwrap()
    }

    pub(crate) fn lose_the_index(&self) {
        std::fs::remove_dir_all(self.dir.path().join("index")).unwrap();
    }

    pub(crate) async fn start(&self) -> Running {
        self.start_with(self.config()).await
    }

    /// Loads a hierarchy, and starts it and waits until it has that.
    pub(crate) async fn start_on(&self, hierarchy: &Hierarchy) -> Running {
        load(self.store(), hierarchy).await;
        let running = self.start().await;
        running.until_hierarchy_is_loaded().await;
        running
    }

    /// Starts it with another configuration than usual.
    pub(crate) async fn start_changed(&self, change: impl FnOnce(&mut Config)) -> Running {
        let mut config = self.config();
        change(&mut config);
        self.start_with(config).await
    }

    /// Starts another one beside it, with a directory and connections of its own.
    pub(crate) async fn start_beside(&self, dir: &TempDir) -> Running {
        self.try_start_beside(dir).await.unwrap()
    }

    /// Starts another one beside it, which may be refused.
    pub(crate) async fn try_start_beside(&self, dir: &TempDir) -> Result<Running, Failure> {
        let mut config = self.config();
        dir.path().clone_into(&mut config.data_dir);
        let connections = config.limits.database_connections;
        let store = store::open_with(self.store().address(), connections).await.unwrap();
        start(config, store, Arc::new(SystemClock)).await
    }

    /// Starts it with connections to the database that pass another place.
    pub(crate) async fn start_through(&self, address: &Address) -> Running {
        let config = self.config();
        let connections = config.limits.database_connections;
        let store = store::open_with(address, connections).await.unwrap();
        start(config, store, Arc::new(SystemClock)).await.unwrap()
    }

    /// The URL of the database.
    pub(crate) fn database_url(&self) -> String {
        self.database.url()
    }

    /// Starts it with a clock of the test.
    pub(crate) async fn start_at(&self, clock: Arc<dyn Clock>) -> Running {
        start(self.config(), self.store().clone(), clock).await.unwrap()
    }

    async fn start_with(&self, config: Config) -> Running {
        start(config, self.store().clone(), Arc::new(SystemClock)).await.unwrap()
    }

    fn config(&self) -> Config {
        let args = ServeArgs { resolver: self.resolver, ..ServeArgs::default() };
        let dir = self.dir.path().to_owned();
        let mut config = configuration::load(args, || Some(dir)).unwrap();
        config.limits.min_free_mib = 0;
        if let Some(s3) = &self.s3 {
            config.storage = s3.storage().parse().unwrap();
            config.s3 = s3.options().map(|(name, value)| (name.to_owned(), value)).into();
        }
        config
    }
}

/// The machine's clock, so many milliseconds ahead.
#[derive(Default)]
pub(crate) struct MovedClock(pub(crate) AtomicI64);

impl Clock for MovedClock {
    fn now(&self) -> UnixMillis {
        SystemClock.now().plus_ms(self.0.load(Ordering::SeqCst))
    }
}

async fn start(config: Config, store: Store, clock: Arc<dyn Clock>) -> Result<Running, Failure> {
    let stop = CancellationToken::new();
    let coordinator = boot::coordinator(config, clock, store, stop).await?;
    Ok(Running::start(Arc::new(coordinator)).await)
}

/// A coordinator that serves.
pub(crate) struct Running {
    pub(crate) coordinator: Arc<Coordinator>,
    pub(crate) base: String,
    serving: JoinHandle<()>,
}

impl Running {
    async fn start(coordinator: Arc<Coordinator>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let serving = tokio::spawn({
            let coordinator = Arc::clone(&coordinator);
            async move { serve::run(coordinator, listener).await.unwrap() }
        });
        Self { coordinator, base, serving }
    }

    /// Stops it as a signal would.
    pub(crate) async fn stop(self) {
        self.coordinator.stop.cancel();
        tokio::time::timeout(PATIENCE, self.serving).await.expect("stops in time").unwrap();
        // The index is free for the next coordinator when nobody holds this one any more.
        drop(self.coordinator);
    }

    /// Stops it in the middle of whatever it does, as far as one process can do that to itself.
    pub(crate) async fn abort(self) {
        self.serving.abort();
        let _ = self.serving.await;
        self.coordinator.stop.cancel();
        let weak = Arc::downgrade(&self.coordinator);
        drop(self.coordinator);
        until("the tasks have let go", || std::future::ready(weak.strong_count() == 0)).await;
    }

    pub(crate) async fn join_token(&self) -> String {
        let key = coordinator_key::load(&self.coordinator.store).await.unwrap();
        let token = JoinToken::new(rand::random(), &key.public()).as_str().to_owned();
        let sha256 = tokens::join_token_hash(&token);
        let now = self.coordinator.now();
        let new = join_tokens::New {
            sha256: &sha256,
            name: "for a test",
            created_by: "admin",
            expires_at: now.plus_ms(3_600_000),
        };
        join_tokens::create(&self.coordinator.store, &new, now).await.unwrap();
        token
    }

    pub(crate) async fn order(&self, agent: AgentId, action: AgentAction) {
        administer(&self.coordinator.placement, agent, action, "admin").await.unwrap().unwrap();
    }

    pub(crate) async fn add_seeds(&self, seeds: &[&str]) {
        let seeds: Vec<String> = seeds.iter().map(|seed| (*seed).to_owned()).collect();
        let intake = &self.coordinator.intake;
        let checked = check_seeds(intake, &seeds).await.unwrap();
        assert!(checked.rejected.is_empty(), "{checked:?}");
        add_seeds(intake, checked, &[], "admin").await.unwrap();
    }

    /// Queues links as packages bring them: other than seeds, they are checked by nobody.
    pub(crate) async fn queue_links(&self, links: &[&str]) {
        let new = |link: &&str| NewUrl { url: CrawlUrl::parse(link).unwrap(), redirects: 0 };
        let links: Vec<NewUrl> = links.iter().map(new).collect();
        let now = self.coordinator.now();
        store::testing::queue(&self.coordinator.store, &links, now).await.unwrap();
        self.coordinator.events.emit(Event::SeedsAdded);
    }

    pub(crate) async fn until_hierarchy_is_loaded(&self) {
        until("the hierarchy is loaded", || {
            std::future::ready(self.coordinator.delegated().is_some())
        })
        .await;
    }
}

/// Waits until a condition holds.
pub(crate) async fn until(what: &str, condition: impl AsyncFnMut() -> bool) {
    until_for(PATIENCE, what, condition).await;
}

/// Waits for a limited time until a condition holds.
pub(crate) async fn until_for(
    limit: Duration,
    what: &str,
    mut condition: impl AsyncFnMut() -> bool,
) {
    let holds = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(limit, holds)
        .await
        .unwrap_or_else(|_| panic!("waited in vain until {what}"));
}

/// A little internet: four companies in one block, and the loopback addresses, where the agents of
/// the tests live.
pub(crate) fn hierarchy() -> Hierarchy {
    hierarchy_of(&[
        ("127.0.0.1 - 127.0.0.1", "home-1"),
        ("127.0.0.2 - 127.0.0.2", "home-2"),
        ("198.51.100.0/26", "north"),
        ("198.51.100.64/26", "north"),
        ("198.51.100.128/26", "south"),
        ("203.0.113.0/24", "west"),
    ])
}

/// Subnets with their companies. No city of their country is listed, so that nothing is known of
/// where the agents are, and searches take the paper's order.
pub(crate) fn hierarchy_of(subnets: &[(&str, &str)]) -> Hierarchy {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    for (range, company) in subnets {
        builder.add(Record {
            range: range.parse().unwrap(),
            kind: SubnetKind::Delegated,
            registry: Some(Registry::RipeNcc),
            company: Some(companies.number(Registry::RipeNcc, company)),
            country: "AQ".parse().ok(),
        });
    }
    let built: (Hierarchy, BuildReport) =
        builder.build(Generation::new(0), companies.into_companies());
    built.0
}

/// Loads a hierarchy as `rir-loader` does.
pub(crate) async fn load(store: &Store, hierarchy: &Hierarchy) {
    let mut load = Load::wait(store).await.unwrap();
    load.copy(hierarchy, &|_| {}).await.unwrap();
    let source = store::generations::Source {
        registry: "ripencc".into(),
        file: "delegated-ripencc-extended".into(),
        serial: "1".into(),
        date: Some("2018-10-13".into()),
        records: 5,
    };
    load.swap(Instant::now(), &[source]).await.unwrap();
}

/// The first hits of a search.
pub(crate) fn search(index: &Index, query: &str) -> SearchResults {
    index.search(Instant::now() + PATIENCE, &[], query, 0, 10).unwrap()
}

/// What the overview counts.
pub(crate) async fn counts(ground: &Ground, running: &Running) -> store::overview::Counts {
    let coordinator = &running.coordinator;
    store::overview::count(ground.store(), coordinator.heartbeat_cutoff(), coordinator.now())
        .await
        .unwrap()
}
