//! Metrics of the coordinator: counters that its stages increment, in the form of Prometheus.
//!
//! Each part of the coordinator holds its counters, and `http::metrics` registers all of them when
//! it is asked for them. Several coordinators in one process therefore share nothing. Labels have
//! values of closed sets, so that the number of time series is bounded.

pub mod probes;
pub mod requests;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

/// One label, as name and value.
pub type Label = [(&'static str, &'static str); 1];
/// A counter for each value of a label.
pub type LabelledCounter = Family<Label, Counter>;

/// A counter with a time series of 0 for each of the values: a series that appears with its first
/// event has no rate for that event.
pub fn labelled_counter(
    label: &'static str,
    values: impl IntoIterator<Item = &'static str>,
) -> LabelledCounter {
    let counter = LabelledCounter::default();
    for value in values {
        drop(counter.get_or_create(&[(label, value)]));
    }
    counter
}
