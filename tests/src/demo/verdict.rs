use std::fmt;

use super::Promise;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Every promise was kept.
    Kept,
    /// These were not.
    Missed(Vec<Promise>),
    /// Somebody pressed Ctrl-C before the end.
    Interrupted,
}

impl Verdict {
    /// From judged promises.
    pub fn of(promises: Vec<Promise>) -> Self {
        let missed: Vec<Promise> = promises.into_iter().filter(|promise| !promise.kept).collect();
        if missed.is_empty() { Self::Kept } else { Self::Missed(missed) }
    }

    /// With one more promise.
    #[must_use]
    pub fn and(self, promise: Promise) -> Self {
        match self {
            Self::Kept if !promise.kept => Self::Missed(vec![promise]),
            Self::Missed(mut missed) if !promise.kept => {
                missed.push(promise);
                Self::Missed(missed)
            }
            other => other,
        }
    }

    /// What the process ends with: 0, 1, or 130 as shells have it for Ctrl-C.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Kept => 0,
            Self::Missed(_) => 1,
            Self::Interrupted => 130,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kept => write!(f, "every promise was kept"),
            Self::Interrupted => write!(f, "stopped before the end"),
            Self::Missed(missed) => {
                let lines = missed
                    .iter()
                    .map(|promise| format!("MISSED: {}: {}", promise.what, promise.seen));
                write!(f, "{}", lines.collect::<Vec<_>>().join("\n"))
            }
        }
    }
}
