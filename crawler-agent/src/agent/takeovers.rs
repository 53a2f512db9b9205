//! Takes hosts over: reads what their former agents knew of them, and goes on from there.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use model::UnixMillis;
use protocol::BundleOffer;

use super::AgentError;
use crate::{
    clock,
    coordinator_client::{CoordinatorClient, CoordinatorError},
    error_line,
    frontier::{Change, Effect, HostBundle},
    visit::Visitor,
};

/// Takes the bundles that the coordinator offers.
pub(super) struct Takeovers {
    client: Arc<CoordinatorClient>,
    visitor: Arc<Visitor>,
    /// Offers that were taken or cannot be, until the coordinator does not repeat them any more.
    settled: Mutex<BTreeSet<u64>>,
}

impl Takeovers {
    pub(super) fn new(client: Arc<CoordinatorClient>, visitor: Arc<Visitor>) -> Self {
        Self { client, visitor, settled: Mutex::default() }
    }

    /// Numbers of the offers that the coordinator need not repeat.
    pub(super) fn taken(&self) -> Vec<u64> {
        self.settled().iter().copied().collect()
    }

    /// Takes the bundles of an answer; returns whether there was one. A bundle that cannot be read
    /// now is offered again: until then its host is crawled without it.
    pub(super) async fn take(&self, offers: Vec<BundleOffer>) -> Result<bool, AgentError> {
        self.settled().retain(|number| offers.iter().any(|offer| offer.number == *number));
        let mut is_any = false;
        for offer in offers {
            if self.settled().contains(&offer.number) {
                continue;
            }
            is_any = true;
            match self.client.bundle(offer.number).await {
                Ok(bytes) => self.take_one(&offer, bytes).await?,
                Err(error) if error.is_banned() => return Err(AgentError::Banned(error)),
                Err(error) if error.is_refusal() || is_too_large(&error) => {
                    self.give_up(&offer, &error_line::of(&error));
                }
                Err(error) => {
                    let error = error_line::of(&error);
                    tracing::warn!(error, host = offer.host, "a host bundle cannot be read now");
                }
            }
        }
        Ok(is_any)
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
        let effect =
            self.visitor.store.apply(Change::TakeOver { bundle: bytes, keeps_times, at })?;
        self.schedule(&effect, at);
        self.settled().insert(offer.number);
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
            if effect.more {
                schedule.offer(*host, *due, at, self.visitor.delay());
            } else if let (Some(visited), Some(period)) =
                (effect.oldest, self.visitor.revisit_period())
            {
                let period_ms = i64::try_from(period.as_millis()).unwrap_or(i64::MAX);
                let revisit = visited.plus_ms(period_ms);
                schedule.offer_later(*host, *due, revisit, at, self.visitor.delay());
            }
        }
    }

    /// The bundle will never be readable: its host is crawled from its front page.
    fn give_up(&self, offer: &BundleOffer, error: &str) {
        tracing::warn!(error, host = offer.host, "a host bundle cannot be taken");
        self.settled().insert(offer.number);
    }

    fn settled(&self) -> std::sync::MutexGuard<'_, BTreeSet<u64>> {
        self.settled.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_too_large(error: &CoordinatorError) -> bool {
    matches!(error, CoordinatorError::TooLarge)
}
