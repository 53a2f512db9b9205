//! Regions of a database that was restored from a backup: their members may hold later versions.

use model::UnixMillis;
use protocol::key::CoordinatorKey;
use region::ownership::{SignedView, View};
use region::roster::{Roster, RosterError, SignedRoster};
use store::{Store, StoreError, Term, regions};

/// Leaves out this many epochs of each region, and counts its hosts as lent until `lent_until`. The
/// members know versions and have loans of which the backup does not know; they would refuse the
/// rosters that come next as old ones. Returns the regions whose rosters cannot be read, each with
/// the reason: the coordinator does not serve them either.
pub async fn skip_epochs(
    store: &Store,
    key: &CoordinatorKey,
    by: u32,
    lent_until: UnixMillis,
) -> Result<Vec<String>, StoreError> {
    let term = Term::latest(store).await?;
    let mut unreadable = Vec::new();
    for stored in regions::list(store).await? {
        regions::save_loan(store, term, stored.id, lent_until).await?;
        match renewed(&stored.view, key, by) {
            Ok(view) => regions::save_view(store, term, stored.id, &view, &[]).await?,
            Err(error) => unreadable.push(format!("{}: {error:#}", stored.name)),
        }
    }
    Ok(unreadable)
}

fn renewed(stored: &[u8], key: &CoordinatorKey, by: u32) -> Result<Vec<u8>, anyhow::Error> {
    let signed: SignedView = postcard::from_bytes(stored)?;
    let view = later(&View::restore(&key.public(), signed)?, key, by)?;
    Ok(postcard::to_allocvec(&view)?)
}

/// The same view, as a roster that is this many epochs later. The members may have had other voters
/// since the backup, so the voters do not change again before a majority has this roster.
fn later(view: &View, key: &CoordinatorKey, by: u32) -> Result<SignedView, RosterError> {
    let epoch = view.version().epoch.saturating_add(by.into());
    let delegations = view.delegations().iter().collect();
    let roster = Roster { epoch, voters_since: epoch, delegations, ..view.roster().clone() };
    Ok(SignedView { roster: SignedRoster::new(key, &roster)?, deltas: Vec::new() })
}
