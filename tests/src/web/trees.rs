//! Trees of documents: every host has a root, and each document is linked from the one above it.

use std::collections::HashMap;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::charset::CharsetLocation;
use super::href::Style;
use super::language::{self, Language};
use super::plan::WebPlan;
use super::random_streams::{Topic, pick, stream};
use super::robots::Robots;
use super::site::{Goal, Host, Kind, Link, Page, PageId};
use super::word::word;

/// Most links from a host's root to one of its documents.
const DEEPEST: usize = 6;
/// No host has more than this many times the mean.
const LARGEST: usize = 4;

/// All hosts with their documents.
pub(super) fn hosts(plan: &WebPlan) -> Vec<Host> {
    let sizes = sizes(plan);
    let mut first = 0;
    let mut hosts = Vec::with_capacity(sizes.len());
    for (number, size) in sizes.into_iter().enumerate() {
        hosts.push(trees(plan, number, size, first));
        first += size;
    }
    choose_slow(&mut hosts, plan.slow_hosts);
    hosts
}

/// Documents for each host: many small ones and a few large ones, together what the plan asks for.
/// What extras add in documents is small and not counted here.
fn sizes(plan: &WebPlan) -> Vec<usize> {
    let mut random_streams = stream(plan.seed, Topic::Sizes, 0, 0);
    let count = plan.hosts.len();
    let mean = plan.documents / count;
    let largest = (mean * LARGEST).max(WebPlan::LEAST_DOCUMENTS);
    let mut left = plan.documents;
    let mut sizes = Vec::with_capacity(count);
    for number in 0..count {
        let after = count - number - 1;
        // An exponential draw around the mean of what is left, so that the sum comes out right at
        // the end.
        let draw = -(1.0 - random_streams.random::<f64>()).ln() * left as f64 / (after + 1) as f64;
        let most = left.saturating_sub(after * WebPlan::LEAST_DOCUMENTS).min(largest);
        let least = left.saturating_sub(after * largest).max(WebPlan::LEAST_DOCUMENTS);
        let size = (draw as usize).clamp(least.min(most), most);
        left -= size;
        sizes.push(size);
    }
    sizes
}

fn trees(plan: &WebPlan, number: usize, size: usize, first: usize) -> Host {
    let mut random_streams = stream(plan.seed, Topic::Tree, number as u64, 0);
    let language = language::of_country(&plan.hosts[number].country);
    let mut host = Host {
        plan: plan.hosts[number].clone(),
        language,
        charset: pick(language.charsets, &mut random_streams),
        announced: pick(&CharsetLocation::ALL, &mut random_streams),
        robots: Robots::draw(&mut random_streams),
        tree: size,
        first: 0,
        pages: Vec::with_capacity(size),
        by_path: HashMap::new(),
    };
    host.add(Page::new("/".to_owned(), Kind::Document { noindex: false }));
    let mut depths = vec![0];
    for page in 1..size {
        let parent = draw_parent(&depths, &mut random_streams);
        depths.push(depths[parent] + 1);
        let word = word(first + page, plan.seed);
        let path = path(&host.pages[parent].path, &word, language, &mut random_streams);
        host.add(Page::new(path, Kind::Document { noindex: false }));
        link(&mut host, number, parent, page, &mut random_streams);
        link(&mut host, number, page, 0, &mut random_streams);
    }
    wander(&mut host, number, &mut random_streams);
    host
}

fn draw_parent(depths: &[usize], random_streams: &mut ChaCha8Rng) -> usize {
    // Few tries are needed: the root always qualifies.
    (0..8)
        .map(|_| random_streams.random_range(0..depths.len()))
        .find(|p| depths[*p] < DEEPEST)
        .unwrap_or(0)
}

/// Links without which the tree would still hang together.
fn wander(host: &mut Host, number: usize, random_streams: &mut ChaCha8Rng) {
    let size = host.pages.len();
    for page in 0..size {
        for _ in 0..random_streams.random_range(1..5) {
            link(host, number, page, random_streams.random_range(0..size), random_streams);
        }
    }
}

/// Adds a link between two pages of a host.
pub(super) fn link(
    host: &mut Host,
    number: usize,
    from: usize,
    to: usize,
    random_streams: &mut ChaCha8Rng,
) {
    let to = Goal::Page(PageId { host: number, page: to });
    host.pages[from].links.push(Link { to, style: pick(&Style::WITHIN, random_streams) });
}

/// A path below its parent's: a directory, a file, a query, or one in the host's own script.
fn path(parent: &str, word: &str, language: &Language, random_streams: &mut ChaCha8Rng) -> String {
    let place = parent.split('?').next().unwrap_or("/");
    let directory = place.rfind('/').map_or("/", |slash| &place[..=slash]);
    match random_streams.random_range(0..10) {
        0..3 => format!("{directory}{word}/"),
        3..7 => format!("{directory}{word}.html"),
        7 => format!("{directory}{word}"),
        8 => format!("{directory}{word}.cgi?part=2&lang={}", language.code),
        _ => format!("{directory}{word}-{}.html", in_url(language.name)),
    }
}

/// A name as it stands in a normalised URL: percent-encoded UTF-8.
fn in_url(name: &str) -> String {
    const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-');
    utf8_percent_encode(&name.replace([' ', '\''], "-"), PLAIN).to_string()
}

/// Lets a few of the smallest hosts ask for slowness, so that the crawl does not wait for them.
fn choose_slow(hosts: &mut [Host], count: usize) {
    let mut able: Vec<_> = hosts.iter_mut().filter(|host| host.robots.text("").is_some()).collect();
    able.sort_by_key(|host| host.pages.len());
    able.into_iter().take(count).for_each(|host| host.robots.crawl_delay_s = Some(1));
}
