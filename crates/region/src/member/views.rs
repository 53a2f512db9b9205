//! Which roster and delegations count.
//!
//! In mode `safe` two versions overlap: the agent fetches what it owns under both, until a majority
//! of voters has granted the newer one alone. Hosts that have the same owner in both versions are
//! fetched all the time.

use crate::effect::Effect;
use crate::member::Member;
use crate::message::Versions;
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
            Ok(view) => {
                effects.push(Effect::SaveView(view.signed().clone()));
                self.next = Some(view);
                self.move_on(now, effects);
            }
            Err(RosterError::Old(_)) => self.counts.refused.old_views += 1,
            Err(_) => self.counts.refused.views += 1,
        }
    }

    fn open_view(&self, signed: SignedView) -> Result<View, RosterError> {
        let view = View::restore(&self.coordinator, signed)?;
        let known = self.newest();
        if view.roster().region != known.roster().region {
            return Err(RosterError::Region(view.roster().region));
        }
        if view.version() <= known.version() {
            return Err(RosterError::Old(view.version()));
        }
        Ok(view)
    }

    /// The newest version that this agent knows.
    pub(super) fn newest(&self) -> &View {
        self.next.as_ref().unwrap_or(&self.current)
    }

    /// Versions that the agent follows.
    pub(super) fn versions(&self) -> Versions {
        Versions {
            previous: self.previous.as_ref().map(View::version),
            current: self.current.version(),
        }
    }

    /// Ends the overlap of two versions when it is not needed any more, and begins the next one.
    pub(super) fn move_on(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        let needs_lease = self.current.roster().mode == Mode::Safe;
        // Without a lease nothing is fetched, and no version has to be left gradually.
        let is_free = !needs_lease
            || self.holder.held_until(&self.current, now).is_none()
            || self.holder.has_moved_to(&self.current, now);
        if is_free {
            self.previous = None;
        }
        if self.previous.is_some() {
            return;
        }
        let Some(next) = self.next.take() else { return };
        let holds = needs_lease && self.holder.held_until(&self.current, now).is_some();
        let former = std::mem::replace(&mut self.current, next);
        self.previous = holds.then_some(former);
        self.next_renewal = now;
        self.hosts.check_all();
        self.redirect(now, effects);
    }
}
