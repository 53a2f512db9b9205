//! The order of results.

use super::*;

/// Pages in English, half of them with the word "news", and one in a language that no other page
/// has.
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

#[test]
fn a_letter_is_ranked_by_how_often_it_is_there() {
    let (_dir, index) = index_of(&[
        page("http://a.example/once", "", "白い猫がいる。犬もいる。鳥もいる。", Some("ja")),
        page("http://a.example/often", "", "猫は可愛い。猫は寝る。猫と猫。", Some("ja")),
        page("http://a.example/title", "猫カフェ", "白い鳥がいる。犬もいる。", Some("ja")),
    ]);
    let expected = ["http://a.example/title", "http://a.example/often", "http://a.example/once"];
    assert_eq!(urls(&index, "猫"), expected);
    assert_eq!(urls(&index, "鳥 -猫"), [""; 0]);
}

#[test]
fn a_sentence_does_not_stand_for_the_other_words() {
    let (_dir, index) = index_of(&[
        page("http://a.example/both", "", "東京のホテルとレストラン", Some("ja")),
        page("http://a.example/one", "", "大阪のレストラン案内", Some("ja")),
    ]);
    assert_eq!(urls(&index, "東京 レストラン"), ["http://a.example/both"]);
}

#[test]
fn a_sentence_as_typed_is_first() {
    let (_dir, index) = index_of(&[
        page("http://a.example/parts", "", "味しい物。東京の京。の美し美味、美味しい", Some("ja")),
        page("http://a.example/whole", "", "東京の美味しい物", Some("ja")),
        page("http://a.example/few", "", "東京の鳥", Some("ja")),
    ]);
    let found = urls(&index, "東京の美味しい");
    assert_eq!(found, ["http://a.example/whole", "http://a.example/parts"]);
}

#[test]
fn words_of_two_scripts_in_order_come_first() {
    let (_dir, index) = index_of(&[
        page("http://a.example/1", "", "tower と東京、そして京都と tower 東京", Some("ja")),
        page("http://a.example/2", "", "tower と東京 tower、そして京都と東京", Some("ja")),
    ]);
    assert_eq!(urls(&index, "東京 tower")[0], "http://a.example/2");
}
