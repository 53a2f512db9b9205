//! The work that nobody asks for: background tasks.
//!
//! Each looks at the state and does what is left to do: it takes no input, may run at any time and
//! as often as one likes, and goes on where it stopped after a crash. It runs when its period is
//! over or when it is woken, backs off while it fails, and its status can be seen. In the order in
//! which a URL meets them: [`ResolveHosts`], [`PlaceHosts`], [`OpenSearches`], [`DriveSearches`]
//! (with [`ExpireProbes`] and [`ImproveDelegations`]), [`RouteUrls`] (with [`EndLeases`] for hosts
//! that change agents), and, when its agent has shipped a package, [`IntegratePackages`];
//! [`Calibrate`] follows what packages tell of slow pages. [`ChooseLandmarks`],
//! [`MeasureLandmarks`] and [`SurveyLandmarks`] keep what the predictive strategy knows.
//! [`RefreshRegistries`], [`CutSubnets`], [`ReloadHierarchy`] and [`SettleHomes`] keep the ground
//! they stand on, [`Steer`] keeps to what admins decided by hand, [`Balance`] spreads the load, and
//! [`AuditBook`] looks whether what came of it makes sense.

pub mod delegation_sync;
mod driver;
pub mod election;
pub mod peer_hints;
mod status;

use std::sync::Arc;

use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

pub use driver::{BackgroundTask, Outcome, run};
pub use status::{Status, Statuses};

use crate::intake::end_leases::EndLeases;
use crate::intake::place_hosts::PlaceHosts;
use crate::intake::resolve_hosts::ResolveHosts;
use crate::intake::route_urls::RouteUrls;
use crate::packages::ingest_packages::IntegratePackages;
use crate::placement::apply_constraints::Steer;
use crate::placement::audit_delegations::AuditBook;
use crate::placement::balance_load::Balance;
use crate::placement::calibrate::Calibrate;
use crate::placement::settle_homes::SettleHomes;
use crate::predictor::choose_landmarks::ChooseLandmarks;
use crate::predictor::fit_model::SurveyLandmarks;
use crate::predictor::measure_landmarks::MeasureLandmarks;
use crate::registry::refresh_registries::RefreshRegistries;
use crate::registry::reload_hierarchy::ReloadHierarchy;
use crate::registry::split_subnets::CutSubnets;
use crate::runtime::state::Coordinator;
use crate::runtime::task_signals::TaskSignals;
use crate::search::drive_searches::{DriveSearches, ImproveDelegations};
use crate::search::expire_probes::ExpireProbes;
use crate::search::open_searches::OpenSearches;

/// A name, and how its bell is found.
type Bell = (&'static str, fn(&TaskSignals) -> &Notify);

/// The bells of those that run at the leader only, by name.
const BELLS: &[Bell] = &[
    bell::<RefreshRegistries>(),
    bell::<CutSubnets>(),
    bell::<SettleHomes>(),
    bell::<Steer>(),
    bell::<Balance>(),
    bell::<ChooseLandmarks>(),
    bell::<MeasureLandmarks>(),
    bell::<SurveyLandmarks>(),
    bell::<ResolveHosts>(),
    bell::<PlaceHosts>(),
    bell::<OpenSearches>(),
    bell::<DriveSearches>(),
    bell::<ImproveDelegations>(),
    bell::<ExpireProbes>(),
    bell::<RouteUrls>(),
    bell::<IntegratePackages>(),
    bell::<EndLeases>(),
    bell::<Calibrate>(),
];

const fn bell<R: BackgroundTask>() -> Bell {
    (R::NAME, R::bell)
}

/// AgentWakeups the background task of this name; a name that is not known (of another version) is passed over.
pub fn wake(task_signals: &TaskSignals, name: &str) {
    let named = BELLS.iter().filter(|(other, _)| *other == name);
    named.for_each(|(_, bell)| bell(task_signals).notify_one());
}

/// Starts them all; they end when the coordinator is told to stop.
pub fn start(coordinator: &Arc<Coordinator>, tasks: &TaskTracker) {
    tasks.spawn(run::<ReloadHierarchy>(Arc::clone(coordinator)));
    tasks.spawn(run::<RefreshRegistries>(Arc::clone(coordinator)));
    tasks.spawn(run::<CutSubnets>(Arc::clone(coordinator)));
    tasks.spawn(run::<SettleHomes>(Arc::clone(coordinator)));
    tasks.spawn(run::<Steer>(Arc::clone(coordinator)));
    tasks.spawn(run::<Balance>(Arc::clone(coordinator)));
    tasks.spawn(run::<AuditBook>(Arc::clone(coordinator)));
    tasks.spawn(run::<ResolveHosts>(Arc::clone(coordinator)));
    tasks.spawn(run::<PlaceHosts>(Arc::clone(coordinator)));
    tasks.spawn(run::<OpenSearches>(Arc::clone(coordinator)));
    tasks.spawn(run::<DriveSearches>(Arc::clone(coordinator)));
    tasks.spawn(run::<ImproveDelegations>(Arc::clone(coordinator)));
    tasks.spawn(run::<ChooseLandmarks>(Arc::clone(coordinator)));
    tasks.spawn(run::<MeasureLandmarks>(Arc::clone(coordinator)));
    tasks.spawn(run::<SurveyLandmarks>(Arc::clone(coordinator)));
    tasks.spawn(run::<ExpireProbes>(Arc::clone(coordinator)));
    tasks.spawn(run::<Calibrate>(Arc::clone(coordinator)));
    tasks.spawn(run::<EndLeases>(Arc::clone(coordinator)));
    tasks.spawn(run::<RouteUrls>(Arc::clone(coordinator)));
    tasks.spawn(run::<IntegratePackages>(Arc::clone(coordinator)));
}
