//! The coordinator's part in a region: its vote, its loan, and what the members report.

use std::collections::BTreeMap;

use model::AgentId;
use protocol::key::PublicKey;

use crate::detector::{Detector, Liveness};
use crate::effect::Effect;
use crate::lease::{Promises, Voter};
use crate::loan::Lender;
use crate::message::Message;
use crate::ownership::{SignedView, View};
use crate::peer::Peer;
use crate::roster::{RosterError, Version};
use crate::settings::Settings;
use crate::time::Millis;

/// What a member reported last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// When its last heartbeat arrived.
    pub at: Millis,
    /// Newest version that it knows.
    pub version: Version,
    /// Oldest version under which it grants leases.
    pub floor: Version,
    /// Whether it announced a sleep.
    pub asleep: bool,
}

/// State machine of the coordinator for one region.
#[derive(Debug, Clone)]
pub struct Coordinator {
    view: View,
    voter: Voter,
    lender: Lender,
    reports: BTreeMap<AgentId, Report>,
    detector: Detector,
}

impl Coordinator {
    /// The coordinator of a region that starts now, with the promises that it stored last, or those
    /// of a new region. `lender` knows the end of the last loan.
    pub fn new(
        key: &PublicKey,
        settings: Settings,
        view: SignedView,
        promises: Promises,
        lender: Lender,
        now: Millis,
    ) -> Result<Self, RosterError> {
        Ok(Self {
            view: View::restore(key, view)?,
            voter: Voter::new(settings, Some(promises), now),
            lender,
            reports: BTreeMap::new(),
            detector: Detector::new(settings.suspect_ms, now),
        })
    }

    /// The promises of the last effects are in the database. Until this is called, each request
    /// returns them to be stored.
    pub fn note_saved(&mut self) {
        self.voter.note_saved();
    }

    /// A message of a member arrived.
    pub fn handle(&mut self, from: AgentId, message: Message, now: Millis) -> Vec<Effect> {
        let mut effects = Vec::new();
        if !self.view.has(from) {
            return effects;
        }
        match message {
            Message::Heartbeat(heartbeat) => {
                let peer = Peer::Agent(from);
                if !self.detector.heard(peer, &heartbeat, now) {
                    return effects;
                }
                let report = Report {
                    at: now,
                    version: heartbeat.version,
                    floor: heartbeat.floor,
                    asleep: heartbeat.sleep_ms.is_some(),
                };
                self.reports.insert(from, report);
                if heartbeat.version < self.view.version() {
                    let view = Message::View(self.view.signed().clone());
                    effects.push(Effect::Send(peer, view));
                }
            }
            Message::LeaseRequest(request) => {
                let answer = self.voter.handle(from, &request, &self.view, now);
                effects.extend(self.voter.unsaved().map(Effect::SavePromises));
                let send = |answer| Effect::Send(Peer::Agent(from), Message::LeaseAnswer(answer));
                effects.extend(answer.map(send));
            }
            _ => {}
        }
        effects
    }

    /// A new roster or delta was signed. Returns the messages that spread it.
    pub fn publish(&mut self, view: View) -> Vec<Effect> {
        self.view = view;
        let signed = self.view.signed();
        let send = |agent| Effect::Send(Peer::Agent(agent), Message::View(signed.clone()));
        self.view.roster().agents.iter().map(|entry| send(entry.agent)).collect()
    }

    /// Lends the region's hosts; see [`Lender::lend`].
    pub fn lend(&mut self, now: Millis) -> u64 {
        self.lender.lend(now)
    }

    /// The loan of the region.
    pub fn lender(&self) -> &Lender {
        &self.lender
    }

    /// The newest version.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// What each member reported last.
    pub fn reports(&self) -> &BTreeMap<AgentId, Report> {
        &self.reports
    }

    /// State of a member as the coordinator itself hears it.
    pub fn liveness(&self, agent: AgentId, now: Millis) -> Liveness {
        self.detector.liveness(Peer::Agent(agent), now)
    }

    /// Whether a majority of voters refuses claims under versions before this one.
    pub fn majority_refuses_before(&self, version: Version) -> bool {
        self.view.roster().majority_refuses_before(version, &self.floors())
    }

    /// Oldest version under which each voter grants leases, for
    /// [`crate::roster::voters_may_change`].
    pub fn floors(&self) -> BTreeMap<Peer, Version> {
        let reports = self.reports.iter();
        let mut floors: BTreeMap<Peer, Version> =
            reports.map(|(agent, report)| (Peer::Agent(*agent), report.floor)).collect();
        floors.insert(Peer::Coordinator, self.voter.floor());
        floors
    }
}
