//! Everything at a glance.

use axum::extract::State;
use store::generations;
use store::overview::{self, Counts};

use crate::http::admin::dto::{
    AgentCounts, CoordinatorFacts, DelegationCounts, Generation, HostCounts, Overview,
    PackageCounts, PageCounts, ProbeCounts, ReasonCounts, SearchCounts, Source, UrlCounts,
};
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::tasks::coordinator::Coordinator;

/// Everything at a glance.
#[utoipa::path(get, path = "/api/v1/overview", tag = "watch", security(("session" = [])),
    responses((status = 200, body = Overview)))]
pub async fn overview(
    _viewer: Viewer,
    State(state): State<ApiState>,
) -> Result<Json<Overview>, Problem> {
    Ok(Json((*state.watch.overview(&state.core).await?).clone()))
}

/// Counts everything now.
pub async fn taken(core: &Coordinator) -> Result<Overview, Problem> {
    let counts = overview::count(&core.store, core.heard_since(), core.now()).await?;
    let generation = generations::live(&core.store).await?.map(|facts| generation(core, facts));
    Ok(shown(core, counts, generation))
}

fn generation(core: &Coordinator, facts: generations::Facts) -> Generation {
    let (loaded_at, period) = (facts.read_at, u64::from(core.config.registries.refresh_days));
    let source = |source: generations::Source| {
        let age_days = source.age_days(loaded_at.0, core.now().0);
        Source {
            registry: source.registry,
            file: source.file,
            records: source.records,
            date: source.date,
            age_days,
            outdated: period > 0 && age_days > period,
        }
    };
    Generation {
        id: facts.id.get().unsigned_abs(),
        subnets: facts.subnets,
        companies: facts.companies,
        build_ms: facts.build_ms,
        loaded_at: loaded_at.into(),
        sources: facts.sources.into_iter().map(source).collect(),
    }
}

fn shown(core: &Coordinator, counts: Counts, generation: Option<Generation>) -> Overview {
    let Counts { agents, delegations, searches, hosts, packages } = counts;
    Overview {
        generation,
        agents: AgentCounts {
            pending: count(agents.pending),
            approved: count(agents.approved),
            paused: count(agents.paused),
            revoked: count(agents.revoked),
            awake: count(agents.awake),
            asleep: count(agents.asleep),
            unreachable: count(agents.unreachable),
        },
        delegations: DelegationCounts {
            total: count(delegations.total),
            provisional: count(delegations.provisional),
            by_reason: ReasonCounts {
                home: count(delegations.home),
                company: count(delegations.company),
                threshold: count(delegations.threshold),
                lowest: count(delegations.lowest),
                predicted: count(delegations.predicted),
                pinned: count(delegations.pinned),
                r#override: count(delegations.r#override),
                balanced: count(delegations.balanced),
            },
        },
        searches: SearchCounts { open: count(searches.open), decided: count(searches.decided) },
        probes: ProbeCounts {
            total: count(searches.probes),
            per_search_mean: searches.per_search_mean,
        },
        hosts: HostCounts {
            known: count(hosts.known),
            resolved: count(hosts.resolved),
            delegated: count(hosts.delegated),
            failed: count(hosts.failed),
        },
        urls: UrlCounts { pending: count(hosts.pending_urls), routed: count(hosts.routed_urls) },
        pages: PageCounts {
            integrated: count(packages.pages),
            indexed: core.packages.index.len(),
            bytes_fetched: count(packages.wire_bytes),
        },
        packages: PackageCounts {
            received: count(packages.received),
            integrated: count(packages.integrated),
            bytes: count(packages.bytes),
            plain_bytes: count(packages.plain_bytes),
        },
        coordinator: CoordinatorFacts {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: core.started_at.into(),
            rss_bytes: rss_bytes(),
        },
    }
}

/// Postgres counts in signed numbers; a count is never below zero.
fn count(number: i64) -> u64 {
    number.unsigned_abs()
}

/// Memory of this process as Linux tells it.
fn rss_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1_024)
}
