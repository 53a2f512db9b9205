//! The delegation table of delegations is looked through.

use crate::placement::audit;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::runtime::state::Coordinator;

/// Audits the delegations after every plan and now and then. What it finds is shown; nothing is
/// changed.
pub async fn run(coordinator: &Coordinator) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = coordinator.delegated() else { return Ok(Outcome::Idle) };
    let audited = audit::look(&coordinator.store, delegated.hierarchy(), coordinator.now()).await?;
    let count = audited.findings.len();
    let before = coordinator.audited.get();
    let news = before.is_none_or(|before| before.findings != audited.findings);
    for finding in audited.findings.iter().filter(|_| news).take(20) {
        tracing::warn!(finding = finding.as_str(), "{finding}");
    }
    coordinator.audited.set(audited);
    Ok(if news {
        Outcome::Done(format!("found {} to repair", quantity(count, "thing")))
    } else {
        Outcome::Idle
    })
}
