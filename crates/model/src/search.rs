//! Delegation searches: finding the agent for a subnet.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// How a search chooses the next agent to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Strategy {
    /// Climb the hierarchy until an agent is under the threshold (IPMicra III.E).
    Threshold,
    /// Ask the agent that is most likely the nearest; stop when no other is likely to be nearer.
    Predictive,
}

/// Why an agent is a candidate of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Phase {
    /// It holds another subnet of the same company.
    Company,
    /// It holds a subnet directly below the ancestor that the climb has reached.
    Sibling,
    /// It holds a subnet anywhere below that ancestor.
    SiblingChild,
    /// It holds nothing in this address family. The paper does not know such agents: they live
    /// in a subnet that another agent holds, or in the other family.
    Rest,
    /// It is the most likely to be nearest (predictive strategy).
    Predicted,
    /// Its measurement shows whether that of the agent to be chosen is plausible.
    Control,
}

spelling!(Strategy, Phase);
