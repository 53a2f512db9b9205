//! Audit: a linter of the delegation table.
//!
//! It judges delegations as they are stored, because a delegation table in memory cannot hold most
//! of these mistakes. It runs as a background task and as a command. A finding is something to
//! repair, never a reason to stop.

use std::collections::{BTreeMap, HashMap};

use hierarchy::{Generation, Hierarchy, Range};
use model::{AgentId, Reason};

/// A delegation as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditedDelegation {
    /// The delegated subnet.
    pub range: Range,
    /// The agent that has it.
    pub agent: AgentId,
    /// Why it has it.
    pub reason: Reason,
    /// The generation of the hierarchy that the range was taken from.
    pub generation: Generation,
    /// Pages a day of the subnet.
    pub load: u64,
}

/// An agent that may hold delegations, as it is stored: approved or paused. A paused agent keeps
/// its subnets, as an admin decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditedAgent {
    pub agent: AgentId,
    /// Pages a day that it can crawl.
    pub capacity: u64,
}

/// A mistake in the stored delegations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// A subnet has two delegations: its pages are fetched twice.
    TwoOwners {
        /// The delegated subnet.
        range: Range,
        /// The agents of the two delegations.
        agents: [AgentId; 2],
    },
    /// The agent is unknown or revoked: the subnet is not crawled.
    InactiveAgent {
        /// The delegated subnet.
        range: Range,
        /// The agent that has it.
        agent: AgentId,
    },
    /// The hierarchy has no such subnet. Lookups of addresses find another one, so the delegation
    /// is never used.
    Orphan {
        /// The delegated subnet.
        range: Range,
        /// The agent that has it.
        agent: AgentId,
    },
    /// A root or a block is delegated, which is forbidden by
    /// [`hierarchy::SubnetKind::may_be_delegated`].
    NotDelegable {
        /// The delegated subnet.
        range: Range,
        /// The agent that has it.
        agent: AgentId,
    },
    /// The delegation is of another generation than the hierarchy: it was not remapped.
    StaleGeneration {
        /// The delegated subnet.
        range: Range,
        /// Generation of the delegation.
        generation: Generation,
    },
    /// The agent holds more than it can crawl.
    OverCapacity {
        /// The agent with too many subnets.
        agent: AgentId,
        /// Pages a day that it holds.
        load: u64,
        /// Pages a day that it can crawl.
        capacity: u64,
    },
}

/// All mistakes, delegation by delegation in their order, then agent by agent.
pub fn audit(
    hierarchy: &Hierarchy,
    agents: &[AuditedAgent],
    delegations: &[AuditedDelegation],
) -> Vec<Finding> {
    let agents: HashMap<AgentId, AuditedAgent> =
        agents.iter().map(|agent| (agent.agent, *agent)).collect();
    let mut first_agents: HashMap<Range, AgentId> = HashMap::new();
    let mut loads: BTreeMap<AgentId, u64> = BTreeMap::new();
    let mut findings = Vec::new();
    for delegation in delegations {
        let AuditedDelegation { range, agent, .. } = *delegation;
        findings.extend(of_delegation(hierarchy, &agents, delegation));
        let load = loads.entry(agent).or_default();
        *load = load.saturating_add(delegation.load);
        if let Some(first) = first_agents.insert(range, agent) {
            findings.push(Finding::TwoOwners { range, agents: [first, agent] });
        }
    }
    let overloaded = loads.into_iter();
    findings
        .extend(overloaded.filter_map(|(agent, load)| over_capacity(agents.get(&agent)?, load)));
    findings
}

fn of_delegation(
    hierarchy: &Hierarchy,
    agents: &HashMap<AgentId, AuditedAgent>,
    delegation: &AuditedDelegation,
) -> impl Iterator<Item = Finding> {
    let AuditedDelegation { range, agent, generation, .. } = *delegation;
    let is_inactive = !agents.contains_key(&agent);
    let inactive = Finding::InactiveAgent { range, agent };
    let is_stale = generation != hierarchy.generation();
    let stale = Finding::StaleGeneration { range, generation };
    let subnet = hierarchy.find(&range).map(|subnet| hierarchy.subnet(subnet));
    let subnet = match subnet {
        None => Some(Finding::Orphan { range, agent }),
        Some(subnet) if subnet.may_be_delegated() => None,
        Some(_) => Some(Finding::NotDelegable { range, agent }),
    };
    [is_inactive.then_some(inactive), is_stale.then_some(stale), subnet].into_iter().flatten()
}

fn over_capacity(agent: &AuditedAgent, load: u64) -> Option<Finding> {
    let AuditedAgent { agent, capacity, .. } = *agent;
    (load > capacity).then_some(Finding::OverCapacity { agent, load, capacity })
}

impl Finding {
    /// Whether remapping the delegations to the hierarchy in use removes the mistake.
    pub const fn is_repaired_by_remap(&self) -> bool {
        matches!(
            self,
            Self::Orphan { .. } | Self::NotDelegable { .. } | Self::StaleGeneration { .. }
        )
    }

    /// The word in JSON, tables and metrics.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::TwoOwners { .. } => "two_owners",
            Self::InactiveAgent { .. } => "inactive_agent",
            Self::Orphan { .. } => "orphan",
            Self::NotDelegable { .. } => "not_delegable",
            Self::StaleGeneration { .. } => "stale_generation",
            Self::OverCapacity { .. } => "over_capacity",
        }
    }
}

impl std::fmt::Display for Finding {
    /// One sentence: what is wrong and what to do.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TwoOwners { range, agents: [first, second] } => write!(
                f,
                "{range} is delegated to agent {first} and to agent {second}; end one of the two \
                 delegations"
            ),
            Self::InactiveAgent { range, agent } => write!(
                f,
                "{range} is delegated to agent {agent}, which is unknown or revoked; search for \
                 another agent"
            ),
            Self::Orphan { range, agent } => write!(
                f,
                "{range} of agent {agent} is no subnet of the hierarchy; the leader remaps it"
            ),
            Self::NotDelegable { range, agent } => write!(
                f,
                "{range} of agent {agent} is a root or a block; the leader ends the delegation"
            ),
            Self::StaleGeneration { range, generation } => write!(
                f,
                "{range} was delegated in generation {generation} and not remapped; the \
                 leader remaps it"
            ),
            Self::OverCapacity { agent, load, capacity } => write!(
                f,
                "agent {agent} has {load} pages a day and can crawl {capacity}; move some of its \
                 subnets"
            ),
        }
    }
}
