//! Builds a coordinator from a configuration and an open database.
//!
//! Parts that may fail are opened in the order of cost, so that a missing one is reported early:
//! storage and index, DNS, policy and hidden pages (Postgres).

use std::sync::{Arc, Mutex};

use data_encoding::BASE64;
use index::Index;
use protocol::key::CoordinatorKey;
use serde_json::Value;
use store::{Store, settings};
use tokio_util::sync::CancellationToken;

use crate::intake::Intake;
use crate::intake::dns::Dns;
use crate::intake::recent_urls::RecentUrls;
use crate::packages::Packages;
use crate::packages::blob_store::BlobStore;
use crate::packages::fair_order::Turns;
use crate::packages::metrics::PackageMetrics;
use crate::packages::partial_uploads::PartialUploads;
use crate::packages::retries::Retries;
use crate::packages::upload_limits::UploadLimits;
use crate::placement::Placement;
use crate::placement::audit::LastAudit;
use crate::placement::balance_load::VainRelief;
use crate::placement::constraints::pinned_ranges::PinnedRanges;
use crate::placement::delegate_remapped::HostWalk;
use crate::placement::drain_agents::DrainPositions;
use crate::placement::forget_history::HistoryPosition;
use crate::placement::regions::Regions;
use crate::predictor::{Predictor, PredictorState};
use crate::registry::RegistryData;
use crate::registry::refresh::LastAttempt;
use crate::registry::unregistered_space::UnregisteredSpace;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Config;
use crate::runtime::coordinator_key::{self, CoordinatorKeyError};
use crate::runtime::delegated_hierarchy::CurrentHierarchy;
use crate::runtime::events::Events;
use crate::runtime::failure::{Failure, chain};
use crate::runtime::hidden_pages::CurrentHiddenPages;
use crate::runtime::leader::Leader;
use crate::runtime::metrics::probes::ProbeMetrics;
use crate::runtime::metrics::requests::RequestMetrics;
use crate::runtime::peer_hints::PeerHints;
use crate::runtime::policy::CurrentPolicy;
use crate::runtime::private_dir;
use crate::runtime::region_moves::CurrentRegionMoves;
use crate::runtime::silent_hosts::CurrentSilentHosts;
use crate::runtime::storage_location::StorageLocation;
use crate::search::DelegationSearch;
use crate::search::metrics::SearchMetrics;
use crate::search::open_searches::ReadUpTo;
use crate::startup::database::database_failure;
use crate::startup::{leftovers, search_index, storage};
use crate::tasks::coordinator::Coordinator;

/// Fingerprints of routed URLs that are remembered, about 32 bytes each.
const RECENT_URLS: usize = 500_000;

/// Opens everything but the database and connects the parts.
pub async fn coordinator(
    config: Config,
    clock: Arc<dyn Clock>,
    store: Store,
    stop: CancellationToken,
) -> Result<Coordinator, Failure> {
    private_dir::open(&config.data_dir).map_err(|error| {
        let dir = config.data_dir.display();
        Failure::cannot_create(format!("cannot close {dir} to other users: {error}"))
    })?;
    let blobs = storage::open(&config, &store).await?;
    if config.storage == StorageLocation::File {
        remove_leftovers(&config);
    }
    let min_free_mib = config.limits.min_free_mib;
    let index = search_index::open(&config.data_dir.join("index"), min_free_mib, &store).await?;
    let dns = Dns::new(config.resolver).map_err(|error| Failure::configuration(chain(&error)))?;
    let shared = Shared::new(config, clock, store, stop).await?;
    let predictor = shared.predictor();
    let search = shared.search(&predictor);
    let registry = Arc::new(shared.registry());
    let intake = Arc::new(shared.intake(dns));
    let placement = Arc::new(shared.placement(&predictor, &search));
    let packages = Arc::new(shared.packages(&predictor, index, blobs));
    let key = coordinator_key(&shared.store).await?;
    let regions = Arc::new(shared.regions(key));
    let Shared {
        config, clock, store, events, hierarchy, policy, hidden_pages, silent_hosts, ..
    } = shared.clone();
    let Shared { agent_wakeups, peer_hints, leader, stop, .. } = shared;
    Ok(Coordinator {
        started_at: clock.now(),
        config,
        clock,
        store,
        events,
        hierarchy,
        policy,
        hidden_pages,
        silent_hosts,
        agent_wakeups,
        url_answers: Arc::default(),
        peer_hints,
        leader,
        statuses: Arc::default(),
        request_metrics: RequestMetrics::default(),
        stop,
        registry,
        intake,
        predictor,
        search,
        placement,
        packages,
        regions,
    })
}

/// What more than one stage uses.
#[derive(Clone)]
struct Shared {
    config: Arc<Config>,
    clock: Arc<dyn Clock>,
    store: Store,
    events: Arc<Events>,
    hierarchy: Arc<CurrentHierarchy>,
    policy: Arc<CurrentPolicy>,
    hidden_pages: Arc<CurrentHiddenPages>,
    silent_hosts: Arc<CurrentSilentHosts>,
    agent_wakeups: Arc<AgentWakeups>,
    region_moves: Arc<CurrentRegionMoves>,
    peer_hints: Arc<PeerHints>,
    leader: Arc<Leader>,
    recent_urls: Arc<RecentUrls>,
    unregistered_space: Arc<UnregisteredSpace>,
    stop: CancellationToken,
}

impl Shared {
    async fn new(
        config: Config,
        clock: Arc<dyn Clock>,
        store: Store,
        stop: CancellationToken,
    ) -> Result<Self, Failure> {
        let events = Arc::new(Events::default());
        let peer_hints = Arc::new(PeerHints::default());
        let agent_wakeups = Arc::new(AgentWakeups::new(Arc::clone(&peer_hints)));
        let policy =
            CurrentPolicy::read(store.clone(), Arc::clone(&events), Arc::clone(&agent_wakeups))
                .await
                .map_err(|error| database_failure(&error))?;
        let hidden_pages = CurrentHiddenPages::read(store.clone())
            .await
            .map_err(|error| Failure::other(chain(&*error)))?;
        let silent_hosts = CurrentSilentHosts::read(store.clone(), config.limits.silent_hosts)
            .await
            .map_err(|error| Failure::other(chain(&*error)))?;
        let hierarchy = Arc::new(CurrentHierarchy::default());
        let unregistered_space = Arc::new(UnregisteredSpace {
            store: store.clone(),
            clock: Arc::clone(&clock),
            hierarchy: Arc::clone(&hierarchy),
            lengths: config.registries.prefix_lengths(),
            limit: config.registries.unregistered_subnets,
            rests_until: Mutex::new(None),
        });
        Ok(Self {
            config: Arc::new(config),
            unregistered_space,
            clock,
            store,
            events,
            hierarchy,
            policy: Arc::new(policy),
            hidden_pages: Arc::new(hidden_pages),
            silent_hosts: Arc::new(silent_hosts),
            agent_wakeups,
            region_moves: Arc::default(),
            peer_hints,
            leader: Arc::default(),
            recent_urls: Arc::new(RecentUrls::new(RECENT_URLS)),
            stop,
        })
    }

    fn registry(&self) -> RegistryData {
        let Self { config, clock, store, events, hierarchy, agent_wakeups, .. } = self.clone();
        RegistryData {
            store,
            config,
            clock,
            events,
            hierarchy,
            agent_wakeups,
            leader: Arc::clone(&self.leader),
            unregistered_space: Arc::clone(&self.unregistered_space),
            last_refresh: LastAttempt::default(),
            last_split: LastAttempt::default(),
            stop: self.stop.clone(),
        }
    }

    fn intake(&self, dns: Dns) -> Intake {
        let limits = self.config.limits;
        let Self { clock, store, events, hierarchy, agent_wakeups, recent_urls, stop, .. } =
            self.clone();
        let zones = Mutex::default();
        Intake {
            store,
            limits,
            clock,
            events,
            hierarchy,
            unregistered_space: Arc::clone(&self.unregistered_space),
            agent_wakeups,
            dns: Arc::new(dns),
            zones,
            recent_urls,
            stop,
        }
    }

    fn predictor(&self) -> Arc<Predictor> {
        let limits = self.config.limits;
        let Self { clock, store, events, hierarchy, policy, agent_wakeups, .. } = self.clone();
        Arc::new(Predictor {
            store,
            limits,
            clock,
            events,
            hierarchy,
            policy,
            agent_wakeups,
            state: PredictorState::default(),
            probe_metrics: ProbeMetrics::default(),
        })
    }

    fn search(&self, predictor: &Arc<Predictor>) -> Arc<DelegationSearch> {
        let Self { clock, store, events, hierarchy, policy, agent_wakeups, .. } = self.clone();
        let region_moves = Arc::clone(&self.region_moves);
        Arc::new(DelegationSearch {
            store,
            limits: self.config.limits,
            clock,
            events,
            hierarchy,
            policy,
            agent_wakeups,
            region_moves,
            predictor: Arc::clone(predictor),
            metrics: SearchMetrics::default(),
            waiting_read: ReadUpTo::default(),
        })
    }

    fn placement(&self, predictor: &Arc<Predictor>, search: &Arc<DelegationSearch>) -> Placement {
        let Self { clock, store, events, hierarchy, policy, agent_wakeups, .. } = self.clone();
        let region_moves = Arc::clone(&self.region_moves);
        Placement {
            store,
            limits: self.config.limits,
            clock,
            events,
            hierarchy,
            policy,
            agent_wakeups,
            region_moves,
            predictor: Arc::clone(predictor),
            search: Arc::clone(search),
            recent_urls: Arc::clone(&self.recent_urls),
            pinned_ranges: PinnedRanges::default(),
            host_walk: HostWalk::default(),
            drain_positions: DrainPositions::default(),
            vain_relief: VainRelief::default(),
            history: HistoryPosition::default(),
            audited: tokio::sync::Mutex::default(),
            last_audit: LastAudit::default(),
        }
    }

    fn regions(&self, key: CoordinatorKey) -> Regions {
        let Self { config, clock, store, hierarchy, leader, events, agent_wakeups, .. } =
            self.clone();
        Regions {
            store,
            rules: config.regions,
            history_days: config.limits.history_days,
            clock,
            hierarchy,
            leader,
            events,
            agent_wakeups,
            moves: Arc::clone(&self.region_moves),
            key: Arc::new(key),
            leaders: tokio::sync::Mutex::default(),
            arrivals: Mutex::default(),
        }
    }

    fn packages(&self, predictor: &Arc<Predictor>, index: Index, blobs: BlobStore) -> Packages {
        let Self { config, clock, store, events, hierarchy, recent_urls, .. } = self.clone();
        let partial_uploads = PartialUploads::new(config.data_dir.join("uploads"));
        Packages {
            store,
            clock,
            events,
            hierarchy,
            predictor: Arc::clone(predictor),
            recent_urls,
            index: Arc::new(index),
            blobs,
            retries: Retries::default(),
            turns: Turns::default(),
            uploads: UploadLimits::default(),
            partial_uploads: Arc::new(partial_uploads),
            verifications: Packages::verification_permits(),
            metrics: PackageMetrics::default(),
        }
    }
}

/// Removes what a killed coordinator left, without making the start wait: there may be millions of
/// packages.
fn remove_leftovers(config: &Config) {
    let dir = config.data_dir.join("packages");
    let partial_uploads = PartialUploads::new(config.data_dir.join("uploads"));
    tokio::task::spawn_blocking(move || {
        let now = std::time::SystemTime::now();
        if let Err(error) = partial_uploads.remove_surplus(now) {
            tracing::warn!(%error, "cannot remove old partial uploads");
        }
        match leftovers::remove_uploads(&dir, now) {
            Ok(0) => {}
            Ok(count) => tracing::info!(count, "removed unfinished uploads"),
            Err(error) => tracing::warn!(%error, "cannot look for unfinished uploads"),
        }
    });
}

/// The key by which agents know this installation.
pub async fn coordinator_key(store: &Store) -> Result<CoordinatorKey, Failure> {
    coordinator_key::load(store).await.map_err(|error| match error {
        CoordinatorKeyError::Store(error) => database_failure(&error),
        damaged @ CoordinatorKeyError::Damaged => Failure::other(damaged.to_string()),
    })
}

/// The key that signs the nonces and session tokens of agents. It is made once per installation.
pub async fn token_secret(store: &Store) -> Result<[u8; 32], Failure> {
    let proposal = Value::String(BASE64.encode(&rand::random::<[u8; 32]>()));
    let kept = settings::get_or_set(store, "token_secret", &proposal)
        .await
        .map_err(|error| database_failure(&error))?;
    let bytes = kept.as_str().and_then(|text| BASE64.decode(text.as_bytes()).ok());
    bytes.and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| {
        Failure::other(
            "the setting token_secret in the database is not what nearcrawl writes there; delete \
             that row",
        )
    })
}
