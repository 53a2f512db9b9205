//! Links between hosts: every host can be reached from the seeds in few steps, with many more links
//! than that requires.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::href::Style;
use super::plan::WebPlan;
use super::random_streams::{Topic, pick, stream};
use super::site::{Goal, Host, Kind, Link, PageId};
use super::word::word;

/// Numbers of words for names that do not exist.
const FIRST_WORD: usize = 400_000;

/// Links the hosts with each other.
pub(super) fn tie(hosts: &mut [Host], plan: &WebPlan) {
    let mut random_streams = stream(plan.seed, Topic::Cross, 0, 0);
    for number in plan.seeds..hosts.len() {
        // A quarter as far from the start: the way from a seed grows with the logarithm.
        let from = random_streams.random_range(0..(number / 4).max(plan.seeds));
        let from = document(hosts, from, 4, &mut random_streams);
        add(hosts, from, Goal::Page(PageId { host: number, page: 0 }), &mut random_streams);
    }
    wander(hosts, &mut random_streams);
    redirect_away(hosts, &mut random_streams);
    for dead in 0..plan.dead_names {
        let host = random_streams.random_range(0..hosts.len());
        let from = document(hosts, host, usize::MAX, &mut random_streams);
        let name = word(FIRST_WORD + dead, plan.seed);
        add(hosts, from, Goal::Elsewhere(format!("http://{name}.example/")), &mut random_streams);
    }
}

/// About one link in three documents to any document of any host.
fn wander(hosts: &mut [Host], random_streams: &mut ChaCha8Rng) {
    for host in 0..hosts.len() {
        for _ in 0..=hosts[host].tree / 3 {
            let from = document(hosts, host, usize::MAX, random_streams);
            let to = random_streams.random_range(0..hosts.len());
            let to = document(hosts, to, usize::MAX, random_streams);
            add(hosts, from, Goal::Page(to), random_streams);
        }
    }
}

/// Turns some redirects to lead to another host.
fn redirect_away(hosts: &mut [Host], random_streams: &mut ChaCha8Rng) {
    for host in 0..hosts.len() {
        let plain = |kind: Kind| match kind {
            Kind::Redirect { status, to } if to.page < 4 && to.host == host => Some(status),
            _ => None,
        };
        let found = hosts[host]
            .pages
            .iter()
            .enumerate()
            .find_map(|(n, page)| plain(page.kind).map(|s| (n, s)));
        let Some((page, status)) = found else { continue };
        let other = random_streams.random_range(0..hosts.len());
        let to = document(hosts, other, usize::MAX, random_streams);
        hosts[host].pages[page].kind = Kind::Redirect { status, to };
    }
}

/// One of the first documents of a host that a crawler reaches.
fn document(hosts: &[Host], host: usize, first: usize, random_streams: &mut ChaCha8Rng) -> PageId {
    PageId { host, page: random_streams.random_range(0..hosts[host].tree.min(first)) }
}

fn add(hosts: &mut [Host], from: PageId, to: Goal, random_streams: &mut ChaCha8Rng) {
    let within = matches!(to, Goal::Page(to) if to.host == from.host);
    let style = if within {
        pick(&Style::WITHIN, random_streams)
    } else {
        pick(&Style::ACROSS, random_streams)
    };
    hosts[from.host].pages[from.page].links.push(Link { to, style });
}
