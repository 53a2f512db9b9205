//! Regions as the API shows them.

use model::{AgentId, RegionId};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::timestamp::Timestamp;
use crate::placement::regions::state::MemberActivity;

/// All regions of the coordinator's database.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Regions {
    /// Whether the operator lets agents form regions.
    pub enabled: bool,
    /// Whether this coordinator is the leader. Only the leader knows the regions.
    pub leader: bool,
    /// The regions, the oldest first; none where this coordinator is not the leader.
    pub items: Vec<Region>,
}

/// Agents that share hosts among themselves.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Region {
    /// Identifier of the region.
    #[schema(value_type = String, example = "rgn_1")]
    pub id: RegionId,
    /// Registry of its agents' home subnets, or the name that their owners gave.
    pub name: String,
    /// Version of its roster and delegations.
    pub roster: RosterVersion,
    /// What its agents do without a majority.
    pub mode: RegionMode,
    /// Replicas on the ring for each unit of weight.
    pub replicas: u16,
    /// Agents besides its owner that know a host.
    pub recovery: u8,
    /// Ranges of addresses that are the region's.
    pub ranges: u64,
    /// Time until which the coordinator gives none of its hosts to other agents.
    pub lent_until: Timestamp,
    /// Its agents, in the order of the roster.
    pub members: Vec<Member>,
}

/// Version of a region's roster and delegations.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct RosterVersion {
    /// Number of the roster.
    pub epoch: u64,
    /// Number of the last change of delegations since.
    pub delta: u64,
}

/// What agents of a region do without a majority of voters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RegionMode {
    /// They stop, so that a host never has two agents.
    Safe,
    /// They go on, and hosts may be fetched twice.
    Available,
}

/// One agent of a region.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Member {
    /// The agent that is the member.
    pub agent: AgentRef,
    /// Multiplies its replicas on the ring.
    pub weight: u16,
    /// Share of the ring, from 0 to 1.
    #[schema(example = 0.25)]
    pub ring_share: f64,
    /// Ranges of addresses that are delegated to it.
    pub ranges: u64,
    /// Whether it accepts connections of other members.
    pub listens: bool,
    /// What it does as far as the coordinator knows.
    pub activity: MemberActivity,
    /// Time of its last heartbeat in the region; null since the coordinator started.
    #[schema(required = true)]
    pub heard_at: Option<Timestamp>,
    /// Version that it knows; null before its first heartbeat.
    #[schema(required = true)]
    pub roster: Option<RosterVersion>,
    /// Whether a majority of voters lets it fetch; null before its first report.
    #[schema(required = true)]
    pub has_lease: Option<bool>,
    /// Members that are dead as far as it knows, so that others fetch their hosts.
    #[schema(value_type = Vec<String>)]
    pub replaces: Vec<AgentId>,
    /// URLs exchanged since its process started; null before its first report.
    #[schema(required = true)]
    pub exchange: Option<UrlExchange>,
}

/// URLs that a member exchanged with others since its process started.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct UrlExchange {
    /// Hosts of the region that it knows.
    pub hosts: u64,
    /// URLs that wait for other members.
    pub waiting: u64,
    /// URLs sent to other members.
    pub sent: u64,
    /// URLs received from other members.
    pub received: u64,
    /// Messages that it refused.
    pub refused: u64,
}
