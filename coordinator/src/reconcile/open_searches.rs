//! Subnets that nobody crawls get a search.

use std::collections::HashSet;
use std::time::Duration;

use delegation::target::FORGIVEN_MS;
use hierarchy::{CompanyId, Range};
use store::StoreError;
use store::hosts::{self, Orphan};
use store::searches::{self, NewSearch};
use tokio::sync::Notify;

use super::{Outcome, Reconciler};
use crate::atlas::Atlas;
use crate::link::host_and_port;
use crate::pokes::Pokes;
use crate::state::Coordinator;
use crate::steer::{steering, unpinned};

/// Opens searches for subnets of waiting hosts, as many at once as the configuration allows.
///
/// Searches profit from the decisions of earlier ones, most of all within a company ("we use the organization's
/// name to delegate", IPMicra III.E). While nobody serves a company, therefore, only one of its subnets is
/// searched for; the others wait for that decision.
pub struct OpenSearches;

impl Reconciler for OpenSearches {
    const NAME: &'static str = "open_searches";
    const PERIOD: Duration = Duration::from_secs(5);

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.open_searches
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let Some(atlas) = coordinator.atlas() else { return Ok(Outcome::Idle) };
        let under_way = searches::urgent(&coordinator.store).await?;
        let limit = coordinator.config.limits.open_searches as usize;
        let room = limit.saturating_sub(under_way.len());
        if room == 0 {
            return Ok(Outcome::Idle);
        }
        let now = coordinator.now();
        let forgiven = now.plus_ms(-FORGIVEN_MS.cast_signed());
        let orphans = hosts::orphans(&coordinator.store, LOOK_AHEAD, forgiven, now).await?;
        let orphans = unpinned(&atlas, &steering(coordinator).await?, orphans);
        let chosen = choose(&atlas, &under_way, orphans, room);
        if chosen.is_empty() {
            return Ok(Outcome::Idle);
        }
        let opened = open(coordinator, chosen).await?;
        Ok(Outcome::Done(format!("opened {opened} searches")))
    }
}

/// Opens a search at each of these hosts. Says how many are new.
pub(super) async fn open(coordinator: &Coordinator, hosts: Vec<Orphan>) -> Result<u64, StoreError> {
    let searches: Vec<NewSearch> = hosts.into_iter().filter_map(search).collect();
    if searches.is_empty() {
        return Ok(0);
    }
    let policy = coordinator.policy.load_full();
    let (strategy, threshold_us) = (policy.strategy.as_str(), policy.threshold_us);
    let now = coordinator.now();
    let opened = searches::open(&coordinator.store, &searches, strategy, threshold_us, now).await?;
    coordinator.pokes.drive_searches.notify_one();
    Ok(opened)
}

/// Subnets to choose from.
const LOOK_AHEAD: u32 = 1_000;

fn choose(atlas: &Atlas, under_way: &[Range], orphans: Vec<Orphan>, room: usize) -> Vec<Orphan> {
    let mut busy: HashSet<CompanyId> =
        under_way.iter().filter_map(|subnet| unserved_company(atlas, subnet)).collect();
    orphans
        .into_iter()
        .filter(|orphan| unserved_company(atlas, &orphan.subnet).is_none_or(|company| busy.insert(company)))
        .take(room)
        .collect()
}

/// The company of a subnet, when no agent holds any of its subnets.
fn unserved_company(atlas: &Atlas, subnet: &Range) -> Option<CompanyId> {
    let hierarchy = atlas.hierarchy();
    let company = hierarchy.subnet(hierarchy.find(subnet)?).company()?;
    let served = atlas.book().agents_of_company(company).next().is_some();
    (!served).then_some(company)
}

fn search(orphan: Orphan) -> Option<NewSearch> {
    let (_, port) = host_and_port(&orphan.scheme, &orphan.authority)?;
    Some(NewSearch { subnet: orphan.subnet, target: orphan.address, host: orphan.authority, port })
}
