//! What a walk did, counted and told.

use crate::runtime::quantity::quantity;

/// What a walk did.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Done {
    pub(super) asked: usize,
    pub(super) decided: usize,
    pub(super) ended: usize,
    pub(super) retargeted: usize,
    /// Searches that may not ask any more today.
    pub(super) held: usize,
}

impl Done {
    /// In a few words; none when nothing was done.
    pub(super) fn told(self) -> Option<String> {
        let Self { asked, decided, ended, retargeted, held } = self;
        if asked + decided + ended + retargeted + held == 0 {
            return None;
        }
        let some = |count: usize, told: String| if count > 0 { told } else { String::new() };
        let elsewhere = some(retargeted, format!(", went to another address in {retargeted}"));
        let waiting =
            some(held, format!("; {held} waiting for tomorrow because today's probes are used up"));
        Some(format!(
            "asked {}, decided {}, ended {ended} without an agent{elsewhere}{waiting}",
            quantity(asked, "agent"),
            quantity(decided, "search"),
        ))
    }
}
