//! Sitemap of a host. It lists only documents that links lead to as well, so that reading it does
//! not change the expected crawl.

use std::fmt::Write as _;

use super::site::{PageId, Web};

/// The file (sitemaps.org, version 0.9).
pub(super) fn text(web: &Web, host: usize) -> String {
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    xml.push_str("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    let pages = web.hosts.get(host).map_or(0, |host| host.tree);
    for page in 0..pages {
        let url = web.url(PageId { host, page }).replace('&', "&amp;");
        // Writing into a string cannot fail.
        let _ = writeln!(xml, "  <url><loc>{url}</loc></url>");
    }
    xml.push_str("</urlset>\n");
    xml
}
