//! Place of an address in the hierarchy.

use std::net::IpAddr;

use axum::extract::State;

use crate::http::admin::dto::delegations::AddressLocation;
use crate::http::admin::subnet_lookup::{chain, no_hierarchy};
use crate::http::authentication::Viewer;
use crate::http::extract::{Json, Path};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// The subnets around an address, from the root to the smallest.
#[utoipa::path(get, path = "/api/v1/hierarchy/{address}", operation_id = "locate_address",
    tag = "hierarchy", params(("address" = String, Path, example = "41.0.0.1")),
    security(("session" = [])), responses((status = 200, body = AddressLocation)))]
pub async fn locate(
    _viewer: Viewer,
    State(state): State<ApiState>,
    Path(address): Path<String>,
) -> Result<Json<AddressLocation>, Problem> {
    let address: IpAddr = address.parse().map_err(|_| {
        Problem::bad_parameter(
            "address",
            "give an IPv4 or IPv6 address, such as 41.0.0.1 or 2001:db8::1",
        )
    })?;
    let delegated = state.core.delegated().ok_or_else(no_hierarchy)?;
    let smallest = delegated.hierarchy().smallest(address);
    Ok(Json(AddressLocation {
        address: address.to_string(),
        generation: delegated.hierarchy().generation().get().unsigned_abs(),
        chain: chain(&state.core.store, &delegated, smallest).await?,
    }))
}
