//! Random steps of the workbench, against rules that an observer checks from outside.

use std::net::IpAddr;

use proptest::prelude::*;

use super::{workbench::ip, *};

#[derive(Debug, Clone)]
enum Step {
    Offer(u64, u64),
    LookUp,
    Resolved(usize),
    LookUpAgain(usize),
    Take,
    Hold(usize, u8),
    Finish(usize, bool, u64),
    Retire(u64),
    Forget(u64),
    Later(u64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        (0u64..6, 0u64..40).prop_map(|(host, due)| Step::Offer(host, due)),
        Just(Step::LookUp),
        any::<usize>().prop_map(Step::Resolved),
        any::<usize>().prop_map(Step::LookUpAgain),
        Just(Step::Take),
        Just(Step::Take),
        (any::<usize>(), 0u8..3).prop_map(|(which, address)| Step::Hold(which, address)),
        (any::<usize>(), any::<bool>(), 0u64..40)
            .prop_map(|(which, more, pause)| Step::Finish(which, more, pause)),
        (0u64..6).prop_map(Step::Retire),
        (0u64..6).prop_map(Step::Forget),
        (0u64..20).prop_map(Step::Later),
    ]
}

/// What an observer knows: which hosts have work, which requests run, and when each host may be
/// visited and each address contacted.
#[derive(Default)]
struct Observer {
    now: u64,
    owed: std::collections::BTreeSet<u64>,
    /// Hosts that may not be visited any more.
    retired: std::collections::BTreeSet<u64>,
    /// Hosts whose names are being looked up.
    resolving: Vec<HostNumber>,
    busy: Vec<(HostNumber, Option<IpAddr>)>,
    not_before: std::collections::HashMap<HostNumber, u64>,
    address_free: std::collections::HashMap<IpAddr, u64>,
}

impl Observer {
    fn step(&mut self, workbench: &mut Workbench, step: &Step) {
        match *step {
            Step::Offer(host, pause) => {
                let free = self.not_before.get(&HostNumber(host)).copied().unwrap_or(0);
                let due = free.max(self.now + pause);
                workbench.offer(HostNumber(host), due);
                self.owe(host);
            }
            Step::LookUp => self.resolving.extend(workbench.take_unresolved(self.now)),
            Step::Resolved(which) if !self.resolving.is_empty() => {
                workbench.resolved(self.resolving.remove(which % self.resolving.len()));
            }
            Step::Resolved(_) => {}
            Step::LookUpAgain(which) => self.look_up_again(workbench, which),
            Step::Take => {
                if let Some(host) = workbench.take(self.now) {
                    assert!(!self.resolving.contains(&host), "the lookup of {host:?} is running");
                    assert!(
                        self.busy.iter().all(|(busy, _)| *busy != host),
                        "two requests to {host:?}"
                    );
                    assert!(
                        self.not_before.get(&host).is_none_or(|due| *due <= self.now),
                        "too early"
                    );
                    assert!(!self.retired.contains(&host.0), "{host:?} is retired");
                    self.owed.remove(&host.0);
                    self.busy.push((host, None));
                }
            }
            Step::Hold(which, last) => self.hold(workbench, which, ip(last)),
            Step::Finish(which, more, pause) => self.finish(workbench, which, more, pause),
            Step::Retire(host) => self.retire(workbench, HostNumber(host)),
            Step::Forget(host) => self.forget(workbench, HostNumber(host)),
            Step::Later(ms) => self.now += ms,
        }
        assert_eq!(
            workbench.in_flight(),
            self.busy.iter().filter(|(_, address)| address.is_some()).count()
        );
    }

    fn owe(&mut self, host: u64) {
        if !self.retired.contains(&host) {
            self.owed.insert(host);
        }
    }

    fn retire(&mut self, workbench: &mut Workbench, host: HostNumber) {
        workbench.retire(host);
        self.retired.insert(host.0);
        self.owed.remove(&host.0);
        self.resolving.retain(|resolving| *resolving != host);
        let is_busy = self.busy.iter().any(|(busy, _)| *busy == host);
        assert_eq!(workbench.is_idle(host), !is_busy);
    }

    /// Forgets that a host was retired, once its last request is over.
    fn forget(&mut self, workbench: &mut Workbench, host: HostNumber) {
        if workbench.is_idle(host) {
            workbench.forget(host);
            self.retired.remove(&host.0);
        }
    }

    fn look_up_again(&mut self, workbench: &mut Workbench, which: usize) {
        let free: Vec<usize> = (0..self.busy.len()).filter(|n| self.busy[*n].1.is_none()).collect();
        let Some(n) = free.get(which % free.len().max(1)) else { return };
        let (host, _) = self.busy.remove(*n);
        workbench.look_up(host);
        self.owe(host.0);
    }

    fn hold(&mut self, workbench: &mut Workbench, which: usize, address: IpAddr) {
        let free: Vec<usize> = (0..self.busy.len()).filter(|n| self.busy[*n].1.is_none()).collect();
        let Some(n) = free.get(which % free.len().max(1)) else { return };
        let host = self.busy[*n].0;
        let free = self.address_free.get(&address).copied().unwrap_or(0);
        if workbench.hold(host, address, free, self.now) {
            assert!(free <= self.now, "too early for {address}");
            assert!(
                self.busy.iter().all(|(_, held)| *held != Some(address)),
                "two requests to {address}"
            );
            self.busy[*n].1 = Some(address);
        } else {
            self.busy.remove(*n);
            self.owe(host.0);
        }
    }

    fn finish(&mut self, workbench: &mut Workbench, which: usize, more: bool, pause: u64) {
        if self.busy.is_empty() {
            return;
        }
        let (host, address) = self.busy.remove(which % self.busy.len());
        if let Some(address) = address {
            workbench.free_address(address, self.now + pause);
            self.address_free.insert(address, self.now + pause);
        }
        let due = self.now + pause;
        workbench.release(host, due, more);
        self.not_before.insert(host, due);
        if more {
            self.owe(host.0);
        }
    }
}

proptest! {
    #[test]
    fn the_rules_hold_and_no_host_starves(steps in prop::collection::vec(step(), 0..200)) {
        let mut workbench = Workbench::default();
        let mut observer = Observer::default();
        for step in &steps {
            observer.step(&mut workbench, step);
        }
        observer.now += 1_000;
        while !observer.owed.is_empty() || !observer.busy.is_empty() {
            let owed = observer.owed.len();
            let busy = observer.busy.len();
            let resolving = observer.resolving.len();
            observer.step(&mut workbench, &Step::LookUp);
            observer.step(&mut workbench, &Step::Resolved(0));
            observer.step(&mut workbench, &Step::Take);
            observer.step(&mut workbench, &Step::Finish(0, false, 0));
            let progress = observer.owed.len() < owed || observer.busy.len() < busy
                || observer.resolving.len() < resolving;
            prop_assert!(progress, "stuck: {:?}", workbench);
        }
        prop_assert!(workbench.hosts.is_empty());
        prop_assert_eq!(workbench.in_flight(), 0);
    }
}
