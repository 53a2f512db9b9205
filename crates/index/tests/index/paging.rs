//! Pages of results.

use super::*;

#[test]
fn answers_can_be_paged_through_to_the_end_of_the_window() {
    let addresses: Vec<String> = (0..25).map(|n| format!("http://a.example/{n}")).collect();
    let pages: Vec<_> = addresses.iter().map(|url| page(url, "tree", "", None)).collect();
    let (_dir, index) = index_of(&pages);
    let mut seen = Vec::new();
    for offset in [0, 10, 20, 30] {
        let results = search(&index, "tree", offset, 10);
        assert_eq!(results.total, 25);
        seen.extend(results.hits.into_iter().map(|hit| hit.url));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 25);
    for (offset, limit) in [(WINDOW_MAX, 10), (usize::MAX, usize::MAX), (0, 0)] {
        assert_eq!(search(&index, "tree", offset, limit).hits, []);
    }
}

#[test]
fn pages_of_equal_score_have_the_same_order_in_every_index() {
    let urls_of: Vec<String> = (0..9).map(|n| format!("http://a.example/{n}")).collect();
    let pages: Vec<_> = (1..)
        .zip(&urls_of)
        .map(|(n, url)| Document { fetched_at: FETCHED.plus_ms(n), ..page(url, "tree", "", None) })
        .collect();
    let (_dir, whole) = index_of(&pages);
    let dir = tempfile::tempdir().unwrap();
    let parts = open(&dir);
    for (n, page) in [4, 0, 8, 2, 1, 7, 3, 6, 5].into_iter().enumerate() {
        parts.upsert(&pages[page]).unwrap();
        if n % 3 == 2 {
            parts.commit("").unwrap();
        }
    }
    let newest_first: Vec<String> = urls_of.iter().rev().cloned().collect();
    assert_eq!(urls(&whole, "site:a.example"), newest_first);
    assert_eq!(urls(&parts, "site:a.example"), newest_first);
}

#[test]
fn of_copies_the_one_that_they_name_is_shown() {
    let text = "an old oak tree in a field ".repeat(10);
    let named = "http://a.example/trees/oak?lang=en";
    let of = |url| Document { canonical: Some(named), ..page(url, "Oak", &text, None) };
    let (_dir, index) = index_of(&[of("https://a.example/oak"), of(named)]);
    assert_eq!(urls(&index, "tree"), [named]);
}

#[test]
fn copies_of_a_page_are_one_result() {
    let text = "an old oak tree in a field ".repeat(10);
    let other = "another tree of another kind by the road ".repeat(10);
    let urls: Vec<String> = (0..30).map(|n| format!("http://a.example/oak?page={n}")).collect();
    let mut pages: Vec<_> = urls.iter().map(|url| page(url, "Oak", &text, None)).collect();
    pages.push(page("https://www.a.example/oak", "Oak", &text, None));
    pages.push(page("http://b.example/oak", "Oak", &text, None));
    pages.push(page("http://a.example/other", "Other", &other, None));
    let (_dir, index) = index_of(&pages);
    let mut seen = Vec::new();
    for offset in 0..3 {
        let results = search(&index, "tree", offset, 1);
        assert_eq!((results.total, results.has_more), (33, offset < 2));
        seen.extend(results.hits);
    }
    assert_eq!(search(&index, "tree", 3, 1).hits, []);
    let of_site = |host: &str| {
        let hits = seen.iter().filter(|hit| hit.url.contains(host));
        hits.map(|hit| hit.copies.len()).collect::<Vec<_>>()
    };
    assert_eq!(of_site("//b.example/"), [0], "another site is no copy");
    assert!(seen.iter().any(|hit| hit.url == "https://www.a.example/oak"), "with https");
    let mut copies = of_site("a.example/");
    copies.sort_unstable();
    assert_eq!(copies, [0, 5], "at most five copies are named");
}
