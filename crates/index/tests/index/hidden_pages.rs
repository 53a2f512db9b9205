//! Pages that searches leave out.

use std::time::{Duration, Instant};

use index::{HiddenPages, Index, SearchResults};

use crate::{index_of, page};

fn search(index: &Index, hidden: &HiddenPages, query: &str, offset: usize) -> SearchResults {
    index.search_until(Instant::now() + Duration::from_mins(1), hidden, query, offset, 2).unwrap()
}

/// URLs of the pages for a query; all pages of answers must agree on their number.
fn found(index: &Index, hidden: &HiddenPages, query: &str) -> Vec<String> {
    let mut urls = Vec::new();
    loop {
        let results = search(index, hidden, query, urls.len());
        if results.hits.is_empty() {
            assert_eq!(results.total, urls.len() as u64);
            urls.sort();
            return urls;
        }
        urls.extend(results.hits.into_iter().map(|hit| hit.url));
    }
}

#[test]
fn no_query_finds_what_is_hidden() {
    let urls = [
        "http://a.example/",
        "http://a.example/leaked",
        "http://ba.example/",
        "http://www.bad.example:8080/x",
        "https://bad.example/",
        "https://bad.example./",
    ];
    let pages = urls.map(|url| page(url, "tree", "a tree of words", Some("en")));
    let (_dir, index) = index_of(&pages);
    let hidden = HiddenPages::new(["bad.example"], ["http://a.example/leaked"]).unwrap();
    let visible = ["http://a.example/", "http://ba.example/"];
    for query in ["tree", "tree words", "\"tree of\"", "lang:en", "tree -cat"] {
        assert_eq!(found(&index, &HiddenPages::default(), query).len(), urls.len(), "{query}");
        assert_eq!(found(&index, &hidden, query), visible, "{query}");
    }
    assert_eq!(found(&index, &HiddenPages::default(), "site:bad.example").len(), 2);
    assert_eq!(found(&index, &hidden, "site:bad.example"), [""; 0]);
}

#[test]
fn pages_that_come_later_are_hidden_too() {
    let (_dir, index) = index_of(&[]);
    let hidden = HiddenPages::new(["bad.example"], []).unwrap();
    index.upsert(&page("http://bad.example/", "tree", "tree", None)).unwrap();
    index.upsert(&page("http://good.example/", "tree", "tree", None)).unwrap();
    index.commit("").unwrap();
    assert_eq!(found(&index, &hidden, "tree"), ["http://good.example/"]);
}

#[test]
fn hidden_pages_do_not_change_scores() {
    let pages = ["http://a.example/", "http://b.example/"];
    let (_dir, index) = index_of(&pages.map(|url| page(url, "tree", "tree", None)));
    let hidden = HiddenPages::new(["b.example"], []).unwrap();
    let of = |hidden: &HiddenPages| {
        let hits = search(&index, hidden, "tree", 0).hits;
        hits.into_iter().find(|hit| hit.url == pages[0]).unwrap().score
    };
    assert_eq!(of(&hidden).to_bits(), of(&HiddenPages::default()).to_bits());
}
