//! The work that nobody asks for: reconcilers.
//!
//! Each looks at the state and does what is left to do: it takes no input, may run at any time and as often as one likes, and goes
//! on where it stopped after a crash. It runs when its period is over or when it is poked, backs off while it fails, and its
//! status can be seen. In the order in which a URL meets them:
//! [`resolve_hosts`], [`place_hosts`], [`open_searches`], [`drive_searches`] (with [`expire_probes`]), [`route_urls`], and, when its agent has shipped it,
//! [`integrate_packages`].

mod runner;
mod status;

pub use runner::{Outcome, Reconciler, run};
pub use status::{Status, Statuses};
