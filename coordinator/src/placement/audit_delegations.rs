//! The delegation table of delegations is looked through.

use std::time::Duration;

use tokio::sync::Notify;

use crate::placement::audit;
use crate::runtime::counted::counted;
use crate::runtime::state::Coordinator;
use crate::runtime::task_signals::TaskSignals;
use crate::tasks::{BackgroundTask, Outcome};

/// Audits the delegations after every plan and now and then. What it finds is shown; nothing is
/// changed.
pub struct AuditBook;

impl BackgroundTask for AuditBook {
    const NAME: &'static str = "audit_book";
    const PERIOD: Duration = Duration::from_secs(300);
    // Each coordinator answers for what it shows.
    const LEADER_ONLY: bool = false;

    fn bell(task_signals: &TaskSignals) -> &Notify {
        &task_signals.audit_book
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let Some(delegated) = coordinator.delegated() else { return Ok(Outcome::Idle) };
        let audited =
            audit::look(&coordinator.store, delegated.hierarchy(), coordinator.now()).await?;
        let count = audited.findings.len();
        let before = coordinator.audited.get();
        let news = before.is_none_or(|before| before.findings != audited.findings);
        for finding in audited.findings.iter().filter(|_| news).take(20) {
            tracing::warn!(finding = finding.as_str(), "{finding}");
        }
        coordinator.audited.set(audited);
        Ok(if news {
            Outcome::Done(format!("found {} to repair", counted(count, "thing")))
        } else {
            Outcome::Idle
        })
    }
}
