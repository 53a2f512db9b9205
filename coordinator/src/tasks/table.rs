//! The table of background tasks: when each runs, what notifies it, and which function it calls.
//!
//! To add a task, write its `run` function in the module of its stage and add an entry here. The
//! entries are in the order in which data passes them.

use std::time::Duration;

use futures_util::future::BoxFuture;

use crate::intake::{end_leases, free_hosts, place_hosts, resolve_hosts, route_urls};
use crate::packages::{forget_bundles, ingest_packages, recall_pages, sweep_bundles};
use crate::placement::regions::{form_regions, take_over_subnets};
use crate::placement::{
    apply_constraints, audit, balance_load, calibrate, check_paths, delegate_remapped,
    drain_agents, follow_hosts, forget_history, keep_partitions, pause_forging, settle_homes,
};
use crate::predictor::{measure_homes, train_model};
use crate::registry::{refresh_registries, reload_hierarchy, split_subnets};
use crate::runtime::events::Event;
use crate::runtime::hidden_pages;
use crate::runtime::outcome::Outcome;
use crate::search::{drive_searches, expire_probes, open_searches};
use crate::tasks::coordinator::Coordinator;
use crate::tasks::{add_up_activity, add_up_counts, record_uptime};

/// The result of one run.
pub type RunResult = Result<Outcome, anyhow::Error>;

/// An entry of the table.
pub struct BackgroundTask {
    /// Name in logs, on the status page and in hints between coordinators.
    pub name: &'static str,
    /// Longest time between two runs.
    pub period: Duration,
    /// Whether only the leader runs the task.
    pub leader_only: bool,
    /// Events that cause a run before the period is over, in addition to those in [`WAKE_ALL`].
    pub woken_by: &'static [Event],
    /// Does the work that is left, or one batch of it.
    pub run: fn(&Coordinator) -> BoxFuture<'_, RunResult>,
}

impl BackgroundTask {
    /// Least time from the end of a run that took this long to the beginning of the next one.
    pub fn least_rest(&self, took: Duration) -> Duration {
        let named = RESTS.iter().find(|(name, _)| *name == self.name);
        named.map_or(Duration::ZERO, |(_, times)| took.saturating_mul(*times).min(self.period))
    }
}

/// Events that wake every task.
pub const WAKE_ALL: [Event; 3] =
    [Event::AnythingChanged, Event::HierarchyLoaded, Event::AgentAdministered];

/// After a run, these tasks rest for this multiple of the time that it took, at most for their
/// periods. Their runs read whole tables, and the events that wake them may come all the time.
const RESTS: &[(&str, u32)] = &[(AUDIT, 10)];

/// The task that audits the delegations.
const AUDIT: &str = "audit_delegations";

/// All background tasks.
pub static TABLE: &[BackgroundTask] = &[
    BackgroundTask {
        name: "refresh_registries",
        period: Duration::from_mins(10),
        leader_only: true,
        woken_by: &[Event::RegistryRefreshRequested],
        run: |coordinator| Box::pin(refresh_registries::run(&coordinator.registry)),
    },
    BackgroundTask {
        name: "split_subnets",
        period: Duration::from_hours(1),
        leader_only: true,
        woken_by: &[Event::SplitProposed],
        run: |coordinator| Box::pin(split_subnets::run(&coordinator.registry)),
    },
    BackgroundTask {
        name: "reload_hierarchy",
        period: Duration::from_secs(10),
        // Every coordinator keeps the hierarchy in memory.
        leader_only: false,
        woken_by: &[Event::GenerationLoaded],
        run: |coordinator| Box::pin(reload_hierarchy::run(&coordinator.registry)),
    },
    BackgroundTask {
        name: "delegate_remapped",
        period: Duration::from_mins(10),
        leader_only: true,
        woken_by: &[Event::PinNotApplied],
        run: |coordinator| Box::pin(delegate_remapped::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "follow_hosts",
        period: Duration::from_mins(1),
        leader_only: true,
        woken_by: &[Event::PackageIngested],
        run: |coordinator| Box::pin(follow_hosts::run(&coordinator.intake, &coordinator.placement)),
    },
    BackgroundTask {
        name: "refresh_policy",
        period: Duration::from_secs(10),
        // Another coordinator may have changed the policy.
        leader_only: false,
        woken_by: &[],
        run: |coordinator| Box::pin(coordinator.policy.refresh()),
    },
    BackgroundTask {
        name: hidden_pages::TASK,
        period: Duration::from_secs(5),
        // Every coordinator answers searches.
        leader_only: false,
        woken_by: &[],
        run: |coordinator| Box::pin(coordinator.hidden_pages.refresh()),
    },
    BackgroundTask {
        name: "refresh_silent_hosts",
        period: Duration::from_mins(10),
        // Every coordinator answers searches.
        leader_only: false,
        woken_by: &[],
        run: |coordinator| Box::pin(coordinator.silent_hosts.refresh(&coordinator.packages.index)),
    },
    BackgroundTask {
        name: "resolve_hosts",
        period: Duration::from_secs(2),
        leader_only: true,
        woken_by: &[Event::SeedsAdded, Event::PackageIngested],
        run: |coordinator| Box::pin(resolve_hosts::run(&coordinator.intake)),
    },
    BackgroundTask {
        name: "place_hosts",
        period: Duration::from_secs(10),
        leader_only: true,
        woken_by: &[
            Event::HostsResolved,
            Event::HostsReleased,
            Event::SearchesEnded,
            Event::DelegationsChanged,
            Event::SubnetsReleased,
        ],
        run: |coordinator| Box::pin(place_hosts::run(&coordinator.intake)),
    },
    BackgroundTask {
        name: "route_urls",
        period: Duration::from_secs(3),
        leader_only: true,
        woken_by: &[
            Event::SeedsAdded,
            Event::PackageIngested,
            Event::HostsAssigned,
            Event::HostsReleased,
            Event::RoutesConfirmed,
            Event::SearchesEnded,
            Event::DelegationsChanged,
            Event::SubnetsReleased,
            Event::HomesDelegated,
        ],
        run: |coordinator| Box::pin(route_urls::run(&coordinator.intake)),
    },
    BackgroundTask {
        name: "free_hosts",
        period: Duration::from_secs(10),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(free_hosts::run(&coordinator.intake)),
    },
    BackgroundTask {
        name: "end_leases",
        period: Duration::from_secs(10),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(end_leases::run(&coordinator.intake)),
    },
    BackgroundTask {
        name: "train_model",
        period: Duration::from_secs(30),
        leader_only: true,
        woken_by: &[Event::HomeMeasured],
        run: |coordinator| Box::pin(train_model::run(&coordinator.predictor)),
    },
    BackgroundTask {
        name: "measure_homes",
        period: Duration::from_mins(1),
        leader_only: true,
        woken_by: &[Event::AgentAvailabilityChanged, Event::AgentsMapped, Event::PolicyChanged],
        run: |coordinator| Box::pin(measure_homes::run(&coordinator.predictor)),
    },
    BackgroundTask {
        name: "open_searches",
        period: Duration::from_secs(5),
        leader_only: true,
        woken_by: &[
            Event::AgentAvailabilityChanged,
            Event::PolicyChanged,
            Event::HostsPlaced,
            Event::SearchesEnded,
            Event::DelegationsChanged,
            Event::SubnetsReleased,
        ],
        run: |coordinator| Box::pin(open_searches::run(&coordinator.search)),
    },
    BackgroundTask {
        name: "drive_searches",
        period: Duration::from_secs(2),
        leader_only: true,
        woken_by: &[
            Event::AgentAvailabilityChanged,
            Event::SearchReady,
            Event::SearchProbeAnswered,
            Event::ProbesExpired,
            Event::AgentsMapped,
            Event::HomesDelegated,
            Event::PolicyChanged,
        ],
        run: |coordinator| Box::pin(drive_searches::run(&coordinator.search)),
    },
    BackgroundTask {
        name: "improve_delegations",
        period: Duration::from_secs(15),
        leader_only: true,
        woken_by: &[Event::AgentAvailabilityChanged],
        run: |coordinator| Box::pin(drive_searches::improve(&coordinator.search)),
    },
    BackgroundTask {
        name: "expire_probes",
        period: Duration::from_secs(1),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| {
            Box::pin(expire_probes::run(&coordinator.search, coordinator.leader.since()))
        },
    },
    BackgroundTask {
        name: "settle_homes",
        period: Duration::from_secs(30),
        leader_only: true,
        woken_by: &[Event::SubnetsReleased],
        run: |coordinator| Box::pin(settle_homes::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "apply_constraints",
        period: Duration::from_secs(5),
        leader_only: true,
        woken_by: &[Event::HostsPlaced, Event::ConstraintsChanged, Event::PinNotApplied],
        run: |coordinator| Box::pin(apply_constraints::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "drain_agents",
        period: Duration::from_secs(5),
        leader_only: true,
        woken_by: &[Event::SearchesEnded, Event::HostsReleased],
        run: |coordinator| Box::pin(drain_agents::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "balance_load",
        period: Duration::from_secs(15),
        leader_only: true,
        woken_by: &[Event::BalancePolicyChanged],
        run: |coordinator| Box::pin(balance_load::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "add_up_counts",
        period: Duration::from_secs(10),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(add_up_counts::run(&coordinator.store)),
    },
    BackgroundTask {
        name: "add_up_activity",
        period: Duration::from_secs(15),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(add_up_activity::run(&coordinator.store, coordinator.now())),
    },
    BackgroundTask {
        name: "record_uptime",
        period: Duration::from_mins(1),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(record_uptime::run(&coordinator.store, coordinator.now())),
    },
    BackgroundTask {
        name: "keep_partitions",
        period: Duration::from_hours(1),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(keep_partitions::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "forget_bundles",
        period: Duration::from_hours(1),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(forget_bundles::run(&coordinator.packages)),
    },
    BackgroundTask {
        name: "sweep_bundles",
        period: Duration::from_hours(24),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(sweep_bundles::run(&coordinator.packages)),
    },
    BackgroundTask {
        name: "recall_pages",
        period: Duration::from_secs(10),
        leader_only: true,
        woken_by: &[Event::HostsAssigned],
        run: |coordinator| Box::pin(recall_pages::run(&coordinator.packages)),
    },
    BackgroundTask {
        name: "forget_history",
        period: Duration::from_hours(1),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(forget_history::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "calibrate",
        period: Duration::from_secs(2),
        leader_only: true,
        woken_by: &[Event::PackageIngested, Event::ControlProbeAnswered],
        run: |coordinator| Box::pin(calibrate::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "check_paths",
        period: Duration::from_secs(30),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(check_paths::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "pause_forging",
        period: Duration::from_mins(5),
        leader_only: true,
        woken_by: &[Event::ForgeryFound],
        run: |coordinator| Box::pin(pause_forging::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: AUDIT,
        period: Duration::from_mins(5),
        // Every coordinator shows its own findings.
        leader_only: false,
        woken_by: &[Event::DelegationsChanged, Event::SubnetsReleased],
        run: |coordinator| Box::pin(audit::run(&coordinator.placement)),
    },
    BackgroundTask {
        name: "form_regions",
        period: Duration::from_secs(5),
        leader_only: true,
        woken_by: &[Event::DelegationsChanged, Event::SubnetsReleased],
        run: |coordinator| Box::pin(form_regions::run(&coordinator.regions)),
    },
    BackgroundTask {
        name: "take_over_subnets",
        period: Duration::from_secs(5),
        leader_only: true,
        woken_by: &[],
        run: |coordinator| Box::pin(take_over_subnets::run(&coordinator.regions)),
    },
    BackgroundTask {
        name: ingest_packages::NAME,
        period: Duration::from_secs(2),
        // Every coordinator keeps an index of its own.
        leader_only: false,
        woken_by: &[Event::PackageReceived, Event::PagesRemoved],
        run: |coordinator| {
            Box::pin(ingest_packages::run(&coordinator.packages, coordinator.is_leader()))
        },
    },
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique() {
        let names: BTreeSet<_> = TABLE.iter().map(|task| task.name).collect();
        assert_eq!(names.len(), TABLE.len());
    }

    #[test]
    fn tasks_with_long_runs_rest_after_them() {
        let took = Duration::from_secs(3);
        for (name, times) in RESTS {
            let task = TABLE.iter().find(|task| task.name == *name).unwrap();
            assert_eq!(task.least_rest(took), took * *times, "{name}");
            assert_eq!(task.least_rest(task.period), task.period, "{name}");
        }
        assert_eq!(TABLE[0].least_rest(took), Duration::ZERO, "a task that is not named");
    }
}
