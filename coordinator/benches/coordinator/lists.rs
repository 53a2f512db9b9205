//! The lists of the dashboard: their first page in each order, and their counts.

use std::time::Instant;

use model::{AgentId, HostState};
use store::audit::{self, Filter};
use store::delegations::{self, DelegationFilter, DelegationOrder};
use store::host_list::{self, HostFilter, HostOrder};
use store::{Store, StoreError, agents, overview};

use crate::Figure;

/// Rows of a page.
const PAGE: i64 = 51;
/// Longest time of a list, in milliseconds.
const MOST_MS: f64 = 200.0;

pub(crate) async fn measure(store: &Store) -> Vec<Figure> {
    let of_agent = HostFilter { agent: Some(AgentId::new(1)), ..HostFilter::default() };
    let failed = HostFilter { state: Some(HostState::Failed), ..HostFilter::default() };
    let named = HostFilter { name: Some("h1".to_owned()), ..HostFilter::default() };
    let held = DelegationFilter { agent: Some(AgentId::new(1)), ..DelegationFilter::default() };
    let all = HostFilter::default();
    let mut figures = vec![
        timed("list of agents", agents::list(store)).await,
        timed("counts of delegations", overview::delegations_by_reason(store)).await,
        timed(
            "counts of an agent's delegations",
            delegations::count_of_agent(store, AgentId::new(1)),
        )
        .await,
        timed("counts of the audit log", audit::count_by_action(store, &Filter::default())).await,
    ];
    for (name, filter) in
        [("all", &all), ("an agent's", &of_agent), ("failed", &failed), ("named", &named)]
    {
        let counting = host_list::count_by_state(store, filter);
        figures.push(timed(&format!("counts of hosts: {name}"), counting).await);
        for order in [HostOrder::Newest, HostOrder::Slowest, HostOrder::Errors] {
            let listing = host_list::list(store, filter, order, None, PAGE);
            figures.push(timed(&format!("hosts: {name}, {order:?}"), listing).await);
        }
    }
    for (name, filter) in [("all", &DelegationFilter::default()), ("an agent's", &held)] {
        for order in [DelegationOrder::Newest, DelegationOrder::Slowest] {
            let listing = delegations::list(store, filter, order, None, PAGE);
            figures.push(timed(&format!("delegations: {name}, {order:?}"), listing).await);
        }
    }
    figures
}

async fn timed<T>(name: &str, listing: impl Future<Output = Result<T, StoreError>>) -> Figure {
    let begun = Instant::now();
    listing.await.unwrap();
    let value = begun.elapsed().as_secs_f64() * 1_000.0;
    Figure { name: name.to_owned(), value, most: MOST_MS, unit: "ms" }
}
