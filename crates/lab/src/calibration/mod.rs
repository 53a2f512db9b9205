//! Calibration experiment: generated fetch times, first without and then with a true slowdown.
//!
//! A page's time is `(round trips × day rhythm + bytes × pace) × noise`, with outliers now and
//! then. Sizes vary from fetch to fetch, and now and then a page grows or shrinks for good. A
//! steady page should never be reported; a page whose path takes twice as long should be, soon.

mod fetch_times;
mod trial;

pub use fetch_times::FetchTimeSettings;
pub use trial::{Calibration, TrialSettings, calibration};
