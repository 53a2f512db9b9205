//! Calibration: noticing that pages answer more slowly than before (IPMicra III.F).
//!
//! > Each migrating crawler […] counts the required time for every HTTP/GET request it issues for
//! > every web page. The new time is compared with the previous HTTP/GET times for the same web
//! > page […]. If the new time is sufficiently larger (a threshold defined from the search engine
//! > administrator) […] and if this repeats for more than one time continuously, then the subnet is
//! > re-delegated […]. The same happens with every HTTP/HEAD command. (III.F)
//!
//! In reading order:
//!
//! 1. [`Baseline`]: the usual time of one page, one for GET and one for HEAD, kept by the agent. It
//!    reports a page that has become slower.
//! 2. [`TimingReports`]: the reports of a subnet's pages, kept by the coordinator. They open an
//!    incident, and with it the subnet's search, within [`model::policy::CalibrationPolicy`].
//! 3. [`PathBaseline`]: the usual round trip to a subnet, of new connections and of checks, kept by
//!    the coordinator. It opens an incident when the path has become slower.
//! 4. [`SubnetTimes`]: path and pages of a subnet, judged together.
//! 5. [`ControlProbe`]: the probe of another agent, which separates a slow path from a slow server.
//! 6. [`Failback`]: a moved subnet returns to its former agent when the path has recovered.
//!
//! Wanted: at most one false report in 10,000 fetches at a noise of 15 %; a doubled time found
//! within six fetches; a steady subnet moves at most once a day. A doubled round trip to a subnet
//! with ten fetches a day found within a day, with one a week within eight days; at most one false
//! incident in 1,000 subnets and months.

mod baseline;
mod compact;
mod control_probe;
mod failback;
mod path_baseline;
mod regression;
mod subnet_times;
mod timing_reports;

pub use baseline::{Baseline, Comparison, Timing};
pub use compact::{CompactBaseline, VALUES};
pub use control_probe::ControlProbe;
pub use failback::Failback;
pub use path_baseline::{PathBaseline, PathComparison};
pub use subnet_times::{NewTimes, PathTimes, SubnetSlowdown, SubnetTimes, SubnetVerdict};
pub use timing_reports::{TimingReports, cause};
