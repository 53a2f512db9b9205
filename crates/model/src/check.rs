//! Checks of a machine, as the commands `doctor` print them.

use std::fmt;

use serde::Serialize;
use strum::IntoStaticStr;

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum CheckVerdict {
    /// What was checked works.
    Ok,
    /// It works in part, or might not work.
    Warning,
    /// It does not work.
    Problem,
}

spelling!(CheckVerdict);

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was checked, in a word or two.
    pub subject: &'static str,
    /// What came of it.
    pub verdict: CheckVerdict,
    /// What was found.
    pub finding: String,
    /// What to do; none where nothing need be done.
    pub advice: Option<String>,
}

impl Check {
    /// A check that found nothing wrong.
    pub fn ok(subject: &'static str, finding: impl Into<String>) -> Self {
        Self { subject, verdict: CheckVerdict::Ok, finding: finding.into(), advice: None }
    }

    /// A check whose finding may matter.
    pub fn warning(
        subject: &'static str,
        finding: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice = Some(advice.into());
        Self { subject, verdict: CheckVerdict::Warning, finding: finding.into(), advice }
    }

    /// A check of what does not work.
    pub fn problem(
        subject: &'static str,
        finding: impl Into<String>,
        advice: impl Into<String>,
    ) -> Self {
        let advice = Some(advice.into());
        Self { subject, verdict: CheckVerdict::Problem, finding: finding.into(), advice }
    }
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, verdict, finding, advice } = self;
        write!(f, "{:<8} {subject}: {finding}", verdict.as_str())?;
        match advice {
            Some(advice) => write!(f, "\n         {advice}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn advice_is_on_a_line_of_its_own() {
        let check = Check::problem("port", "8420 is taken", "choose another with --listen");
        let text = "problem  port: 8420 is taken\n         choose another with --listen";
        assert_eq!(check.to_string(), text);
        assert_eq!(Check::ok("disk", "9 GiB free").to_string(), "ok       disk: 9 GiB free");
    }
}
