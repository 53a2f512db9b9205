//! Sitemaps and feeds without an end.

use std::fmt::Write as _;

use super::farm::PAGES_A_HOST;
use super::script::{Step, answer, page, pages};
use super::{Behaviour, codings};

/// URLs in a giant sitemap; 50,000 are allowed.
const URLS: usize = 60_000;

pub(super) fn behaviours() -> Vec<Behaviour> {
    let list = |name, path: &'static str, media_type, body: Vec<u8>| {
        let list = typed(media_type, &body);
        let reply =
            pages(
                move |request| {
                    if request.path == path { vec![list.clone()] } else { vec![page("<p>x")] }
                },
            );
        Behaviour { start: path, ..Behaviour::page(name, "200", reply) }
            .with_requests(1, PAGES_A_HOST)
    };
    let index = pages(|request| vec![typed("text/xml", index(&request.path).as_bytes())]);
    let bomb = codings::gzip(format!("<urlset>{}", "<url/>".repeat(8 << 20)).as_bytes());
    vec![
        list("giant sitemap", "/map.xml", "text/xml", sitemap().into()),
        Behaviour { start: "/index.xml", ..Behaviour::page("sitemaps in a loop", "200", index) }
            .with_requests(2, PAGES_A_HOST),
        list("feed with nested entities", "/feed", "application/rss+xml", entities().into()),
        list("feed with an external entity", "/feed", "application/rss+xml", external().into()),
        list("nested XML", "/map.xml", "text/xml", "<a>".repeat(100_000).into()),
        Behaviour {
            outcome: "inflates to more than",
            ..list("sitemap as a bomb", "/map.xml.gz", "application/gzip", bomb)
        },
    ]
}

fn typed(media_type: &str, body: &[u8]) -> Step {
    Step::Send(answer("200 OK", &[&format!("content-type: {media_type}")], body))
}

fn sitemap() -> String {
    let mut xml = "<urlset>".to_owned();
    for number in 0..URLS {
        // Writing to a string cannot fail.
        let _ = write!(xml, "<url><loc>/page/{number}</loc></url>");
    }
    xml + "</urlset>"
}

/// An index that lists the first one, itself and a new one.
fn index(path: &str) -> String {
    let maps = ["/index.xml", path, &format!("{path}x")];
    let list = maps.map(|map| format!("<sitemap><loc>{map}</loc></sitemap>")).concat();
    format!("<sitemapindex>{list}</sitemapindex>")
}

/// Ten entities, each ten times the one before: a gigabyte when they are expanded.
fn entities() -> String {
    let mut declared = "<!ENTITY e0 'http://example.org/'>".to_owned();
    for level in 1..10 {
        let inner = format!("&e{};", level - 1).repeat(10);
        // Writing to a string cannot fail.
        let _ = write!(declared, "<!ENTITY e{level} '{inner}'>");
    }
    feed(&declared, "&e9;")
}

fn external() -> String {
    feed("<!ENTITY secret SYSTEM 'file:///etc/passwd'>", "&secret;")
}

fn feed(declared: &str, link: &str) -> String {
    format!(
        "<?xml version='1.0'?><!DOCTYPE rss [{declared}]><rss><channel><item><link>{link}</link>\
         </item></channel></rss>"
    )
}
