//! The work that nobody asks for: reconcilers.
//!
//! Each looks at the state and does what is left to do: it takes no input, may run at any time and
//! as often as one likes, and goes on where it stopped after a crash. It runs when its period is
//! over or when it is poked, backs off while it fails, and its status can be seen. In the order in
//! which a URL meets them: [`ResolveHosts`], [`PlaceHosts`], [`OpenSearches`], [`DriveSearches`]
//! (with [`ExpireProbes`] and [`ImproveDelegations`]), [`RouteUrls`] (with [`EndLeases`] for hosts
//! that change agents), and, when its agent has shipped a package, [`IntegratePackages`];
//! [`Calibrate`] follows what packages tell of slow pages. [`ChooseLandmarks`],
//! [`MeasureLandmarks`] and [`SurveyLandmarks`] keep what the predictive strategy knows.
//! [`RefreshRegistries`], [`CutSubnets`], [`ReloadHierarchy`] and [`SettleHomes`] keep the ground
//! they stand on, [`Steer`] keeps to what admins decided by hand, [`Balance`] spreads the load, and
//! [`AuditBook`] looks whether what came of it makes sense.

mod audit_book;
mod balance;
mod calibrate;
mod choose_landmarks;
mod cut_subnets;
mod drive_searches;
mod end_leases;
mod expire_probes;
mod integrate_packages;
mod measure_landmarks;
mod open_searches;
mod place_hosts;
mod refresh_registries;
mod reload_hierarchy;
mod resolve_hosts;
mod route_urls;
mod runner;
mod settle_homes;
mod status;
mod steer;
mod survey_landmarks;

use std::sync::Arc;

use tokio::sync::Notify;
use tokio_util::task::TaskTracker;

pub use audit_book::AuditBook;
pub use balance::Balance;
pub use calibrate::Calibrate;
pub use choose_landmarks::ChooseLandmarks;
pub use cut_subnets::CutSubnets;
pub use drive_searches::{DriveSearches, ImproveDelegations};
pub use end_leases::EndLeases;
pub use expire_probes::ExpireProbes;
pub use integrate_packages::IntegratePackages;
pub(crate) use integrate_packages::digest_one;
pub use measure_landmarks::MeasureLandmarks;
pub use open_searches::OpenSearches;
pub use place_hosts::PlaceHosts;
pub use refresh_registries::RefreshRegistries;
pub use reload_hierarchy::ReloadHierarchy;
pub use resolve_hosts::ResolveHosts;
pub(crate) use resolve_hosts::pause_ms;
pub use route_urls::RouteUrls;
pub use runner::{Outcome, Reconciler, run};
pub use settle_homes::SettleHomes;
pub use status::{Status, Statuses};
pub use steer::Steer;
pub use survey_landmarks::SurveyLandmarks;

use crate::pokes::Pokes;
use crate::state::Coordinator;

/// A name, and how its bell is found.
type Bell = (&'static str, fn(&Pokes) -> &Notify);

/// The bells of those that run at the decider only, by name.
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

const fn bell<R: Reconciler>() -> Bell {
    (R::NAME, R::bell)
}

/// Wakes the reconciler of this name; a name that is not known (of another version) is passed over.
pub fn poke(pokes: &Pokes, name: &str) {
    let named = BELLS.iter().filter(|(other, _)| *other == name);
    named.for_each(|(_, bell)| bell(pokes).notify_one());
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
