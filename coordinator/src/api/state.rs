//! What the API needs of the coordinator.

/// Shared by all handlers; cheap to clone.
#[derive(Clone)]
pub struct ApiState {}
