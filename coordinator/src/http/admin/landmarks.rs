//! Landmarks that every agent measures, so that searches can predict.

use axum::extract::State;
use model::{LandmarkId, UnixMillis};
use store::{agents, landmarks};

use crate::http::admin::dto::landmarks::{Landmark, Landmarks};
use crate::http::admin::subnet_lookup::SubnetInfo;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::paging::{Page, PageQuery, decode_cursor};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// The landmarks in use, the oldest first, and how many agents measured each.
#[utoipa::path(get, path = "/api/v1/landmarks", operation_id = "list_landmarks",
    tag = "hierarchy", params(PageQuery), security(("session" = [])),
    responses((status = 200, body = Landmarks)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(page): Query<PageQuery>,
) -> Result<Json<Landmarks>, Problem> {
    let core = &state.core;
    let limit = page.limit()?;
    let after = page.cursor.as_deref().map_or(Ok(0), decode_cursor)?;
    let found = landmarks::live(&core.store, LandmarkId::new(after), limit + 1).await?;
    let stock = landmarks::count_reports(&core.store, UnixMillis(0)).await?;
    let workers = agents::workers(&core.store).await?;
    let delegated = core.delegated();
    let page = Page::from_rows(found, limit, |landmark| landmark.id.get())
        .map(|landmark| to_dto(delegated.as_deref(), landmark));
    Ok(Json(Landmarks {
        total: landmarks::count(&core.store).await?,
        agents: workers.len() as u64,
        reports: stock.reports,
        clusters: core.predictor.state.with_clusters(|clusters| clusters.len() as u64),
        items: page.items,
        next_cursor: page.next_cursor,
    }))
}

fn to_dto(delegated: Option<&DelegatedHierarchy>, landmark: landmarks::Landmark) -> Landmark {
    let target = landmark.spot.target;
    let subnet = SubnetInfo::of_address(delegated, target.address);
    Landmark {
        id: landmark.id,
        subnet: landmark.spot.subnet.to_string(),
        address: target.address.to_string(),
        host: target.host,
        company: subnet.company,
        country: subnet.country,
        chosen_at: landmark.chosen_at.into(),
        measured: landmark.measured,
        unanswered: landmark.unanswered,
        measured_at: landmark.measured_at.map(Into::into),
    }
}
