//! The subnet that an agent gets at approval.
//!
//! > Since the IP address of the machine that will host the crawler is known, we can immediately
//! > assign that subnet to the new crawler. (IPMicra III.D)

use std::net::IpAddr;

use hierarchy::{Hierarchy, SubnetId, SubnetKind};
use model::{AgentId, Reason};

use crate::DelegationTable;

/// Where an agent lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// Delegate this subnet to the agent, with [`Reason::Home`], also when a search gave it to
    /// another agent before.
    Assign(SubnetId),
    /// Another agent lives in the same subnet and keeps it.
    Shared {
        /// The common subnet.
        subnet: SubnetId,
        /// Who was there first.
        with: AgentId,
    },
    /// An admin gave the subnet to another agent, which keeps it.
    Overridden {
        /// The subnet.
        subnet: SubnetId,
        /// Who has it.
        with: AgentId,
    },
    /// No registry record holds the address: it is private, or newer than the registry data. Roots
    /// and blocks are far too large to be a home.
    Unregistered,
}

/// Which subnet `agent` at `address` is at home in.
pub fn home(
    hierarchy: &Hierarchy,
    delegation_table: &DelegationTable,
    agent: AgentId,
    address: IpAddr,
) -> Home {
    let subnet = hierarchy.smallest(address);
    if hierarchy.subnet(subnet).kind() != SubnetKind::Delegated {
        return Home::Unregistered;
    }
    match delegation_table.get(subnet) {
        Some(holding) if holding.reason == Reason::Home && holding.agent != agent => {
            Home::Shared { subnet, with: holding.agent }
        }
        Some(holding) if holding.reason == Reason::Override && holding.agent != agent => {
            Home::Overridden { subnet, with: holding.agent }
        }
        _ => Home::Assign(subnet),
    }
}
