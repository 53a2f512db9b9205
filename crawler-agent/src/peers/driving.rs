//! Driving: the tasks that give messages and time to the member.

use std::{sync::Arc, time::Duration};

use model::RegionId;
use region::{
    Millis, Peer, Settings,
    envelope::{Envelope, Refusal},
    lease::Promises,
    member::{Identity, SavedMember},
    ownership::SignedView,
    relay::RelayAnswer,
    roster::RosterError,
};
use tokio_util::sync::CancellationToken;

use super::{
    Peers, PeersError, collection, core::Core, disk::FormerMembership, relay, worker::Work,
};
use crate::{elapsed_clock, lock::lock};

/// Least time between two steps of the member.
const STEP: Duration = Duration::from_millis(20);

impl Peers {
    /// Task that drives the member until `stop`.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) -> Result<(), PeersError> {
        let failure = lock(&self.failure).take();
        let failed = async {
            match failure {
                Some(failure) => failure.await.unwrap_or(PeersError::Closed),
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = stop.cancelled() => Ok(()),
            error = failed => Err(error),
            () = self.drive() => Ok(()),
            () = relay::run(&self) => Ok(()),
            () = collection::collect(&self) => Ok(()),
        }
    }

    async fn drive(&self) {
        loop {
            let wakeup = {
                let mut core = self.shared.core();
                if let Some(core) = core.as_mut() {
                    self.work(core.tick());
                }
                core.as_ref().map(|core| core.member.next_wakeup())
            };
            tokio::time::sleep(STEP).await;
            let changed = self.changed.notified();
            match wakeup {
                Some(at) => {
                    let pause = Duration::from_millis(at.since(elapsed_clock::now()));
                    // A timeout means that something is due.
                    drop(tokio::time::timeout(pause, changed).await);
                }
                None => changed.await,
            }
        }
    }

    /// Takes an envelope to this agent.
    pub(super) fn receive(&self, envelope: &Envelope) -> Result<Peer, Refusal> {
        let mut core = self.shared.core();
        let Some(core) = core.as_mut() else { return Err(Refusal::Receiver) };
        let before = core.view().version();
        let (from, works) = core.open(envelope)?;
        self.work(works);
        if core.view().version() != before {
            self.shared.outgoing.follow(core.view(), self.listens());
        }
        self.changed.notify_one();
        Ok(from)
    }

    /// Takes an answer of the coordinator to a request that was sent at `asked`, when the agent was
    /// in `region`.
    pub(super) fn take_answer(
        &self,
        answer: RelayAnswer,
        asked: Millis,
        region: Option<RegionId>,
    ) -> Result<(), PeersError> {
        let RelayAnswer { settings, view, loan_ms, envelopes } = answer;
        {
            let mut core = self.shared.core();
            // The agent has joined another region meanwhile, for which view and loan are not meant.
            if region.is_some() && region != core.as_ref().map(Core::region) {
                return Ok(());
            }
            match (core.as_mut(), settings, view) {
                (None, Some(settings), Some(view)) => {
                    let promises = promises_in(&view, self.former.as_ref());
                    let (joined, stored) =
                        self.join(self.shared.identity, settings, view, promises)?;
                    self.work(vec![stored]);
                    tracing::info!(version = ?joined.view().version(), "joined a region");
                    *core = Some(joined);
                }
                (Some(former), Some(settings), Some(view)) if is_of_another(&view, former) => {
                    // The agent may have been in this region before: its requests and bundles are
                    // of a new incarnation, and its votes wait until what it promised then has
                    // ended.
                    let incarnation = former.incarnation() + 1;
                    let identity = Identity { incarnation, ..self.shared.identity };
                    let (joined, stored) = self.join(identity, settings, view, None)?;
                    self.shared.host_addresses.clear();
                    self.shared.outgoing.enter(joined.view().roster().region);
                    self.work(vec![Work::Leave, stored]);
                    tracing::info!("joined another region; nothing of the former one is kept");
                    *former = joined;
                }
                (Some(core), _, Some(view)) => self.work(core.take_view(view)),
                _ => {}
            }
            if let Some(core) = core.as_mut() {
                self.shared.outgoing.follow(core.view(), self.listens());
                if let Some(term_ms) = loan_ms {
                    self.work(vec![Work::Loan(core.lent(term_ms, asked))]);
                }
            }
        }
        for envelope in &envelopes {
            if let Err(refusal) = self.receive(envelope) {
                tracing::debug!(%refusal, "refused an envelope from the coordinator");
            }
        }
        self.changed.notify_one();
        Ok(())
    }

    /// A member of the region of `view`, and what is to be stored of it.
    fn join(
        &self,
        identity: Identity,
        settings: Settings,
        view: SignedView,
        promises: Option<Promises>,
    ) -> Result<(Core, Work), RosterError> {
        let stored =
            Work::Join { view: Box::new(view.clone()), settings, promises: promises.clone() };
        let saved = SavedMember::joining(view, promises);
        let host_addresses = Arc::clone(&self.shared.host_addresses);
        let joined = Core::join(identity, settings, saved, host_addresses, self.rests_until())?;
        Ok((joined, stored))
    }
}

/// What an agent that joins the region of `view` has promised in it; none if that may be lost. A
/// membership that ended last in another region says nothing of one in this region before it.
fn promises_in(view: &SignedView, former: Option<&FormerMembership>) -> Option<Promises> {
    let Some(former) = former else { return Some(Promises::default()) };
    let is_same = view.alleged_region().is_ok_and(|region| region == former.region);
    former.promises.clone().filter(|_| is_same)
}

/// Whether a view is of another region than that of the member. The coordinator let the agent go
/// while it was away, so that the member never learnt of it.
fn is_of_another(view: &SignedView, member: &Core) -> bool {
    view.alleged_region().is_ok_and(|region| region != member.region())
}

#[cfg(test)]
mod tests {
    use region::roster::Version;

    use super::*;
    use crate::peers::core;

    #[test]
    fn promises_of_a_former_membership_bind_an_agent_that_joins_again() {
        let view = core::tests::view();
        let region = view.alleged_region().unwrap();
        let other = RegionId::new(region.get() + 1);
        let floor = Version { epoch: 1, delta: 7 };
        let promises = Some(Promises { floor, ..Promises::default() });
        let after = |region, promises| {
            let former = FormerMembership { region, promises };
            promises_in(&view, Some(&former))
        };
        assert_eq!(promises_in(&view, None), Some(Promises::default()), "it was in no region");
        assert_eq!(after(region, promises.clone()), promises);
        assert_eq!(after(region, None), None, "they were lost already");
        assert_eq!(after(other, promises), None, "it may have been in this region before");
    }
}
