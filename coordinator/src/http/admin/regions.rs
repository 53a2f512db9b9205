//! Regions: agents that share hosts among themselves.

use std::collections::HashMap;

use axum::extract::State;
use model::AgentId;
use region::roster::{Mode, Version};
use store::agents;

use crate::http::admin::dto::agents::AgentRef;
use crate::http::admin::dto::regions::{
    Member, Region, RegionMode, Regions, RosterVersion, UrlExchange,
};
use crate::http::authentication::Viewer;
use crate::http::extract::Json;
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::placement::regions::CallError;
use crate::placement::regions::state::{MemberState, RegionState};

/// The regions with their members, as the leader knows them.
///
/// What members report is missing from the start of the coordinator until their next call, which
/// takes half a minute at most.
#[utoipa::path(get, path = "/api/v1/regions", operation_id = "list_regions", tag = "agents",
    security(("session" = [])), responses((status = 200, body = Regions)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
) -> Result<Json<Regions>, Problem> {
    let regions = &state.core.regions;
    let enabled = regions.rules.enabled;
    let states = match regions.states().await {
        Ok(states) => states,
        Err(CallError::NotLeader) => {
            return Ok(Json(Regions { enabled, leader: false, items: Vec::new() }));
        }
        Err(CallError::Store(error)) => return Err(error.into()),
        Err(error @ (CallError::TooLong | CallError::BadAddress(_))) => {
            return Err(Problem::internal(&error));
        }
    };
    let members = states.iter().flat_map(|region| &region.members).map(|member| member.agent);
    let members: Vec<AgentId> = members.collect();
    let names = agents::names(&state.core.store, &members).await?;
    let items = states.into_iter().map(|region| to_dto(region, &names)).collect();
    Ok(Json(Regions { enabled, leader: true, items }))
}

fn to_dto(region: RegionState, names: &HashMap<AgentId, String>) -> Region {
    Region {
        id: region.id,
        name: region.name,
        roster: version(region.version),
        mode: match region.mode {
            Mode::Safe => RegionMode::Safe,
            Mode::Available => RegionMode::Available,
        },
        replicas: region.replicas,
        recovery: region.recovery,
        ranges: region.ranges,
        lent_until: region.lent_until.into(),
        members: region.members.into_iter().map(|member| member_dto(member, names)).collect(),
    }
}

fn member_dto(member: MemberState, names: &HashMap<AgentId, String>) -> Member {
    let report = member.report;
    Member {
        agent: AgentRef::named(member.agent, names),
        weight: member.weight,
        ring_share: member.ring_share,
        ranges: member.ranges,
        listens: member.listens,
        activity: member.activity,
        heard_at: member.heard_at.map(Into::into),
        roster: member.version.map(version),
        has_lease: report.as_ref().map(|report| report.has_lease),
        replaces: report.iter().flat_map(|report| &report.replaced).copied().collect(),
        exchange: report.map(|report| UrlExchange {
            hosts: report.hosts,
            waiting: report.waiting,
            sent: report.sent,
            received: report.received,
            refused: report.refused,
        }),
    }
}

fn version(version: Version) -> RosterVersion {
    RosterVersion { epoch: version.epoch, delta: version.delta }
}
