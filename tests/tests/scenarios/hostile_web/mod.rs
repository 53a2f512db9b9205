//! A web of hostile servers: each host shows one behaviour that has brought a crawler down, or
//! could.

mod activity;
mod codings;
mod connections;
mod farm;
mod framing;
mod lists;
mod pages;
mod robots;
mod script;
mod server;
mod traps;

pub(crate) use activity::Line;
pub(crate) use farm::{Farm, Healthy, Settings};
pub(crate) use traps::expensive_links;

use script::Reply;

/// What one host does, and what the agent must make of it.
pub(crate) struct Behaviour {
    /// Shown where an expectation fails.
    pub(crate) name: &'static str,
    /// Kind of request in the activity log that must end so: `page` or `robots`.
    pub(crate) kind: &'static str,
    /// Part of the outcome in the activity log.
    pub(crate) outcome: &'static str,
    /// Path of the URL that is routed to the agent.
    pub(crate) start: &'static str,
    /// Whether the URL is https. The server never speaks TLS.
    pub(crate) is_https: bool,
    /// Least and most requests, robots.txt and the conventional sitemap apart.
    pub(crate) requests: (usize, usize),
    reply: Reply,
}

/// Attempts that the agent makes for a URL whose fetch fails for reasons that may pass.
const ATTEMPTS: usize = 3;

impl Behaviour {
    /// A page with this outcome.
    fn page(name: &'static str, outcome: &'static str, reply: Reply) -> Self {
        let requests = (1, ATTEMPTS);
        Self { name, kind: "page", outcome, start: "/", is_https: false, requests, reply }
    }

    /// A robots.txt with this outcome, whose host may have one page fetched.
    fn robots(name: &'static str, outcome: &'static str, reply: Reply) -> Self {
        Self { kind: "robots", requests: (0, 1), ..Self::page(name, outcome, reply) }
    }

    /// A connection on which TLS fails.
    fn tls(name: &'static str, outcome: &'static str, reply: Reply) -> Self {
        Self { is_https: true, requests: (0, 0), ..Self::robots(name, outcome, reply) }
    }

    /// The same with other bounds of its requests.
    fn with_requests(self, least: usize, most: usize) -> Self {
        Self { requests: (least, most), ..self }
    }
}

/// All behaviours. `bulk` is the size of large bodies, in bytes.
pub(crate) fn all(bulk: usize) -> Vec<Behaviour> {
    [
        codings::behaviours(),
        framing::behaviours(),
        connections::behaviours(),
        traps::behaviours(bulk),
        robots::behaviours(),
        pages::behaviours(bulk),
        lists::behaviours(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
