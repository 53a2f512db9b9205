//! The book of delegations is looked through.

use std::time::Duration;

use tokio::sync::Notify;

use super::{Outcome, Reconciler};
use crate::auditing;
use crate::counted::counted;
use crate::pokes::Pokes;
use crate::state::Coordinator;

/// Audits the delegations after every plan and now and then. What it finds is shown; nothing is
/// changed.
pub struct AuditBook;

impl Reconciler for AuditBook {
    const NAME: &'static str = "audit_book";
    const PERIOD: Duration = Duration::from_secs(300);
    // Each coordinator answers for what it shows.
    const DECIDES: bool = false;

    fn bell(pokes: &Pokes) -> &Notify {
        &pokes.audit_book
    }

    async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
        let Some(atlas) = coordinator.atlas() else { return Ok(Outcome::Idle) };
        let audited =
            auditing::look(&coordinator.store, atlas.hierarchy(), coordinator.now()).await?;
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
