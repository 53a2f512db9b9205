//! Ends requests that wait for a database server that is gone without a word.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use store::Store;

use crate::http::problem::Problem;
use crate::runtime::lost_database::unless_lost;

/// Answers a request with 503 some time after the server has fallen silent. A request may hold a
/// lock that others wait for, and not every client gives up.
pub async fn give_up(State(store): State<Store>, request: Request, next: Next) -> Response {
    let response = unless_lost(&store, next.run(request)).await;
    response.unwrap_or_else(|error| Problem::from(error).into_response())
}
