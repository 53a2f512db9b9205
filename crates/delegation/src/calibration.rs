//! Noticing that pages answer slower than they used to (IPMicra III.F).
//!
//! > Each migrating crawler […] counts the required time for every HTTP/GET request it issues for
//! > every web page. The new time is compared with the previous HTTP/GET times for the same web
//! > page […]. If the new time is sufficiently larger (a threshold defined from the search engine
//! > administrator) […] and if this repeats for more than one time continuously, then the subnet is
//! > re-delegated […]. The same happens with every HTTP/HEAD command. (III.F)
//!
//! A [`Baseline`] is one page's past, one for GET and one for HEAD, kept by the agent. It reports
//! when the page has become slower. A [`TimingReports`] weighs the reports of a subnet's pages, kept by
//! the coordinator, and opens the subnet's search again, but not more often than the policy's rest.
//! [`cause`] tells a slow server from a slow way, by what a [`ControlProbe`] measures. An [`Failback`]
//! remembers where a subnet was, and brings it back when the way is as it was.

mod baseline;
mod control_probe;
mod failback;
mod regression;
mod timing_reports;

pub use baseline::{Baseline, Comparison, Sensitivity, Timing};
pub use control_probe::ControlProbe;
pub use failback::Failback;
pub use timing_reports::{ReopenLimits, TimingReports, cause};
