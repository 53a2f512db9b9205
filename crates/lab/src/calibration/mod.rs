//! The calibration experiment: made-up series of fetch times, once without and once with a true
//! change.
//!
//! A page's time is `(round trips × day rhythm + bytes × pace) × noise`, with outliers now and
//! then. Sizes vary from fetch to fetch, and now and then a page grows or shrinks for good. A
//! steady page should never be reported; a page whose way takes twice as long should, soon.

mod series;
mod trial;

pub use series::SeriesSettings;
pub use trial::{Calibration, Days, calibration};
