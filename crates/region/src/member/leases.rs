//! Votes on the leases of others, and the renewal of the agent's own lease.

use model::AgentId;

use crate::effect::Effect;
use crate::member::Member;
use crate::message::{LeaseRequest, Message};
use crate::ownership::HostAtAddress;
use crate::peer::Peer;
use crate::roster::Mode;
use crate::time::Millis;

impl Member {
    /// An agent asks for this agent's vote.
    pub(super) fn vote(
        &mut self,
        agent: AgentId,
        request: &LeaseRequest,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) {
        let answer = self.voter.handle(agent, request, &self.current, now);
        // Promises are stored before the answer is sent.
        effects.extend(self.voter.unsaved().map(Effect::SavePromises));
        // If they cannot be stored, the agent ends.
        self.voter.note_saved();
        let Some(answer) = answer else { return };
        if agent == self.me {
            self.holder.answer(Peer::Agent(self.me), answer, now);
        } else {
            effects.push(Effect::Send(Peer::Agent(agent), Message::LeaseAnswer(answer)));
        }
    }

    /// Asks for the renewal of the lease when it is due.
    pub(super) fn renew(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        if now < self.next_renewal {
            return;
        }
        self.next_renewal = now.plus(self.settings.renew_ms);
        let is_released = self.sleep.is_some_and(|sleep| sleep.released);
        let needs_lease = self.current.roster().mode == Mode::Safe;
        if needs_lease && !is_released && self.current.has(self.me) {
            self.ask(false, now, effects);
        }
    }

    /// Gives the lease back when the agent sleeps and its last fetch has ended.
    pub(super) fn release_if_drained(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        let Some(sleep) = &mut self.sleep else { return };
        if sleep.released || now < sleep.release_at {
            return;
        }
        sleep.released = true;
        if self.current.roster().mode == Mode::Safe {
            self.ask(true, now, effects);
        }
    }

    /// The moment until which a majority of voters allows a host.
    pub(super) fn lease_of(&self, host: HostAtAddress, now: Millis) -> Option<Millis> {
        self.holder.allowed_until(host, &self.views(), now)
    }

    fn ask(&mut self, release: bool, now: Millis, effects: &mut Vec<Effect>) {
        let Some(versions) = self.versions() else { return };
        for (voter, request) in self.holder.ask(&self.current, &versions, release, now) {
            if voter == Peer::Agent(self.me) {
                self.vote(self.me, &request, now, effects);
            } else {
                effects.push(Effect::Send(voter, Message::LeaseRequest(request)));
            }
        }
    }
}
