//! The delegation table of delegations is looked through.

use crate::placement::Placement;
use crate::placement::audit;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Audits the delegations after every plan and now and then. What it finds is shown; nothing is
/// changed.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let audited =
        audit::look(&placement.store, delegated.hierarchy(), placement.clock.now()).await?;
    let count = audited.findings.len();
    let before = placement.last_audit.get();
    let news = before.is_none_or(|before| before.findings != audited.findings);
    for finding in audited.findings.iter().filter(|_| news).take(20) {
        tracing::warn!(finding = finding.as_str(), "{finding}");
    }
    placement.last_audit.set(audited);
    Ok(if news {
        Outcome::Done(format!("found {} to repair", quantity(count, "thing")))
    } else {
        Outcome::Idle
    })
}
