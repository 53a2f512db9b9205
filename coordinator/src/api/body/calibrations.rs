//! Subnets whose pages became slower, and the policy about them.

use serde::{Deserialize, Serialize};
use store::calibrations::State;
use utoipa::ToSchema;

use super::agents::AgentRef;
use crate::api::moment::Moment;
use crate::api::problem::FieldError;

/// Seconds of a year.
const YEAR_S: u32 = 31_536_000;

/// A subnet whose pages became slower, and what came of it.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Calibration {
    /// Number of the case.
    pub id: i64,
    /// The subnet: a CIDR, or `first - last` where it is none.
    #[schema(example = "41.0.0.0/16")]
    pub subnet: String,
    /// Who reported slower pages.
    pub agent: AgentRef,
    /// How many times as long as usual the page took that was reported last.
    pub ratio: f64,
    /// That page.
    #[schema(required = true)]
    pub url: Option<String>,
    /// Where the case stands.
    pub state: CalibrationState,
    /// Who measured to tell a slow way from a slow server; null until then.
    #[schema(required = true)]
    pub witness: Option<AgentRef>,
    /// What the witness measured when all was well, milliseconds.
    #[schema(required = true)]
    pub before_ms: Option<f64>,
    /// What it measured now, milliseconds.
    #[schema(required = true)]
    pub now_ms: Option<f64>,
    /// Who got the subnet; null while it stays.
    #[schema(required = true)]
    pub heir: Option<AgentRef>,
    /// When the suspicion arose.
    pub opened_at: Moment,
    /// When the subnet moved.
    #[schema(required = true)]
    pub moved_at: Option<Moment>,
    /// When it went back.
    #[schema(required = true)]
    pub returned_at: Option<Moment>,
    /// When the case was closed; null while it goes on.
    #[schema(required = true)]
    pub ended_at: Option<Moment>,
    /// All of it in one plain sentence.
    pub sentence: String,
}

/// Where a case stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationState {
    /// A witness measures, to tell a slow way from a slow server.
    Checking,
    /// The way is slow; a search was opened.
    Searching,
    /// Another agent has the subnet, and the former one looks now and then.
    Away,
    /// The former agent's way is as before; a search was opened.
    Returning,
    /// Ended: the server itself is slow.
    Server,
    /// Ended: the search found nobody nearer.
    Stayed,
    /// Ended: the subnet is back with its former agent.
    Returned,
    /// Ended: no witness could tell.
    Undecided,
    /// Ended: the delegation changed for another reason.
    Overtaken,
}

impl From<State> for CalibrationState {
    fn from(state: State) -> Self {
        match state {
            State::Checking => Self::Checking,
            State::Searching => Self::Searching,
            State::Away => Self::Away,
            State::Returning => Self::Returning,
            State::Server => Self::Server,
            State::Stayed => Self::Stayed,
            State::Returned => Self::Returned,
            State::Undecided => Self::Undecided,
            State::Overtaken => Self::Overtaken,
        }
    }
}

/// What is done about slow pages (IPMicra III.F).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct CalibrationPolicy {
    /// Age in seconds at which an agent visits a page again; 0 for never, and then nothing is noticed.
    #[schema(minimum = 0, maximum = 31_536_000)]
    pub revisit_s: u32,
    /// How many times slower than usual a page must answer to be reported; counted in hundredths.
    #[schema(minimum = 1.1, maximum = 100.0)]
    pub slowdown_factor: f64,
    /// How often in a row.
    #[schema(minimum = 1, maximum = 100)]
    pub slowdown_repeats: u32,
    /// Least time in seconds from one delegation of a subnet to a new search because of slow pages.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub rest_s: u32,
    /// Reports are weighed together over so many seconds, and a former agent looks so often whether its way is as before.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub hearing_s: u32,
}

impl CalibrationPolicy {
    /// What is wrong with it.
    pub(super) fn broken_rules(&self) -> Vec<FieldError> {
        let rules = [
            ("revisit_s", self.revisit_s <= YEAR_S, "give 0 to 31536000 seconds"),
            ("slowdown_factor", (1.1..=100.0).contains(&self.slowdown_factor), "give 1.1 to 100"),
            ("slowdown_repeats", (1..=100).contains(&self.slowdown_repeats), "give 1 to 100"),
            ("rest_s", (1..=YEAR_S).contains(&self.rest_s), "give 1 to 31536000 seconds"),
            ("hearing_s", (1..=YEAR_S).contains(&self.hearing_s), "give 1 to 31536000 seconds"),
        ];
        let broken = rules.into_iter().filter(|(_, kept, _)| !kept);
        broken.map(|(field, _, rule)| FieldError::new(format!("calibration.{field}"), rule)).collect()
    }
}

impl From<store::policy::Calibration> for CalibrationPolicy {
    fn from(policy: store::policy::Calibration) -> Self {
        Self {
            revisit_s: policy.revisit_s,
            slowdown_factor: f64::from(policy.slowdown.percent) / 100.0,
            slowdown_repeats: policy.slowdown.repeats,
            rest_s: policy.rest_s,
            hearing_s: policy.hearing_s,
        }
    }
}

impl From<CalibrationPolicy> for store::policy::Calibration {
    fn from(policy: CalibrationPolicy) -> Self {
        // Within its bounds, which were checked, it is a small whole number.
        let percent = (policy.slowdown_factor * 100.0).round() as u32;
        Self {
            revisit_s: policy.revisit_s,
            slowdown: protocol::Slowdown { percent, repeats: policy.slowdown_repeats },
            rest_s: policy.rest_s,
            hearing_s: policy.hearing_s,
        }
    }
}
