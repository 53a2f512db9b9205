//! Pages that searches leave out.

use index::{HiddenPages, Index, SearchResults};

use crate::{in_a_minute, index_of, page};

fn search(index: &Index, hidden: &HiddenPages, query: &str, offset: usize) -> SearchResults {
    let hidden = std::slice::from_ref(hidden);
    index.search(in_a_minute(), hidden, query, offset, 2).unwrap()
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
    // In another spelling than that of the index.
    let hidden = HiddenPages::new(["bad.example"], ["http://a.example/%6ceaked?utm_source=n"]);
    let visible = ["http://a.example/", "http://ba.example/"];
    for query in ["tree", "tree words", "\"tree of\"", "lang:en", "tree -cat"] {
        assert_eq!(found(&index, &HiddenPages::default(), query).len(), urls.len(), "{query}");
        assert_eq!(found(&index, &hidden, query), visible, "{query}");
    }
    assert_eq!(found(&index, &HiddenPages::default(), "site:bad.example").len(), 3);
    assert_eq!(found(&index, &hidden, "site:bad.example"), [""; 0]);
}

#[test]
fn pages_that_come_later_are_hidden_too() {
    let (_dir, index) = index_of(&[]);
    let hidden = HiddenPages::new(["bad.example"], []);
    index.upsert(&page("http://bad.example/", "tree", "tree", None)).unwrap();
    index.upsert(&page("http://good.example/", "tree", "tree", None)).unwrap();
    index.commit("").unwrap();
    assert_eq!(found(&index, &hidden, "tree"), ["http://good.example/"]);
}

#[test]
fn hidden_pages_do_not_change_scores() {
    let pages = ["http://a.example/", "http://b.example/"];
    let (_dir, index) = index_of(&pages.map(|url| page(url, "tree", "tree", None)));
    let hidden = HiddenPages::new(["b.example"], []);
    let of = |hidden: &HiddenPages| {
        let hits = search(&index, hidden, "tree", 0).hits;
        hits.into_iter().find(|hit| hit.url == pages[0]).unwrap().score
    };
    assert_eq!(of(&hidden).to_bits(), of(&HiddenPages::default()).to_bits());
}

#[test]
fn of_hidden_hosts_no_other_scheme_port_or_name_is_hidden() {
    let hidden = [
        "http://a.example/",
        "http://a.example/x",
        "http://a.example/y?z",
        "https://m.example:8443/",
    ];
    let visible = [
        "http://a.example.org/",
        "http://a.example:8080/",
        "http://b.example/",
        "http://www.a.example/",
        "https://a.example/",
        "https://m.example/",
    ];
    let pages = hidden.iter().chain(&visible).map(|url| page(url, "tree", "tree", None));
    let (_dir, index) = index_of(&pages.collect::<Vec<_>>());
    let hosts =
        ["https://m.example:8443", "http://a.example", "http://a.exampl", "http://z.example"];
    // Few hosts are looked up among the URLs; with many, all URLs are read.
    let hosts = hosts.map(str::to_owned);
    let others = (0..1_000).map(|n| format!("http://{n}.example"));
    let few = HiddenPages::of_hosts(hosts[..2].to_vec());
    let many = HiddenPages::of_hosts(hosts.into_iter().chain(others).collect());
    for of_hosts in [few, many] {
        index.find_hidden(&of_hosts).unwrap();
        assert_eq!(found(&index, &of_hosts, "tree"), visible);
        assert_eq!(found(&index, &of_hosts, "site:a.example").len(), 3);
    }
}

#[test]
fn lists_are_compared_whatever_their_order() {
    let of = |hosts: &[&str]| {
        HiddenPages::of_hosts(hosts.iter().map(|host| (*host).to_owned()).collect())
    };
    let both = of(&["http://a.example", "http://b.example"]);
    assert_eq!(both, of(&["http://b.example", "http://a.example"]));
    assert_ne!(both, of(&["http://a.example"]));
    assert_ne!(both, HiddenPages::default());
    assert_eq!(of(&[]), HiddenPages::default());
}

#[test]
fn several_lists_are_left_out_at_once() {
    let urls = ["http://a.example/", "http://b.example/", "http://c.example/"];
    let (_dir, index) = index_of(&urls.map(|url| page(url, "tree", "tree", None)));
    let lists = [
        HiddenPages::new(["b.example"], []),
        HiddenPages::of_hosts(vec!["http://c.example".into()]),
    ];
    let results = index.search(in_a_minute(), &lists, "tree", 0, 10).unwrap();
    assert_eq!((results.total, results.hits[0].url.as_str()), (1, urls[0]));
}
