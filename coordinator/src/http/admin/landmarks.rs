//! Landmarks: what every agent measures, so that searches can predict.

use axum::extract::State;
use model::{LandmarkId, UnixMillis};
use store::{agents, landmarks};

use crate::http::admin::dto::{Landmark, Landmarks};
use crate::http::admin::subnet_lookup::Ground;
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Query};
use crate::http::paging::{Page, Part, bad_cursor, decoded};
use crate::http::problem::Problem;
use crate::http::state::ApiState;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// The landmarks in use, the oldest first, and how many agents measured each.
#[utoipa::path(get, path = "/api/v1/landmarks", operation_id = "list_landmarks", tag = "delegations",
    params(Part), security(("session" = [])), responses((status = 200, body = Landmarks)))]
pub async fn list(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Query(part): Query<Part>,
) -> Result<Json<Landmarks>, Problem> {
    let (core, limit) = (&state.core, part.limit()?);
    let after =
        part.cursor.as_deref().map_or(Ok(0), |text| decoded(text).ok_or_else(bad_cursor))?;
    let found = landmarks::live(&core.store, LandmarkId::new(after), limit + 1).await?;
    let stock = landmarks::stock(&core.store, UnixMillis(0)).await?;
    let workers = agents::workers(&core.store).await?;
    let delegated = core.delegated();
    let page = Page::cut(found, limit, |landmark| landmark.id.get());
    Ok(Json(Landmarks {
        total: landmarks::count(&core.store).await?,
        agents: workers.len() as u64,
        reports: stock.reports,
        places: core.predictor.insight.with_clusters(|places| places.len() as u64),
        items: page
            .items
            .into_iter()
            .map(|landmark| shown(delegated.as_deref(), landmark))
            .collect(),
        next_cursor: page.next_cursor,
    }))
}

fn shown(delegated: Option<&DelegatedHierarchy>, landmark: landmarks::Landmark) -> Landmark {
    let target = landmark.spot.target;
    let ground = Ground::of_address(delegated, target.address);
    Landmark {
        id: landmark.id,
        subnet: landmark.spot.subnet.to_string(),
        address: target.address.to_string(),
        host: target.host,
        company: ground.company,
        country: ground.country,
        chosen_at: landmark.chosen_at.into(),
        measured: landmark.measured,
        unanswered: landmark.unanswered,
        measured_at: landmark.measured_at.map(Into::into),
    }
}
