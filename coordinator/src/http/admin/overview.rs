//! Overview: counts of everything.

use axum::extract::State;
use store::generations;
use store::overview::{self, Counts};

use crate::http::admin::dto::overview::{
    AgentCounts, CoordinatorInfo, DelegationCounts, DelegationSearchCounts, HierarchyGeneration,
    HostCounts, Overview, PackageCounts, PageCounts, ProbeCounts, ReasonCounts, RegistrySource,
    UrlCounts,
};
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::metrics::rss_bytes;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::tasks::coordinator::Coordinator;

/// Counts of agents, delegations, searches, hosts, packages and pages.
#[utoipa::path(get, path = "/api/v1/overview", operation_id = "get_overview", tag = "overview",
    security(("session" = [])), responses((status = 200, body = Overview)))]
pub async fn get(
    _viewer: Viewer,
    State(state): State<ApiState>,
) -> Result<Json<Overview>, Problem> {
    Ok(Json((*state.overview.get(&state.core).await?).clone()))
}

/// Counts everything now. Handlers use the cache of [`ApiState`] instead.
pub(super) async fn count(core: &Coordinator) -> Result<Overview, Problem> {
    let counts = overview::count(&core.store, core.heartbeat_cutoff(), core.now()).await?;
    let generation = generations::live(&core.store).await?.map(|facts| generation(core, facts));
    let indexed = core.packages.count_pages().await;
    Ok(to_dto(core, counts, indexed, generation))
}

fn generation(core: &Coordinator, facts: generations::Facts) -> HierarchyGeneration {
    let loaded_at = facts.read_at;
    let period = u64::from(core.config.registries.refresh_days);
    let source = |source: generations::Source| {
        let age_days = source.age_days(loaded_at.0, core.now().0);
        RegistrySource {
            registry: source.registry,
            file: source.file,
            records: source.records,
            date: source.date,
            age_days,
            outdated: period > 0 && age_days > period,
        }
    };
    HierarchyGeneration {
        id: facts.id.get().unsigned_abs(),
        subnets: facts.subnets,
        companies: facts.companies,
        build_ms: facts.build_ms,
        loaded_at: loaded_at.into(),
        sources: facts.sources.into_iter().map(source).collect(),
    }
}

fn to_dto(
    core: &Coordinator,
    counts: Counts,
    indexed: u64,
    generation: Option<HierarchyGeneration>,
) -> Overview {
    let Counts { agents, delegations, searches, hosts, packages } = counts;
    Overview {
        generation,
        agents: AgentCounts {
            pending: unsigned(agents.pending),
            approved: unsigned(agents.approved),
            paused: unsigned(agents.paused),
            revoked: unsigned(agents.revoked),
            awake: unsigned(agents.awake),
            asleep: unsigned(agents.asleep),
            unreachable: unsigned(agents.unreachable),
        },
        delegations: DelegationCounts {
            total: unsigned(delegations.total),
            provisional: unsigned(delegations.provisional),
            by_reason: ReasonCounts {
                home: unsigned(delegations.home),
                company: unsigned(delegations.company),
                threshold: unsigned(delegations.threshold),
                lowest: unsigned(delegations.lowest),
                predicted: unsigned(delegations.predicted),
                pinned: unsigned(delegations.pinned),
                r#override: unsigned(delegations.r#override),
                balanced: unsigned(delegations.balanced),
                drained: unsigned(delegations.drained),
                takeover: unsigned(delegations.takeover),
            },
        },
        delegation_searches: DelegationSearchCounts {
            open: unsigned(searches.open),
            decided: unsigned(searches.decided),
        },
        probes: ProbeCounts {
            total: unsigned(searches.probes),
            homes: unsigned(searches.home_probes),
            per_search_mean: searches.per_search_mean,
        },
        hosts: HostCounts {
            known: unsigned(hosts.known),
            resolved: unsigned(hosts.resolved),
            delegated: unsigned(hosts.delegated),
            failed: unsigned(hosts.failed),
        },
        urls: UrlCounts {
            pending: unsigned(hosts.pending_urls),
            routed: unsigned(hosts.routed_urls),
        },
        pages: PageCounts {
            ingested: unsigned(packages.pages),
            indexed,
            bytes_fetched: unsigned(packages.wire_bytes),
        },
        packages: PackageCounts {
            received: unsigned(packages.received),
            ingested: unsigned(packages.ingested),
            bytes: unsigned(packages.bytes),
            plain_bytes: unsigned(packages.plain_bytes),
        },
        coordinator: process(core),
    }
}

fn process(core: &Coordinator) -> CoordinatorInfo {
    CoordinatorInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        started_at: core.started_at.into(),
        rss_bytes: rss_bytes(),
    }
}

/// Converts a count of Postgres, which is signed but never negative.
fn unsigned(number: i64) -> u64 {
    number.unsigned_abs()
}
