//! Sites without an end: redirects and links that always lead to something new.

use std::fmt::Write as _;

use super::Behaviour;
use super::farm::{FORBIDDEN, PAGES_A_HOST};
use super::script::{Reply, Request, page, pages, redirect};

/// Redirects that the agent follows, and the request before them.
const HOPS: usize = 6;
/// Links of one page of a trap.
const FAN_OUT: usize = 20;
/// Longest path of a trap with nested folders: the agent's depth, and the first page.
const DEPTH: usize = 26;

pub(super) fn behaviours(bulk: usize) -> Vec<Behaviour> {
    [redirects(), links(), large_links(bulk)].into_iter().flatten().collect()
}

fn redirects() -> Vec<Behaviour> {
    let to = |to: fn(&Request) -> String| pages(move |request| vec![redirect(&to(request))]);
    let redirect = |name, most, reply| Behaviour::page(name, "302", reply).with_requests(1, most);
    vec![
        redirect("redirect to itself", 1, to(|request| request.path.clone())),
        redirect(
            "redirect loop of two",
            2,
            to(|request| if request.path == "/" { "/two".to_owned() } else { "/".to_owned() }),
        ),
        redirect("endless redirects", HOPS, to(|request| format!("{}x", request.path))),
        redirect(
            "redirect to a forbidden address",
            1,
            to(|request| request.url_on(FORBIDDEN, "/")),
        ),
        redirect("redirect to a file", 1, to(|_| "file:///etc/passwd".to_owned())),
        redirect("redirect with a megabyte", 1, to(|_| format!("/{}", "x".repeat(60_000)))),
        redirect("redirect to no URL", 1, to(|_| "http://[::1".to_owned())),
    ]
}

/// A page that links to what `of` makes of each number.
fn linking(of: impl Fn(&Request, usize) -> String + Send + Sync + 'static) -> Reply {
    pages(move |request| {
        let mut html = String::new();
        for number in 0..FAN_OUT {
            // Writing to a string cannot fail.
            let _ = write!(html, "<a href='{}'>x</a>", of(request, number));
        }
        vec![page(&html)]
    })
}

fn links() -> Vec<Behaviour> {
    let trap = |name, most, reply| Behaviour::page(name, "200", reply).with_requests(2, most);
    vec![
        trap(
            "endless links",
            PAGES_A_HOST,
            linking(|request, number| format!("{}{number}/", request.path)),
        ),
        // Without its session every link leads to the start page.
        trap(
            "session ids in queries",
            1,
            linking(|request, number| {
                format!("/?PHPSESSID={:030x}{number:02x}", request.path.len())
            }),
        )
        .with_requests(1, 1),
        trap(
            "session ids in paths",
            PAGES_A_HOST,
            linking(|request, number| format!("{}{number:08x}/", request.path)),
        ),
        trap(
            "calendar",
            PAGES_A_HOST,
            linking(|request, number| {
                let year: usize = request.path.rsplit('/').next().unwrap().parse().unwrap_or(2_026);
                format!("/calendar/{}", year + number)
            }),
        ),
        trap("the same folder again", DEPTH, linking(|request, _| format!("{}a/", request.path))),
        trap(
            "filters",
            PAGES_A_HOST,
            linking(|request, number| {
                let length = request.path.len();
                format!("/?colour={number}&size={length}&sort={}&page={}", number % 3, number % 7)
            }),
        ),
    ]
}

fn large_links(bulk: usize) -> Vec<Behaviour> {
    vec![
        page_of_links("links of 8 KiB", 8 << 10, bulk),
        expensive_links(bulk),
        page_of_links("links of 100 bytes", 100, bulk),
    ]
}

/// A page whose links take the most memory: all are as long as they may be.
pub(crate) fn expensive_links(bulk: usize) -> Behaviour {
    page_of_links("links of 2,000 bytes", 2_000, bulk)
}

/// A page of `bulk` bytes with links of this length, to pages that say nothing.
fn page_of_links(name: &'static str, length: usize, bulk: usize) -> Behaviour {
    let mut html = String::with_capacity(bulk);
    while html.len() + length < bulk {
        // Writing to a string cannot fail.
        let _ = write!(html, "<a href='/{:0>length$}'>x</a>", html.len());
    }
    let links = page(&html);
    let reply =
        pages(move |request| vec![if request.path == "/" { links.clone() } else { page("x") }]);
    Behaviour::page(name, "200", reply).with_requests(1, PAGES_A_HOST)
}
