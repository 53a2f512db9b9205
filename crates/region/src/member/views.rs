//! Which roster and delegations count.
//!
//! In mode `safe` versions overlap: the agent fetches what it owns under all of them, until a
//! majority of voters has granted the newer ones alone. Hosts that have the same owner in all
//! versions are fetched all the time.

use crate::effect::Effect;
use crate::member::Member;
use crate::message::{MAX_VERSIONS, Versions};
use crate::ownership::{SignedView, View};
use crate::roster::{Mode, RosterError};
use crate::time::Millis;

impl Member {
    /// A roster or deltas arrived, from the coordinator or passed on by another agent.
    pub(super) fn receive_view(
        &mut self,
        signed: SignedView,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) {
        match self.open_view(signed) {
            Ok(view) => self.adopt(view, now, effects),
            // Several members may pass the same view on.
            Err(RosterError::Old(_)) => {}
            Err(_) => self.counts.refused += 1,
        }
    }

    fn open_view(&self, signed: SignedView) -> Result<View, RosterError> {
        let known = &self.current;
        // Checked before signatures are verified and the ring is built, because anyone can send an
        // old view again.
        let version = signed.alleged_version()?;
        if version <= known.version() {
            return Err(RosterError::Old(version));
        }
        let view = known.newer(&self.coordinator, signed)?;
        if view.roster().region != known.roster().region {
            return Err(RosterError::Region(view.roster().region));
        }
        Ok(view)
    }

    /// Versions that the agent follows: under all of them it must own what it fetches.
    pub(super) fn versions(&self) -> Option<Versions> {
        Versions::new(self.views().iter().map(|view| view.version()))
    }

    /// The newest view, and older ones that grants may name.
    pub(super) fn views(&self) -> Vec<&View> {
        std::iter::once(&self.current).chain(&self.older).collect()
    }

    /// Makes a newer view the current one.
    fn adopt(&mut self, view: View, now: Millis, effects: &mut Vec<Effect>) {
        effects.push(Effect::SaveView(view.signed().clone()));
        let former = std::mem::replace(&mut self.current, view);
        if self.checked.is_none() {
            self.checked = Some(former.clone());
        }
        self.older.push(former);
        // Views in the middle are dropped first, because the oldest is the one that all others
        // know.
        if self.older.len() >= MAX_VERSIONS {
            self.older.remove(1);
        }
        self.forget_views(now);
        self.next_renewal = now;
        self.hosts.check_all();
        self.redirect(now, effects);
    }

    /// Forgets views that do not count any more. Without a lease nothing is fetched, so old
    /// versions can be dropped at once.
    pub(super) fn forget_views(&mut self, now: Millis) {
        let needs_lease = self.current.roster().mode == Mode::Safe;
        match self.holder.oldest_version(&self.current, now) {
            Some(oldest) if needs_lease => self.older.retain(|view| view.version() >= oldest),
            _ => self.older.clear(),
        }
    }
}
