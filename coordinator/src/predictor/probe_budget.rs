//! Probe budget: the probes ordered today, against the limits of the policy.

use std::sync::{Mutex, PoisonError};

use delegation::budget::ProbeUsage;
use hierarchy::Numbering;
use model::{AgentId, DAY_MS, UnixMillis};
use store::{StoreError, probes};

use crate::predictor::Predictor;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Probes of today, counted by subnets of one generation of the hierarchy; `None` until
/// [`Self::load`].
#[derive(Debug, Default)]
pub struct ProbeBudget(Mutex<Option<(Numbering, ProbeUsage)>>);

impl ProbeBudget {
    /// Counts the probes of today in Postgres, unless that was done for this numbering of
    /// subnets.
    pub async fn load(
        &self,
        predictor: &Predictor,
        delegated: &DelegatedHierarchy,
    ) -> Result<(), StoreError> {
        let numbering = delegated.hierarchy().numbering();
        if self.with(|known| known.as_ref().is_some_and(|(counted, _)| *counted == numbering)) {
            return Ok(());
        }
        let now = predictor.clock.now();
        let midnight = UnixMillis(now.0 - now.0.rem_euclid(DAY_MS));
        let mut usage = ProbeUsage::default();
        for spent in probes::count_since(&predictor.store, midnight).await? {
            let subnet = delegated.hierarchy().smallest(spent.address);
            for _ in 0..spent.probes {
                if spent.is_of_search {
                    usage.record(spent.agent, subnet, now);
                } else {
                    usage.record_other(spent.agent, now);
                }
            }
        }
        self.with(|known| *known = Some((numbering, usage)));
        Ok(())
    }

    /// Drops the count. After an election it lacks the probes of the previous leader.
    pub fn reset(&self) {
        self.with(|known| *known = None);
    }

    /// Counts a probe that no search ordered for each of these agents.
    pub fn record_others(&self, agents: &[AgentId], now: UnixMillis) {
        self.usage(|usage| {
            for agent in agents {
                usage.record_other(*agent, now);
            }
        });
    }

    /// Reads or changes the usage. A usage that was not loaded counts as empty.
    pub fn usage<T>(&self, use_it: impl FnOnce(&mut ProbeUsage) -> T) -> T {
        self.with(|known| match known {
            Some((_, usage)) => use_it(usage),
            None => use_it(&mut ProbeUsage::default()),
        })
    }

    fn with<T>(&self, use_it: impl FnOnce(&mut Option<(Numbering, ProbeUsage)>) -> T) -> T {
        use_it(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
