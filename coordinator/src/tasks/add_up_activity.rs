//! Background task: adds the activity of all agents up, for the time series of the whole crawl.

use model::UnixMillis;
use store::{Store, activity};

use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Adds up the minutes, hours and days since the last run.
pub(super) async fn run(store: &Store, now: UnixMillis) -> Result<Outcome, anyhow::Error> {
    match activity::add_up(store, now).await? {
        0 => Ok(Outcome::Idle),
        changed => Ok(Outcome::Done(format!("added up {}", quantity(changed, "bucket")))),
    }
}
