//! Background task: adds up the counts of the overview.

use store::{Store, overview};

use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Adds the changes that transactions inserted to the counts.
pub(super) async fn run(store: &Store) -> Result<Outcome, anyhow::Error> {
    match overview::add_up(store).await? {
        0 => Ok(Outcome::Idle),
        changes => Ok(Outcome::Done(format!("added up {}", quantity(changes, "change")))),
    }
}
