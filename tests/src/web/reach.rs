//! Pages that an ideal crawler reaches: breadth-first from the seeds, through the documents that
//! robots.txt allows, and through redirects.

use std::collections::VecDeque;

use super::expected::{Class, ExpectedCrawl};
use super::plan::WebError;
use super::site::{Goal, Host, Kind, Page, PageId};

/// Walks the web; fails if a host cannot be reached, because then the web could not be crawled
/// whole.
pub(super) fn expected(hosts: &[Host], seeds: usize) -> Result<ExpectedCrawl, WebError> {
    let mut expected = ExpectedCrawl::default();
    let mut waiting: VecDeque<_> = (0..seeds).map(|host| (PageId { host, page: 0 }, 0)).collect();
    while let Some((id, depth)) = waiting.pop_front() {
        let Some(page) = page(hosts, id) else { continue };
        if !page.allowed {
            expected.forbidden.insert(id);
            continue;
        }
        if expected.wanted.insert(id, class(page)).is_some() {
            continue;
        }
        expected.deepest = expected.deepest.max(depth);
        if page.kind == (Kind::Document { noindex: true }) {
            expected.noindex.insert(id);
        }
        waiting.extend(
            followed(page).filter(|to| !expected.wanted.contains_key(to)).map(|to| (to, depth + 1)),
        );
    }
    match hosts.iter().enumerate().find(|(host, _)| !is_whole(hosts, &expected, *host)) {
        Some((_, host)) => {
            Err(WebError::Unreachable(format!("{} cannot be crawled whole", host.name())))
        }
        None => Ok(expected),
    }
}

/// Where a page leads.
fn followed(page: &Page) -> impl Iterator<Item = PageId> + '_ {
    let redirect = match page.kind {
        Kind::Redirect { to, .. } => Some(to),
        _ => None,
    };
    let linked = page.links.iter().filter_map(|link| match link.to {
        Goal::Page(to) => Some(to),
        Goal::Elsewhere(_) => None,
    });
    redirect.into_iter().chain(linked)
}

/// True when the root of a host is reached, from which its tree hangs.
fn is_whole(hosts: &[Host], expected: &ExpectedCrawl, host: usize) -> bool {
    let root = PageId { host, page: 0 };
    hosts[host].pages.first().is_some_and(|page| page.allowed)
        && expected.wanted.contains_key(&root)
}

fn class(page: &Page) -> Class {
    match page.kind {
        Kind::Document { .. } => Class::Document,
        Kind::File(_) => Class::File,
        Kind::Redirect { .. } => Class::Redirect,
        Kind::Error { .. } => Class::Error,
    }
}

fn page(hosts: &[Host], id: PageId) -> Option<&Page> {
    hosts.get(id.host)?.pages.get(id.page)
}
