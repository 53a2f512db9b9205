//! Calibration experiment: generated fetch times, first without and then with a true slowdown.
//!
//! A page's time is `(round trips × day rhythm + bytes × pace) × noise`, with outliers now and
//! then. Sizes vary from fetch to fetch, and now and then a page grows or shrinks for good. A
//! steady page should never be reported; a page whose path takes twice as long should be, soon.
//!
//! [`path_trial`] runs whole subnets: pages, new connections and checks, up to the move.

mod fetch_times;
mod path_trial;
mod paths;
mod trial;

pub use fetch_times::FetchTimeSettings;
pub use path_trial::{Change, PathTrial, PathTrialSettings, path_trial};
pub use trial::{Calibration, TrialSettings, calibration};
