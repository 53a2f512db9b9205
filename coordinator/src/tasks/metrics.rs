//! Metrics of the background tasks, from the statuses that the status page shows.

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::sync::atomic::AtomicU64;

use crate::runtime::metrics::{Label, LabelledCounter};
use crate::tasks::table::BackgroundTask;
use crate::tasks::{Status, Statuses};

type Seconds = Family<Label, Gauge<f64, AtomicU64>>;
type SecondsTotal = Family<Label, Counter<f64, AtomicU64>>;

/// Time series of all tasks, filled for one scrape.
#[derive(Default)]
struct TaskFamilies {
    runs: LabelledCounter,
    failures: LabelledCounter,
    seconds: SecondsTotal,
    failing: Family<Label, Gauge>,
    more: Family<Label, Gauge>,
    last_run: Seconds,
    period: Seconds,
}

/// Adds the metrics of these tasks to a registry. A task that has not run yet counts 0.
pub fn register(
    statuses: &Statuses,
    tasks: impl IntoIterator<Item = &'static BackgroundTask>,
    registry: &mut Registry,
) {
    let families = TaskFamilies::default();
    let statuses = statuses.all();
    for task in tasks {
        families.fill(task, &statuses.get(task.name).cloned().unwrap_or_default());
    }
    families.register(registry);
}

impl TaskFamilies {
    fn fill(&self, task: &BackgroundTask, status: &Status) {
        let label = [("task", task.name)];
        self.runs.get_or_create(&label).inc_by(status.runs);
        self.failures.get_or_create(&label).inc_by(status.failures);
        self.seconds.get_or_create(&label).inc_by(status.busy.as_secs_f64());
        self.failing.get_or_create(&label).set(status.failing.into());
        self.more.get_or_create(&label).set(status.more.into());
        self.period.get_or_create(&label).set(task.period.as_secs_f64());
        // A task that has not run has no time: 0 would be the year 1970.
        if let Some(at) = status.last_run_at {
            self.last_run.get_or_create(&label).set(at.0 as f64 / 1_000.0);
        }
    }

    fn register(self, registry: &mut Registry) {
        registry.register(
            "task_runs",
            "Runs of a background task, failed ones included",
            self.runs,
        );
        registry.register("task_failures", "Failed runs of a background task", self.failures);
        let help = "Time spent in runs of a background task";
        registry.register_with_unit("task_run", help, Unit::Seconds, self.seconds);
        let help = "Failed runs of a background task since its last success";
        registry.register("task_consecutive_failures", help, self.failing);
        let help = "1 while a background task has more work than its last run could do";
        registry.register("task_backlog", help, self.more);
        let help = "End of the last run of a background task, in seconds since 1970";
        registry.register_with_unit("task_last_run_timestamp", help, Unit::Seconds, self.last_run);
        let help = "Longest time between two runs of a background task on the leader";
        registry.register_with_unit("task_period", help, Unit::Seconds, self.period);
    }
}
