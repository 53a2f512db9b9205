//! A linter of the delegation delegation table: does what is written make sense?
//!
//! It judges entries as they stand in a store, by their words, because a delegation table in memory cannot hold
//! most of these mistakes. It runs after every plan and as a command; a finding is something to
//! repair, never a reason to stop.

use std::collections::{BTreeMap, HashMap};

use hierarchy::{Generation, Hierarchy, Range, SubnetKind};
use model::{AgentId, Reason};

/// A delegation as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditedDelegation {
    /// What.
    pub range: Range,
    /// To whom.
    pub agent: AgentId,
    /// Why.
    pub reason: Reason,
    /// The generation of the hierarchy that the range was taken from.
    pub generation: Generation,
    /// Pages a day that it has.
    pub load: u64,
}

/// An agent as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditedAgent {
    /// Who.
    pub agent: AgentId,
    /// Pages a day that it can crawl.
    pub capacity: u64,
    /// Whether it may hold delegations: approved, not paused, not revoked.
    pub active: bool,
}

/// Something that should not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Two entries for one subnet: its pages are fetched twice.
    TwoOwners {
        /// What.
        range: Range,
        /// Whose.
        agents: [AgentId; 2],
    },
    /// The agent is not known, or is known but may not hold anything: the subnet is not crawled.
    InactiveAgent {
        /// What.
        range: Range,
        /// Whose.
        agent: AgentId,
        /// It is on the list, but paused or revoked.
        known: bool,
    },
    /// The hierarchy has no such subnet: addresses find another one, the entry is never used.
    Orphan {
        /// What.
        range: Range,
        /// Whose.
        agent: AgentId,
    },
    /// A root or a block, which no company holds, is delegated: far too large to be one place.
    NotDelegable {
        /// What.
        range: Range,
        /// Whose.
        agent: AgentId,
    },
    /// The entry is of another generation than the hierarchy: it was not carried over.
    StaleGeneration {
        /// What.
        range: Range,
        /// The entry's.
        generation: Generation,
    },
    /// The agent holds more than it can crawl.
    OverCapacity {
        /// Who.
        agent: AgentId,
        /// Pages a day that it holds.
        load: u64,
        /// Pages a day that it can crawl.
        capacity: u64,
    },
}

/// Everything that should not be, entry by entry in their order, then agent by agent.
pub fn audit(
    hierarchy: &Hierarchy,
    agents: &[AuditedAgent],
    entries: &[AuditedDelegation],
) -> Vec<Finding> {
    let agents: HashMap<AgentId, AuditedAgent> =
        agents.iter().map(|member| (member.agent, *member)).collect();
    let mut owners: HashMap<Range, AgentId> = HashMap::new();
    let mut loads: BTreeMap<AgentId, u64> = BTreeMap::new();
    let mut findings = Vec::new();
    for entry in entries {
        findings.extend(of_entry(hierarchy, &agents, entry));
        let load = loads.entry(entry.agent).or_default();
        *load = load.saturating_add(entry.load);
        if let Some(first) = owners.insert(entry.range, entry.agent) {
            findings.push(Finding::TwoOwners { range: entry.range, agents: [first, entry.agent] });
        }
    }
    findings.extend(
        loads.into_iter().filter_map(|(agent, load)| over_capacity(agents.get(&agent)?, load)),
    );
    findings
}

fn of_entry(
    hierarchy: &Hierarchy,
    agents: &HashMap<AgentId, AuditedAgent>,
    entry: &AuditedDelegation,
) -> impl Iterator<Item = Finding> {
    let AuditedDelegation { range, agent, generation, .. } = *entry;
    let member = agents.get(&agent);
    let nobody = member.is_none_or(|member| !member.active);
    let nobody = nobody.then_some(Finding::InactiveAgent { range, agent, known: member.is_some() });
    let stale = (generation != hierarchy.generation())
        .then_some(Finding::StaleGeneration { range, generation });
    let place = match hierarchy.find(&range).map(|subnet| hierarchy.subnet(subnet).kind()) {
        None => Some(Finding::Orphan { range, agent }),
        Some(SubnetKind::Delegated) => None,
        Some(_) => Some(Finding::NotDelegable { range, agent }),
    };
    [nobody, stale, place].into_iter().flatten()
}

fn over_capacity(member: &AuditedAgent, load: u64) -> Option<Finding> {
    let AuditedAgent { agent, capacity, .. } = *member;
    (load > capacity).then_some(Finding::OverCapacity { agent, load, capacity })
}

impl Finding {
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
    /// What is wrong and what to do, in one sentence.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TwoOwners { range, agents: [first, second] } => {
                write!(
                    f,
                    "{range} is delegated to agent {first} and to agent {second}; take it from one of them"
                )
            }
            Self::InactiveAgent { range, agent, known: false } => {
                write!(
                    f,
                    "{range} is delegated to agent {agent}, whom nobody knows; search for another one"
                )
            }
            Self::InactiveAgent { range, agent, known: true } => {
                write!(
                    f,
                    "{range} is delegated to agent {agent}, who is paused or revoked; search for another one"
                )
            }
            Self::Orphan { range, agent } => {
                write!(
                    f,
                    "{range} of agent {agent} is no subnet of the hierarchy; delegate what holds its addresses now"
                )
            }
            Self::NotDelegable { range, agent } => {
                write!(
                    f,
                    "{range} of agent {agent} is a root or a block; delegate the subnets inside it"
                )
            }
            Self::StaleGeneration { range, generation } => {
                write!(
                    f,
                    "{range} was delegated in generation {generation} and not carried over; carry it over"
                )
            }
            Self::OverCapacity { agent, load, capacity } => {
                write!(
                    f,
                    "agent {agent} holds {load} pages a day and can crawl {capacity}; move some of its subnets"
                )
            }
        }
    }
}
