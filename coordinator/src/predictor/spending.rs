//! How many probes were asked for today.

use std::sync::{Mutex, PoisonError};

use delegation::budget::{ProbeLimits, ProbeUsage};
use hierarchy::Generation;
use model::{UnixMillis, policy::ProbesADay};
use store::{StoreError, probes};

use crate::predictor::Predictor;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// What was asked for today, counted by subnets of one generation of the hierarchy; unknown after a
/// start.
#[derive(Debug, Default)]
pub struct Spending(Mutex<Option<(Generation, ProbeUsage)>>);

const DAY_MS: i64 = 86_400_000;

impl Spending {
    /// Counts the orders of today in Postgres, unless that was done for this generation.
    pub async fn know(
        &self,
        predictor: &Predictor,
        delegated: &DelegatedHierarchy,
    ) -> Result<(), StoreError> {
        let generation = delegated.hierarchy().generation();
        if self.with(|known| known.as_ref().is_some_and(|(counted, _)| *counted == generation)) {
            return Ok(());
        }
        let now = predictor.clock.now();
        let usage = count(predictor, delegated, now).await?;
        self.with(|known| *known = Some((generation, usage)));
        Ok(())
    }

    /// Another coordinator may have asked meanwhile: count anew.
    pub fn forget(&self) {
        self.with(|known| *known = None);
    }

    /// Looks into the usage or notes something in it. One that is not known yet counts as empty.
    pub fn usage<T>(&self, look: impl FnOnce(&mut ProbeUsage) -> T) -> T {
        self.with(|known| match known {
            Some((_, usage)) => look(usage),
            None => look(&mut ProbeUsage::default()),
        })
    }

    fn with<T>(&self, look: impl FnOnce(&mut Option<(Generation, ProbeUsage)>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn count(
    predictor: &Predictor,
    delegated: &DelegatedHierarchy,
    now: UnixMillis,
) -> Result<ProbeUsage, StoreError> {
    let today = UnixMillis(now.0 - now.0.rem_euclid(DAY_MS));
    let mut usage = ProbeUsage::default();
    for spent in probes::spent(&predictor.store, today).await? {
        let subnet = delegated.hierarchy().smallest(spent.address);
        for _ in 0..spent.probes {
            usage.record(spent.agent, subnet, now);
        }
    }
    Ok(usage)
}

/// What the admins allow, as the usage reads it.
pub fn probe_limits(probes: ProbesADay) -> ProbeLimits {
    ProbeLimits { per_agent: probes.per_agent, per_target: probes.per_target, total: probes.in_all }
}
