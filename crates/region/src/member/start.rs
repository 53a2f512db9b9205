//! Start of a member, from nothing or from what it stored.

use std::collections::BTreeSet;

use model::AgentId;
use protocol::key::PublicKey;
use serde::{Deserialize, Serialize};

use crate::counts::Counts;
use crate::detector::Detector;
use crate::effect::CopiedView;
use crate::exchange::Exchange;
use crate::lease::{Holder, Promises, Voter};
use crate::loan::Borrower;
use crate::member::Member;
use crate::member::hosts::{Copies, Hosts};
use crate::member::new_hosts::{BUNDLED, LINKED, NOTICED, NewHosts};
use crate::ownership::{SignedView, View};
use crate::roster::RosterError;
use crate::settings::Settings;
use crate::time::Millis;

/// Identity of a member.
#[derive(Debug, Clone, Copy)]
pub struct Identity {
    /// The agent that the member is.
    pub agent: AgentId,
    /// Key that signs rosters.
    pub coordinator: PublicKey,
    /// Number of this process, larger than those of all processes of this agent before.
    pub incarnation: u64,
}

/// What a member must find again after a restart, apart from hosts and waiting URLs, which the
/// agent's frontier stores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedMember {
    /// The last view that was to be stored.
    pub view: SignedView,
    /// The last promises that were to be stored; none if they may be lost.
    pub promises: Option<Promises>,
    /// For what all copies had been taken; none from versions that did not store it.
    pub copied: Option<CopiedView>,
    /// End of the loan, by the clock of the new process.
    pub loan_until: Millis,
}

impl SavedMember {
    /// What a member has that joins: nothing but the view and its promises. One that was never in
    /// this region has made none; those of one that was may be lost.
    pub fn joining(view: SignedView, promises: Option<Promises>) -> Self {
        Self { view, promises, copied: None, loan_until: Millis(0) }
    }
}

impl Member {
    /// A member that joins or starts again. It fetches under a new lease only, and its votes keep
    /// what it promised.
    pub fn start(
        identity: Identity,
        settings: Settings,
        saved: SavedMember,
        now: Millis,
    ) -> Result<Self, RosterError> {
        let SavedMember { view, promises, copied, loan_until } = saved;
        let Identity { agent: me, coordinator, incarnation } = identity;
        let mut member = Self {
            me,
            incarnation,
            coordinator,
            settings,
            current: View::restore(&coordinator, view)?,
            checked: None,
            copied_before: None,
            copied: None,
            older: Vec::new(),
            detector: Detector::new(settings.suspect_ms, now),
            voter: Voter::new(settings, promises, now),
            holder: Holder::new(me, settings, incarnation),
            exchange: Exchange::new(settings, incarnation),
            hosts: Hosts::new(incarnation),
            linked_hosts: NewHosts::new(LINKED),
            noticed_hosts: NewHosts::new(NOTICED),
            bundled_hosts: NewHosts::new(BUNDLED),
            copies: Copies::default(),
            loan: Borrower::new(settings.drift, loan_until),
            skipped: BTreeSet::new(),
            next_heartbeat: now,
            heartbeats: 0,
            next_renewal: now,
            sleep: None,
            counts: Counts::default(),
        };
        if let Some(copied) = copied {
            member.restore_copied(copied);
        }
        Ok(member)
    }

    /// Makes the first check of all hosts copy only what changed since. Copies of another region do
    /// not count.
    fn restore_copied(&mut self, copied: CopiedView) {
        let Ok(view) = View::restore(&self.coordinator, copied.view) else { return };
        if view.roster().region != self.current.roster().region {
            return;
        }
        self.hosts.checked_with(&copied.skipped);
        self.copied = Some((view.version(), copied.skipped));
        self.copied_before = Some(view);
    }
}
