//! Coordinators hear which subnets changed hands outside of searches, whichever of them did it.
//!
//! It is said in the transaction that does it, so that it is said exactly when it is done, also by a coordinator that dies
//! right after. What is heard says where to look and nothing else: the store is asked how it stands there.

use hierarchy::Range;
use sqlx::PgConnection;

use crate::{Listener, Store, StoreError, listen};

/// The NOTIFY channel.
const CHANNEL: &str = "nearcrawl_delegations";

/// Says, when the transaction is committed, that a subnet changed hands; with none, that any may have.
pub(crate) async fn say(db: &mut PgConnection, subnet: Option<&Range>) -> Result<(), StoreError> {
    let what = subnet.map_or_else(String::new, Range::to_string);
    let said = listen::say(db, CHANNEL, &what).await;
    said.map_err(StoreError::doing("tell the coordinators who has a subnet"))
}

/// Hears which subnets change hands.
#[derive(Debug)]
pub struct Ear(Listener);

impl Ear {
    /// Listens from now on.
    pub async fn open(store: &Store) -> Result<Self, StoreError> {
        Ok(Self(Listener::open(store, CHANNEL).await?))
    }

    /// Waits until a subnet changed hands, and gives it; none when any may have: it was said so, something may have been missed,
    /// or another version said what we do not understand.
    pub async fn heard(&mut self) -> Result<Option<Range>, StoreError> {
        Ok(self.0.heard().await?.and_then(|word| word.parse().ok()))
    }
}
