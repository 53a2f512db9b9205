//! What the handlers share.

use std::sync::Arc;

use crate::http::admin::events::Watch;
use crate::http::admin::session::SignIn;
use crate::http::public::search::Turns;
use crate::tasks::coordinator::Coordinator;

/// Shared by all handlers; cheap to clone.
#[derive(Clone)]
pub struct ApiState {
    /// The coordinator.
    pub core: Arc<Coordinator>,
    /// Guards signing in against guessing.
    pub(super) sign_in: Arc<SignIn>,
    /// What those who watch share.
    pub(super) watch: Arc<Watch>,
    /// Who may search now.
    pub(super) turns: Turns,
}

impl ApiState {
    /// For a coordinator.
    pub fn new(core: Arc<Coordinator>) -> Self {
        Self { core, sign_in: Arc::default(), watch: Arc::default(), turns: Turns::default() }
    }
}
