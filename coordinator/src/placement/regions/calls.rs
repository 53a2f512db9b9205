//! Calls of agents about their regions.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::AgentId;
use protocol::key::PublicKey;
use region::envelope::{Envelope, Verified};
use region::message::Lane;
use region::ownership::View;
use region::relay::{MemberReport, RELAY_FILL, RelayAnswer, RelayRequest, is_listener_url};
use region::{Effect, Peer};
use store::{StoreError, Term, regions};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::region_leader::{Now, RegionLeader};
use super::{RegionLeaders, Regions};
use crate::runtime::elapsed_clock;
use crate::runtime::failure::chain;

/// Longest time for which an answer is held back, in milliseconds.
const MOST_HOLD_MS: u32 = 25_000;
/// Most addresses at which an agent listens.
const MOST_ADDRESSES: usize = 8;
/// Longest address or label, in characters.
const LONGEST_TEXT: usize = 200;

/// A call that is not answered.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// Another coordinator is the leader, or none yet.
    #[error("this coordinator is not the leader, which has the regions")]
    NotLeader,
    /// Too many or too long addresses, or a long label.
    #[error("the addresses or the label are too long")]
    TooLong,
    /// An address at which no listener can be.
    #[error(
        "{0:?} is no address of a listener: write an http or https URL without user name, query \
         and fragment in `advertise`"
    )]
    BadAddress(String),
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Regions {
    /// Takes a call of an agent, and answers it when there is news or its hold time is over.
    pub async fn call(
        &self,
        agent: AgentId,
        request: RelayRequest,
        stop: &CancellationToken,
    ) -> Result<RelayAnswer, CallError> {
        check(&request)?;
        let RelayRequest { hold_ms, addresses, label, known, wants_loan, report, lane, envelopes } =
            request;
        let hold = Duration::from_millis(hold_ms.min(MOST_HOLD_MS).into());
        if !self.rules.enabled {
            // They may be large, and no request gets them.
            drop((addresses, report, envelopes));
            stop.run_until_cancelled(tokio::time::sleep(hold)).await;
            return Ok(RelayAnswer::default());
        }
        // Calls for bundles come beside these, with the same addresses and report.
        if lane == Lane::Others {
            regions::announce(&self.store, agent, &addresses, label.as_deref()).await?;
            self.note_report(agent, report).await?;
        }
        self.receive(agent, envelopes).await?;
        let deadline = Instant::now() + hold;
        let arrival = self.arrival(agent);
        loop {
            let arrived = arrival.notified();
            tokio::pin!(arrived);
            // From here on no arrival is missed.
            arrived.as_mut().enable();
            let mut answer = RelayAnswer::default();
            let mut leaders = self.leaders().await?;
            let term = leaders.term;
            if let Some(leader) = leaders.of_agent(agent, known.map(|(region, _)| region)) {
                let view = leader.protocol.view();
                answer.settings = Some(leader.settings);
                let is_news = known.is_none_or(|(region, version)| {
                    region != view.roster().region || version < view.version()
                });
                // It may be large, and comes with the other lane.
                let has_view = is_news && lane == Lane::Others;
                answer.view = has_view.then(|| view.signed().clone());
                // Agents that left get no loan, which would keep the region's subnets from others.
                if wants_loan && leader.has_wanted(agent) {
                    answer.loan_ms = Some(self.lend(term, leader).await?);
                }
                answer.envelopes = leader.mailbox.take(Peer::Agent(agent), lane, RELAY_FILL);
            }
            drop(leaders);
            let news = answer.view.is_some() || wants_loan || !answer.envelopes.is_empty();
            if news || Instant::now() >= deadline {
                return Ok(answer);
            }
            tokio::select! {
                () = &mut arrived => {}
                () = tokio::time::sleep_until(deadline) => {}
                () = stop.cancelled() => return Ok(answer),
            }
        }
    }

    async fn note_report(
        &self,
        agent: AgentId,
        report: Option<MemberReport>,
    ) -> Result<(), CallError> {
        let Some(report) = report else { return Ok(()) };
        if let Some(leader) = self.leaders().await?.of_agent(agent, None) {
            leader.reports.insert(agent, (elapsed_clock::now(), report));
        }
        Ok(())
    }

    /// The states of the regions, which only the leading coordinator has.
    pub(super) async fn leaders(
        &self,
    ) -> Result<tokio::sync::MutexGuard<'_, RegionLeaders>, CallError> {
        let mut leaders = self.leaders.lock().await;
        let term = self.leader.term();
        if term != Some(leaders.term) {
            // The next leader goes on with what is stored; this one must forget what it knew, even
            // if it leads again already.
            *leaders = RegionLeaders::default();
            self.moves.store(Arc::default());
        }
        let term = term.ok_or(CallError::NotLeader)?;
        if leaders.by_region.is_none() {
            *leaders = self.restore_leaders(term).await?;
        }
        Ok(leaders)
    }

    async fn restore_leaders(&self, term: Term) -> Result<RegionLeaders, StoreError> {
        let now = self.both_clocks();
        let incarnation = now.wall.0.max(0).unsigned_abs();
        let start = (self.rules.loan_ms(), incarnation);
        let mut leaders = BTreeMap::new();
        let mut unreadable = BTreeMap::new();
        let members = regions::members(&self.store).await?;
        for stored in regions::list(&self.store).await? {
            let id = stored.id;
            let name = stored.name.clone();
            match RegionLeader::restore(stored, &self.key, start, now) {
                Ok(mut leader) => {
                    // An agent that left may still be in the roster. Until the agents are looked at
                    // it must not be sent back.
                    leader.note_wanted(members.get(&id).into_iter().flatten().copied());
                    leaders.insert(id, leader);
                }
                Err(error) => {
                    tracing::error!(region = name, error = chain(&error), "a region rests");
                    unreadable.insert(id, name);
                }
            }
        }
        Ok(RegionLeaders { term, by_region: Some(leaders), unreadable, ..RegionLeaders::default() })
    }

    pub(super) fn both_clocks(&self) -> Now {
        Now { elapsed: elapsed_clock::now(), wall: self.now() }
    }

    /// Lends the region's hosts; the end is stored before the answer.
    async fn lend(&self, term: Term, leader: &mut RegionLeader) -> Result<u64, CallError> {
        let now = self.both_clocks();
        let term_ms = leader.protocol.lend(now.elapsed);
        let until = now.wall_at(leader.protocol.lender().until());
        let region = leader.protocol.view().roster().region;
        self.fenced(term, regions::save_loan(&self.store, term, region, until).await)?;
        Ok(term_ms)
    }

    async fn receive(&self, from: AgentId, envelopes: Vec<Envelope>) -> Result<(), CallError> {
        if envelopes.is_empty() {
            return Ok(());
        }
        let view =
            self.leaders().await?.of_agent(from, None).map(|leader| leader.protocol.view().clone());
        let Some(view) = view else { return Ok(()) };
        // Verified without the lock, for which all regions wait, because a call has up to thousands
        // of signatures.
        let key = self.key.public();
        let verifying = tokio::task::spawn_blocking(move || verified(envelopes, &view, &key));
        // Lost with the process that ends; any message may be lost.
        let Ok(messages) = verifying.await else { return Ok(()) };
        let mut leaders = self.leaders().await?;
        let term = leaders.term;
        let Some(leader) = leaders.of_agent(from, None) else { return Ok(()) };
        let mut receivers = Vec::new();
        for message in messages {
            match message {
                Arrival::ForCoordinator(message) => {
                    let effects = leader.open(message, elapsed_clock::now());
                    self.save_promises(term, leader, &effects).await?;
                    receivers.extend(leader.send(effects, &self.key));
                }
                Arrival::ForAgent(to, envelope) => receivers.extend(leader.pass_on(to, envelope)),
            }
        }
        drop(leaders);
        self.notify(receivers);
        Ok(())
    }

    async fn save_promises(
        &self,
        term: Term,
        leader: &mut RegionLeader,
        effects: &[Effect],
    ) -> Result<(), CallError> {
        let Some(promises) = RegionLeader::promises(effects) else { return Ok(()) };
        let region = leader.protocol.view().roster().region;
        // Encoding into memory does not fail.
        let Ok(bytes) = postcard::to_allocvec(promises) else { return Ok(()) };
        self.fenced(term, regions::save_promises(&self.store, term, region, &bytes).await)?;
        leader.protocol.note_saved();
        Ok(())
    }
}

/// An envelope that its sender signed.
enum Arrival {
    ForCoordinator(Verified),
    ForAgent(AgentId, Envelope),
}

/// The envelopes that parties of this view signed.
fn verified(envelopes: Vec<Envelope>, view: &View, key: &PublicKey) -> Vec<Arrival> {
    let arrival = |envelope: Envelope| match envelope.header()?.to {
        Peer::Coordinator => match envelope.verify(view, key) {
            Ok(message) => Some(Arrival::ForCoordinator(message)),
            Err(refusal) => {
                tracing::debug!(%refusal, "refused an envelope");
                None
            }
        },
        Peer::Agent(to) if envelope.may_pass(view, key) => Some(Arrival::ForAgent(to, envelope)),
        Peer::Agent(_) => None,
    };
    envelopes.into_iter().filter_map(arrival).collect()
}

fn check(request: &RelayRequest) -> Result<(), CallError> {
    let mut texts = request.addresses.iter().chain(&request.label);
    let is_short = |text: &String| text.chars().count() <= LONGEST_TEXT && !text.contains('\0');
    if request.addresses.len() > MOST_ADDRESSES || !texts.all(is_short) {
        return Err(CallError::TooLong);
    }
    match request.addresses.iter().find(|address| !is_listener_url(address)) {
        Some(bad) => Err(CallError::BadAddress(bad.clone())),
        None => Ok(()),
    }
}
