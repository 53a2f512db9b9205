//! Ends requests that wait for a database server that is gone without a word.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use store::{Store, StoreError};

use crate::http::problem::Problem;
use crate::runtime::lost_database::lost;

/// Answers a request with 503 some time after the server has fallen silent. A request may hold a
/// lock that others wait for, and not every client gives up.
pub async fn give_up(State(store): State<Store>, request: Request, next: Next) -> Response {
    tokio::select! {
        response = next.run(request) => response,
        () = lost(&store) => {
            let place = store.address().to_string();
            Problem::from(StoreError::Silent { place }).into_response()
        }
    }
}
