//! Lookups: which host's name is to be looked up next, before its request.

use std::time::Duration;

use tokio::time::Instant;

use super::{Schedule, millis};
use crate::frontier::HostNumber;

/// How long before a host is due its name may be looked up.
const LOOKUP_HORIZON: Duration = Duration::from_secs(10);

/// Pause before it is decided again whether a name is looked up, while others are before it.
const LOOKUP_RETRY: Duration = Duration::from_millis(50);

impl Schedule {
    /// Takes the next host whose name must be looked up before a request, until [`Self::resolved`].
    pub fn take_unresolved(&self) -> Option<HostNumber> {
        self.workbench().take_unresolved(self.now() + millis(LOOKUP_HORIZON))
    }

    /// Ends the lookup of a host's name.
    pub fn resolved(&self, host: HostNumber) {
        let mut workbench = self.workbench();
        workbench.resolved(host);
        self.wake_if_due(&workbench);
    }

    /// Waits until a name may have to be looked up.
    pub async fn until_unresolved(&self) {
        let pause = {
            let workbench = self.workbench();
            let horizon = self.now() + millis(LOOKUP_HORIZON);
            let next = workbench.next_unresolved().map(|due| due.saturating_sub(horizon));
            match next {
                // It was not taken, because others are before it.
                Some(0) => LOOKUP_RETRY,
                next => {
                    let longest = millis(LOOKUP_HORIZON) / 2;
                    let pause = next.map_or(longest, |pause| pause.min(longest));
                    self.lookup_alarm.set(Some(horizon + pause));
                    Duration::from_millis(pause)
                }
            }
        };
        self.lookup_alarm.wait(Some(Instant::now() + pause)).await;
    }
}
