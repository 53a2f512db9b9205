//! The order of results.

use super::*;

/// Pages in English, half of them with the word "news", and one in a language that no other page has.
fn of_two_languages(other: &str) -> (TempDir, Index) {
    let english: Vec<String> = (0..120).map(|n| format!("http://{n}.example/")).collect();
    let text = |n| if n % 2 == 0 { "the news of today and of other days" } else { "nothing" };
    let english = english.iter().enumerate();
    let mut pages: Vec<_> = english.map(|(n, url)| page(url, "x", text(n), Some("en"))).collect();
    pages.push(page("http://other.example/", "x", other, Some("et")));
    index_of(&pages)
}

#[test]
fn a_page_in_a_rare_language_is_not_above_the_exact_word() {
    let score_of = |index: &Index, url: &str| {
        let hits = search(index, "news", 0, 100).hits;
        hits.into_iter().find(|hit| hit.url == url).map(|hit| hit.score)
    };
    let (_dir, index) = of_two_languages("the news of today and of other days");
    let other = score_of(&index, "http://other.example/").unwrap();
    let english = score_of(&index, "http://0.example/").unwrap();
    assert!(other <= english * 1.01, "{other} and {english}");
}

#[test]
fn removals_do_not_change_scores() {
    let scores = |removals: usize| {
        let (_dir, index) = index_of(&[
            page("http://a.example/", "x", "a red house", None),
            page("http://b.example/", "x", "a red house beside a long and old road", None),
            page("http://c.example/", "x", "a blue house", None),
        ]);
        for n in 0..removals {
            let url = format!("http://{n}.example/gone");
            let now = UnixMillis(10_000);
            index.delete(&FetchWithoutPage { url: &url, fetched_at: FETCHED, now }).unwrap();
        }
        index.commit("").unwrap();
        search(&index, "red", 0, 10).hits.iter().map(|hit| hit.score).collect::<Vec<_>>()
    };
    assert_eq!(scores(0), scores(50));
}
