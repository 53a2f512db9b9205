//! Home subnet: the subnet that an agent gets at approval.
//!
//! > Since the IP address of the machine that will host the crawler is known, we can immediately
//! > assign that subnet to the new crawler. (IPMicra III.D)

use std::net::IpAddr;

use hierarchy::{Hierarchy, SubnetId};
use model::{AgentId, Reason};

use crate::DelegationTable;

/// What happens to the subnet around the address of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// The subnet must be delegated to the agent, with [`Reason::Home`], also when a search gave it
    /// to another agent before.
    Assign(SubnetId),
    /// Another agent is at home in the same subnet and keeps it.
    Shared {
        /// The common home subnet.
        subnet: SubnetId,
        /// The agent that was there first.
        with: AgentId,
    },
    /// An admin gave the subnet to another agent, which keeps it.
    Overridden {
        /// The subnet around the address.
        subnet: SubnetId,
        /// The agent that has it.
        with: AgentId,
    },
    /// No subnet that may be delegated holds the address: it is private, or newer than the registry
    /// data.
    Unregistered,
}

/// The home of `agent` at `address`.
pub fn home(
    hierarchy: &Hierarchy,
    delegation_table: &DelegationTable,
    agent: AgentId,
    address: IpAddr,
) -> Home {
    let Some(subnet) = hierarchy.smallest_delegable(address) else { return Home::Unregistered };
    match delegation_table.get(subnet).filter(|present| present.agent != agent) {
        Some(present) if present.reason == Reason::Home => {
            Home::Shared { subnet, with: present.agent }
        }
        Some(present) if present.reason == Reason::Override => {
            Home::Overridden { subnet, with: present.agent }
        }
        _ => Home::Assign(subnet),
    }
}
