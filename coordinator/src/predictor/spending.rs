//! How many probes were asked for today.

use std::sync::{Mutex, PoisonError};

use delegation::budget::{Allowance, Ledger};
use hierarchy::Generation;
use protocol::UnixMillis;
use store::policy::ProbesADay;
use store::{StoreError, probes};

use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::state::Coordinator;

/// What was asked for today, counted by subnets of one generation of the hierarchy; unknown after a
/// start.
#[derive(Debug, Default)]
pub struct Spending(Mutex<Option<(Generation, Ledger)>>);

const DAY_MS: i64 = 86_400_000;

impl Spending {
    /// Counts the orders of today in Postgres, unless that was done for this generation.
    pub async fn know(
        &self,
        coordinator: &Coordinator,
        delegated: &DelegatedHierarchy,
    ) -> Result<(), StoreError> {
        let generation = delegated.hierarchy().generation();
        if self.with(|known| known.as_ref().is_some_and(|(counted, _)| *counted == generation)) {
            return Ok(());
        }
        let now = coordinator.now();
        let ledger = count(coordinator, delegated, now).await?;
        self.with(|known| *known = Some((generation, ledger)));
        Ok(())
    }

    /// Another coordinator may have asked meanwhile: count anew.
    pub fn forget(&self) {
        self.with(|known| *known = None);
    }

    /// Looks into the ledger or notes something in it. One that is not known yet counts as empty.
    pub fn ledger<T>(&self, look: impl FnOnce(&mut Ledger) -> T) -> T {
        self.with(|known| match known {
            Some((_, ledger)) => look(ledger),
            None => look(&mut Ledger::default()),
        })
    }

    fn with<T>(&self, look: impl FnOnce(&mut Option<(Generation, Ledger)>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn count(
    coordinator: &Coordinator,
    delegated: &DelegatedHierarchy,
    now: UnixMillis,
) -> Result<Ledger, StoreError> {
    let today = UnixMillis(now.0 - now.0.rem_euclid(DAY_MS));
    let mut ledger = Ledger::default();
    for spent in probes::spent(&coordinator.store, today).await? {
        let subnet = delegated.hierarchy().smallest(spent.address);
        for _ in 0..spent.probes {
            ledger.spend(spent.agent, subnet, now);
        }
    }
    Ok(ledger)
}

/// What the admins allow, as the ledger reads it.
pub fn allowance(probes: ProbesADay) -> Allowance {
    Allowance { per_agent: probes.per_agent, per_target: probes.per_target, in_all: probes.in_all }
}
