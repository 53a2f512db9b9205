//! Targets of requests outside the crawl, such as probes, which keep the crawl's delays.

use std::{net::IpAddr, sync::Arc, time::Duration};

use super::{Schedule, millis};
use crate::frontier::HostNumber;

impl Schedule {
    /// Waits until a request may be sent to `address`, and to `host` where the target is a host of
    /// the agent: none is running, and the last one ended `pause` ago. Allows no other until the
    /// result is dropped, and none to the host for `pause` after that.
    pub async fn hold_target(
        self: &Arc<Self>,
        host: Option<HostNumber>,
        address: IpAddr,
        pause: Duration,
    ) -> HeldTarget {
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        let host_due = loop {
            tick.tick().await;
            if let Some(due) = self.try_hold(host, address, pause) {
                break due;
            }
        };
        let held = HeldTarget { schedule: Arc::clone(self), host, address, pause };
        // Held while it waits, because the crawl would take the host as soon as it is due.
        let due = host_due.max(self.last_requests().next(address, millis(pause)));
        tokio::time::sleep_until(self.instant(due)).await;
        held
    }

    /// Holds address and host if no request to them is running; returns when the host may be
    /// visited. A host that is to be left alone for longer than `pause` is not held.
    fn try_hold(&self, host: Option<HostNumber>, address: IpAddr, pause: Duration) -> Option<u64> {
        let latest = self.after(pause);
        let mut workbench = self.workbench();
        if !workbench.hold_address(address, self.now()) {
            return None;
        }
        let due = host.map_or(Some(0), |host| workbench.reserve(host, latest));
        if due.is_none() {
            // Nothing was sent: a host that queues for the address is due as before.
            let due = self.last_requests().next(address, millis(pause));
            workbench.free_address(address, due);
        }
        due
    }
}

/// An address, and a host of the agent, to which no other request is sent.
pub struct HeldTarget {
    schedule: Arc<Schedule>,
    host: Option<HostNumber>,
    address: IpAddr,
    pause: Duration,
}

impl HeldTarget {
    /// Ends the hold. No other request is sent to the host and the address for `pause` after it.
    pub fn end(mut self, pause: Duration) {
        self.pause = pause;
    }
}

impl Drop for HeldTarget {
    fn drop(&mut self) {
        let due = self.schedule.after(self.pause);
        let mut workbench = self.schedule.workbench();
        self.schedule.free_address(&mut workbench, self.address, self.pause);
        if let Some(host) = self.host {
            workbench.give_back(host, due);
        }
        self.schedule.wake_if_due(&workbench);
    }
}
