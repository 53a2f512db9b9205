//! The leading coordinator as a party of one region.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::{AgentId, RegionId, UnixMillis};
use protocol::key::CoordinatorKey;
use region::departures::{Departures, Refusal};
use region::envelope::{Envelope, EnvelopeFilter, Sealer, SenderKey, Verified};
use region::lease::Promises;
use region::loan::Lender;
use region::mailbox::Mailbox;
use region::moves::{KnownMember, ListedSubnets, RegionSubnets};
use region::ownership::{SignedView, View};
use region::relay::MemberReport;
use region::roster::{RosterError, Version};
use region::{Coordinator, Effect, Millis, Peer, Settings};
use store::regions::StoredRegion;

use super::ranges::SubnetWithAgent;
use crate::runtime::region_moves::addresses;

/// One region as the leading coordinator keeps it in memory.
pub(super) struct RegionLeader {
    pub(super) name: String,
    pub(super) settings: Settings,
    pub(super) protocol: Coordinator,
    filter: EnvelopeFilter,
    sealer: Sealer,
    pub(super) mailbox: Mailbox,
    /// What each member reported last, and when.
    pub(super) reports: BTreeMap<AgentId, (Millis, MemberReport)>,
    /// Refusal of claims under rosters before the last change of voters.
    refusal: Refusal,
    /// The subnets of members, each with the first version that lists it.
    listed: Arc<ListedSubnets>,
    /// Former members whose subnets the loan keeps.
    departures: Departures,
    /// Agents that are to be members; none before the first look at them.
    wanted: Option<BTreeSet<AgentId>>,
    /// Whether the region has neither members nor subnets.
    pub(super) is_dissolved: bool,
    /// What the view was last compared with, if it needed no change.
    pub(super) view_inputs: Option<ViewInputs>,
}

/// What the view of a region is made from, and the view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ViewInputs {
    /// Version of the delegation table.
    pub(super) delegated: u64,
    pub(super) agents: Vec<AgentId>,
    pub(super) view: Version,
}

/// A region that cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum RegionLeaderError {
    /// A column holds something else than the coordinator writes there.
    #[error(
        "the row of {0} in the table regions is damaged; restore it from a backup; the operator's \
         guide says how a region is formed anew without one (Regions)"
    )]
    Damaged(RegionId),
    /// Roster and deltas are not consistent, or another key has signed them.
    #[error(
        "the roster of {0} cannot be used; restore its row in the table regions from a backup; the \
         operator's guide says how a region is formed anew without one (Regions)"
    )]
    Roster(RegionId, #[source] RosterError),
}

/// Both clocks at one moment: `elapsed` for durations, `wall` for what is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Now {
    pub(super) elapsed: Millis,
    pub(super) wall: UnixMillis,
}

impl Now {
    /// The wall time of a moment.
    pub(super) fn wall_at(self, at: Millis) -> UnixMillis {
        let ahead = i64::try_from(at.since(self.elapsed)).unwrap_or(i64::MAX);
        UnixMillis(self.wall.0.saturating_add(ahead))
    }

    /// The wall time of a moment that is over.
    pub(super) fn wall_at_past(self, at: Millis) -> UnixMillis {
        let ago = i64::try_from(self.elapsed.since(at)).unwrap_or(i64::MAX);
        UnixMillis(self.wall.0.saturating_sub(ago))
    }

    fn elapsed_at(self, at: UnixMillis) -> Millis {
        self.elapsed.plus(at.0.saturating_sub(self.wall.0).max(0).unsigned_abs())
    }
}

impl RegionLeader {
    /// The region as a former leader stored it. `incarnation` is larger than that of all before.
    pub(super) fn restore(
        stored: StoredRegion,
        key: &CoordinatorKey,
        (term_ms, incarnation): (u64, u64),
        now: Now,
    ) -> Result<Self, RegionLeaderError> {
        let damaged = || RegionLeaderError::Damaged(stored.id);
        let settings: Settings =
            serde_json::from_value(stored.settings.clone()).map_err(|_| damaged())?;
        let view: SignedView = postcard::from_bytes(&stored.view).map_err(|_| damaged())?;
        let promises = match &stored.promises {
            Some(bytes) => postcard::from_bytes(bytes).map_err(|_| damaged())?,
            None => Promises::default(),
        };
        let lender = Lender::new(term_ms, settings.drift, now.elapsed_at(stored.lent_until));
        let public = key.public();
        let protocol = Coordinator::new(&public, settings, view, promises, lender, now.elapsed)
            .map_err(|error| RegionLeaderError::Roster(stored.id, error))?;
        Ok(Self {
            name: stored.name,
            settings,
            protocol,
            filter: EnvelopeFilter::new(stored.id, Peer::Coordinator, public),
            sealer: Sealer::new(stored.id, Peer::Coordinator, incarnation),
            mailbox: Mailbox::of_coordinator(),
            reports: BTreeMap::new(),
            refusal: Refusal::default(),
            listed: Arc::default(),
            departures: Departures::default(),
            wanted: None,
            is_dissolved: false,
            view_inputs: None,
        })
    }

    /// Takes a message to the coordinator; returns what is to be done.
    pub(super) fn open(&mut self, message: Verified, now: Millis) -> Vec<Effect> {
        match self.filter.open_verified(message, now) {
            Ok((Peer::Agent(from), message)) => self.protocol.handle(from, message, now),
            Ok((Peer::Coordinator, _)) => Vec::new(),
            Err(refusal) => {
                tracing::debug!(region = self.name, %refusal, "refused an envelope");
                Vec::new()
            }
        }
    }

    /// Promises that are to be stored before anything is sent.
    pub(super) fn promises(effects: &[Effect]) -> Option<&Promises> {
        let mut promises = effects.iter().filter_map(|effect| match effect {
            Effect::SavePromises(promises) => Some(promises),
            _ => None,
        });
        promises.next_back()
    }

    /// Puts messages into the mailboxes of their receivers; returns these.
    pub(super) fn send(&mut self, effects: Vec<Effect>, key: &CoordinatorKey) -> Vec<AgentId> {
        let mut receivers = Vec::new();
        for effect in effects {
            let Effect::Send(to, message) = effect else { continue };
            let sealed = self.sealer.seal(&SenderKey::Coordinator(key), to, message);
            if let Some(envelope) = sealed {
                self.mailbox.put(to, envelope);
                receivers.extend(to.agent());
            }
        }
        receivers
    }

    /// Keeps an envelope from one agent to another; returns the receiver.
    pub(super) fn pass_on(&mut self, to: AgentId, envelope: Envelope) -> Option<AgentId> {
        // The roster may be another one than when the envelope was verified.
        if !self.protocol.view().has(to) {
            return None;
        }
        self.mailbox.put(Peer::Agent(to), envelope);
        Some(to)
    }

    /// Publishes a newer view; returns the agents that get it.
    pub(super) fn publish(&mut self, view: View, key: &CoordinatorKey) -> Vec<AgentId> {
        let effects = self.protocol.publish(view);
        // Agents that left collect nothing any more.
        let view = self.protocol.view();
        self.mailbox.retain(|to| view.voters().contains(&to));
        self.send(effects, key)
    }

    /// Notes which subnets the present view lists: those of members that stay.
    pub(super) fn note_listed(&mut self, held: &[SubnetWithAgent]) {
        let listed = held.iter().filter_map(|(subnet, agent)| {
            let agent = agent.filter(|agent| self.has_wanted(*agent))?;
            Some((addresses(subnet), agent))
        });
        self.listed = Arc::new(self.listed.updated(listed, self.protocol.view().version()));
    }

    /// Notes the agents that are to be members, by their owners' wish and the region's name.
    pub(super) fn note_wanted(&mut self, agents: impl Iterator<Item = AgentId>) {
        self.wanted = Some(agents.collect());
    }

    /// Notes the former members whose subnets are not let go yet.
    pub(super) fn note_former(&mut self, former: &BTreeSet<AgentId>) {
        let has_left = self.wanted.as_ref().is_some_and(BTreeSet::is_empty);
        self.is_dissolved = has_left && former.is_empty();
    }

    /// Whether an agent is in the roster and stays. One that left may be in the roster for long: a
    /// region of two keeps it until another agent comes.
    pub(super) fn has_wanted(&self, agent: AgentId) -> bool {
        let is_wanted = self.wanted.as_ref().is_none_or(|wanted| wanted.contains(&agent));
        is_wanted && self.protocol.view().has(agent)
    }

    /// What decides on moves of subnets within the region. An agent that left gets nothing, and its
    /// subnets wait while the region's loan has them, as `has_loan` says.
    pub(super) fn subnets(&self, now: Millis, has_loan: impl Fn(AgentId) -> bool) -> RegionSubnets {
        let reports = self.protocol.reports();
        let reported = |agent: AgentId| reports.get(&agent).filter(|_| self.has_wanted(agent));
        let known = |agent: AgentId| match reported(agent) {
            Some(report) => KnownMember {
                version: Some(report.version),
                is_alive: !report.asleep && now.since(report.at) <= self.settings.suspect_ms,
            },
            None => KnownMember { version: None, is_alive: false },
        };
        let members = self.protocol.view().roster().agents.iter().map(|entry| entry.agent);
        let members = members.filter(|agent| self.has_wanted(*agent) || has_loan(*agent));
        RegionSubnets {
            members: members.map(|agent| (agent, known(agent))).collect(),
            listed: Arc::clone(&self.listed),
        }
    }

    /// Notes whether a majority of voters refuses claims under rosters before the last change of
    /// voters; returns whether a lease's term has passed since it does.
    pub(super) fn is_settled(&mut self, now: Millis) -> bool {
        let epoch = self.protocol.view().roster().voters_since;
        let refuses = self.protocol.majority_refuses_before(Version { epoch, delta: 0 });
        self.refusal.has_lasted(refuses, self.settings.promise_ms(), now)
    }

    /// The former members whose subnets may go to any agent. The present view lists none of their
    /// subnets. If all members left, no voter reports what it refuses and no member renews the
    /// loan, so the end of the loan frees the subnets.
    pub(super) fn departed(&mut self, former: &BTreeSet<AgentId>, now: Millis) -> Vec<AgentId> {
        let protocol = &self.protocol;
        if protocol.lender().may_give_away(now) {
            return former.iter().copied().collect();
        }
        let refuses = |version| protocol.majority_refuses_before(version);
        let promise_ms = self.settings.promise_ms();
        self.departures.over(former, protocol.view().version(), refuses, promise_ms, now)
    }
}

#[cfg(test)]
mod tests {
    use region::Message;

    use super::*;
    use crate::placement::regions::example;

    #[test]
    fn an_agent_that_left_a_region_of_two_is_no_receiver_and_free_without_a_loan() {
        let stays = AgentId::new(1);
        let left = AgentId::new(2);
        let mut leader = example::leader(&[1, 2], 0);
        assert!(leader.has_wanted(left), "before the first look at the agents");
        leader.note_wanted([stays].into_iter());
        assert!(leader.has_wanted(stays) && !leader.has_wanted(left));
        let members = |has_loan| leader.subnets(Millis(2), |_| has_loan).members;
        assert_eq!(members(false).into_keys().collect::<Vec<_>>(), [stays]);
        let waiting = members(true)[&left];
        assert_eq!((waiting.version, waiting.is_alive), (None, false), "its subnets wait");
    }

    #[test]
    fn nothing_waits_for_an_agent_that_is_in_the_roster_no_more() {
        let key = example::key();
        let mut leader = example::leader(&[1, 2], 0);
        let left = AgentId::new(2);
        let message = || Effect::Send(Peer::Agent(left), Message::UrlsTaken(1));
        assert_eq!(leader.send(vec![message()], &key), [left]);
        let view = View::open(&key.public(), example::roster(&[1])).unwrap();
        leader.publish(view, &key);
        assert!(leader.mailbox.is_empty(Peer::Agent(left)));
    }

    #[test]
    fn the_end_of_the_loan_frees_the_subnets_of_members_that_all_left() {
        let former = BTreeSet::from([AgentId::new(1), AgentId::new(2)]);
        let mut leader = example::leader(&[1, 2], 5_000);
        assert_eq!(leader.departed(&former, Millis(4_000)), []);
        let freed = leader.departed(&former, Millis(5_000));
        assert_eq!(freed, former.into_iter().collect::<Vec<_>>());
    }
}
