//! Takes hosts over: reads what their former agents knew of them, and goes on from there.
//!
//! Bundles are read by a task of their own, because a large one takes minutes on a slow line. The
//! heartbeat waits for them only a short time.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
    time::Duration,
};

use model::UnixMillis;
use protocol::BundleOffer;
use tokio::sync::Notify;

use super::{AgentError, readiness::ReadinessSignal};
use crate::{
    clock,
    coordinator_client::{CoordinatorClient, CoordinatorError},
    error_line,
    frontier::{Change, Effect, HostBundle},
    lock::lock,
    visit::Visitor,
};

/// Longest time for which a heartbeat waits for the bundles of its answer. Until a bundle is there
/// its host is crawled without it.
const LONGEST_WAIT: Duration = Duration::from_secs(5);

/// Takes the bundles that the coordinator offers.
pub(super) struct Takeovers {
    client: Arc<CoordinatorClient>,
    visitor: Arc<Visitor>,
    readiness: ReadinessSignal,
    offers: Mutex<Offers>,
    /// Notified when an answer has brought offers.
    arrived: Notify,
    /// Notified when no offer is open any more, or one less.
    closed: Notify,
}

/// The offers of the last answer.
#[derive(Default)]
struct Offers {
    /// Those that are still to be taken. One that cannot be read now is left out until an answer
    /// repeats it.
    open: Vec<BundleOffer>,
    /// Those that were taken or cannot be, until the coordinator does not repeat them any more.
    settled: BTreeSet<u64>,
}

impl Offers {
    /// Replaces the offers by those of another answer.
    fn replace(&mut self, offers: Vec<BundleOffer>) {
        self.settled.retain(|number| offers.iter().any(|offer| offer.number == *number));
        self.open = offers;
        self.open.retain(|offer| !self.settled.contains(&offer.number));
    }

    fn is_open(&self, number: u64) -> bool {
        self.open.iter().any(|offer| offer.number == number)
    }

    fn close(&mut self, number: u64) {
        self.open.retain(|offer| offer.number != number);
    }
}

impl Takeovers {
    pub(super) fn new(
        client: Arc<CoordinatorClient>,
        visitor: Arc<Visitor>,
        readiness: ReadinessSignal,
    ) -> Self {
        let offers = Mutex::default();
        Self { client, visitor, readiness, offers, arrived: Notify::new(), closed: Notify::new() }
    }

    /// Numbers of the offers that the coordinator need not repeat.
    pub(super) fn taken(&self) -> Vec<u64> {
        lock(&self.offers).settled.iter().copied().collect()
    }

    /// Has the bundles of an answer taken, and waits for them for a short time; returns whether one
    /// was settled.
    pub(super) async fn take(&self, offers: Vec<BundleOffer>) -> bool {
        let before = {
            let mut known = lock(&self.offers);
            known.replace(offers);
            if known.open.is_empty() {
                return false;
            }
            known.settled.clone()
        };
        self.arrived.notify_one();
        // Neither the lease nor the end of the owner's hours waits for a slow line.
        let waiting = tokio::time::timeout(LONGEST_WAIT, self.until_none_is_open());
        if !matches!(self.readiness.while_awake(waiting).await, Some(Ok(()))) {
            tracing::debug!("not all bundles of the answer are read yet");
        }
        !lock(&self.offers).settled.is_subset(&before)
    }

    async fn until_none_is_open(&self) {
        while !lock(&self.offers).open.is_empty() {
            self.closed.notified().await;
        }
    }

    /// Takes bundles as they are offered. One that is cut off by the end of the owner's hours is
    /// offered again, later.
    pub(super) async fn run(self: Arc<Self>) -> Result<(), AgentError> {
        loop {
            self.arrived.notified().await;
            while let Some(offer) = self.next() {
                self.readiness.until_awake().await;
                if let Some(read) =
                    self.readiness.while_awake(self.client.bundle(offer.number)).await
                {
                    self.take_read(&offer, read).await?;
                }
                lock(&self.offers).close(offer.number);
                self.closed.notify_one();
            }
        }
    }

    fn next(&self) -> Option<BundleOffer> {
        lock(&self.offers).open.first().cloned()
    }

    async fn take_read(
        &self,
        offer: &BundleOffer,
        read: Result<Vec<u8>, CoordinatorError>,
    ) -> Result<(), AgentError> {
        match read {
            Ok(bytes) => self.take_one(offer, bytes).await?,
            Err(error) if error.is_banned() => return Err(AgentError::Banned(error)),
            Err(error) if error.is_refusal() || is_too_large(&error) => {
                self.give_up(offer, &error_line::of(&error));
            }
            Err(error) => {
                let error = error_line::of(&error);
                tracing::warn!(error, host = offer.host, "a host bundle cannot be read now");
            }
        }
        Ok(())
    }

    async fn take_one(&self, offer: &BundleOffer, bytes: Vec<u8>) -> Result<(), AgentError> {
        // Large bundles take tens of milliseconds.
        let is_late = offer.is_late;
        let decoding = tokio::task::spawn_blocking(move || {
            let bundle = HostBundle::decode(&bytes)?;
            if !is_late {
                return Ok((bundle, bytes));
            }
            let bundle = bundle.forget_fetched();
            bundle.encode().map(|bytes| (bundle, bytes))
        });
        let (bundle, bytes) = match decoding.await.map_err(AgentError::Crashed)? {
            Ok(decoded) => decoded,
            Err(error) => {
                self.give_up(offer, &error_line::of(&error));
                return Ok(());
            }
        };
        if bundle.record.key != offer.host {
            self.give_up(offer, &format!("it is about {}", bundle.record.key));
            return Ok(());
        }
        let at = clock::now();
        let keeps_times = offer.keeps_times;
        // Held, so that an answer that takes the host away counts before this or after it.
        let mut offers = lock(&self.offers);
        if !offers.is_open(offer.number) {
            tracing::info!(host = offer.host, "a host bundle is not offered any more");
            return Ok(());
        }
        let effect =
            self.visitor.store.apply(Change::TakeOver { bundle: bytes, keeps_times, at })?;
        self.schedule(&effect, at);
        offers.settled.insert(offer.number);
        drop(offers);
        tracing::info!(
            host = offer.host,
            queued = bundle.queue.len(),
            pages = bundle.pages.len(),
            "took a host over"
        );
        Ok(())
    }

    /// A request of the former agent may have ended just now, so that the host is left alone for
    /// its delay first.
    fn schedule(&self, effect: &Effect, at: UnixMillis) {
        let schedule = &self.visitor.schedule;
        for (host, due) in &effect.ready {
            if effect.has_queued {
                schedule.offer(*host, *due, at, self.visitor.delay());
            } else if let (Some(base), Some(period)) =
                (effect.revisit_base, self.visitor.revisit_period())
            {
                let delay = self.visitor.delay();
                schedule.offer_later(*host, *due, base.plus(period), at, delay);
            }
        }
    }

    /// The bundle will never be readable: its host is crawled from its front page.
    fn give_up(&self, offer: &BundleOffer, error: &str) {
        tracing::warn!(error, host = offer.host, "a host bundle cannot be taken");
        let mut offers = lock(&self.offers);
        if offers.is_open(offer.number) {
            offers.settled.insert(offer.number);
        }
    }
}

fn is_too_large(error: &CoordinatorError) -> bool {
    matches!(error, CoordinatorError::TooLarge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(numbers: &[u64]) -> Vec<BundleOffer> {
        let offer = |number: &u64| BundleOffer {
            number: *number,
            host: "http://a.example".into(),
            keeps_times: true,
            is_late: false,
        };
        numbers.iter().map(offer).collect()
    }

    #[test]
    fn an_offer_is_open_until_it_is_closed_and_settled_until_it_is_not_repeated() {
        let mut known = Offers::default();
        known.replace(offers(&[1, 2]));
        known.settled.insert(1);
        known.close(1);
        assert!(!known.is_open(1) && known.is_open(2));
        // It could not be read, and the next answer repeats it.
        known.close(2);
        assert!(known.open.is_empty());
        known.replace(offers(&[1, 2]));
        assert!(!known.is_open(1) && known.is_open(2));
        known.replace(offers(&[3]));
        assert!(known.settled.is_empty() && !known.is_open(2) && known.is_open(3));
    }
}
