//! Effects: what a member asks the agent to do.

use std::collections::BTreeSet;

use model::AgentId;
use serde::{Deserialize, Serialize};

use crate::lease::Promises;
use crate::message::{Bundle, Message, RoutedUrl};
use crate::ownership::{HostAtAddress, SignedView};
use crate::peer::Peer;

/// An action for the agent around a [`crate::Member`]. Effects are executed in order; what is to be
/// stored must be on disk before a later message is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Send a message. It may be lost.
    Send(Peer, Message),
    /// Store the promises of the voter, in place of those before.
    SavePromises(Promises),
    /// Store roster and deltas, in place of those before.
    SaveView(SignedView),
    /// Store for what all copies have been taken, in place of what was stored before.
    SaveCopied(CopiedView),
    /// Store a URL that waits for another agent. After a restart it is offered again.
    Keep(RoutedUrl),
    /// Forget these URLs: their owners have stored them.
    Forget(Vec<RoutedUrl>),
    /// Store a URL of a host that this agent owns, to be fetched under a permit.
    Accept(RoutedUrl),
    /// Store that another agent knows or has fetched this URL. It is part of the host's bundle, and
    /// matters when this agent takes the host over.
    Note(RoutedUrl),
    /// Send a URL that was kept to the coordinator, with the results: its host is not the region's
    /// any more.
    Foreign(RoutedUrl),
    /// Pack a host's bundle and give it to [`crate::Member::packed`]. Unless it is a copy, not
    /// before the running fetch of the host has ended; the effect is repeated until then.
    Pack(BundleToPack),
    /// Store a bundle: join it with what is known of the host.
    Store(Bundle),
    /// Delete everything about the host of this URL: its owner has stored the bundle, and this
    /// agent is not among those that would take the host over. The agent finds the host by the URL
    /// alone, because it may have joined another region before it executes the effect.
    Drop(RoutedUrl),
    /// Give all URLs of this URL's host back to the coordinator, and delete everything about the
    /// host: its subnet left the region, so that the coordinator gives it to another agent.
    HandBack(RoutedUrl),
    /// Forget that the host of this URL is the region's: its subnet left the region, and is still
    /// delegated to this agent, which goes on with the host.
    LeaveRegion(RoutedUrl),
}

/// The last state of the region for which every next-nearest agent had its copies. What has changed
/// since is copied again after a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedView {
    /// Roster and delegations.
    pub view: SignedView,
    /// Members that were passed over, because they were dead or asleep.
    pub skipped: BTreeSet<AgentId>,
}

/// A bundle to be packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleToPack {
    /// The host whose bundle it is.
    pub host: HostAtAddress,
    /// Receiver of the bundle.
    pub to: AgentId,
    /// Number for the acknowledgement; 0 for a copy that the receiver asked for.
    pub number: u64,
    /// Whether this agent keeps the host, so that a copy is sent.
    pub is_copy: bool,
}
