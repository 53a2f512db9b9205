//! Delegations: which agent crawls a subnet, and why.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Why an agent holds a subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Reason {
    /// It is the agent's home subnet (IPMicra III.D).
    Home,
    /// It holds other subnets of the company and is under the threshold.
    Company,
    /// It was found by climbing the hierarchy and is under the threshold.
    Threshold,
    /// No agent is under the threshold, and it measured the lowest round trip.
    Lowest,
    /// No other agent is likely enough to be nearer (predictive strategy).
    Predicted,
    /// A pin holds the subnet there.
    Pinned,
    /// An admin reassigned the subnet once.
    Override,
    /// The nearer agent was over its capacity, or a cheaper plan was found (IPMicra III.F).
    Balanced,
    /// Its former agent is drained, and this one measured the lowest round trip of those with room.
    Drained,
    /// Members of its region fetch its hosts in place of a dead member.
    Takeover,
}

/// Which subnet leaves an agent that is over its capacity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum BalanceRule {
    /// The one whose round trips vary least, to its next-best agent (the paper's rule, III.F).
    Variance,
    /// The one that loses least at its next-best agent.
    NextBest,
    /// The one that loses least at any agent with capacity left.
    Cheapest,
    /// None: agents stay over their capacity.
    Off,
}

/// Why balance did not take an alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum MoveRefusal {
    /// The agent has too little capacity left.
    Full,
    /// It would have cost more there.
    Dearer,
    /// There is capacity, but other subnets save more with it.
    WorthMore,
    /// It would have cost less, but its round trips vary more, and the rule decides by that.
    Varies,
}

spelling!(Reason, BalanceRule, MoveRefusal);

impl BalanceRule {
    /// The rules that move subnets, the paper's first.
    pub const MOVING: [Self; 3] = [Self::Variance, Self::NextBest, Self::Cheapest];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_admins_guide_explains_every_reason() {
        let guide = include_str!("../../../docs/admin.md");
        for reason in Reason::VARIANTS {
            let row = format!("\n| {} | ", <&str>::from(reason));
            assert!(guide.contains(&row), "docs/admin.md has no row {row:?}");
        }
    }
}
