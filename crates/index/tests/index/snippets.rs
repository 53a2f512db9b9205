//! Snippets of hits.

use super::*;

#[test]
fn a_page_limits_how_much_of_it_a_hit_shows() {
    let text = "the tallest oak of the county";
    let of = |max_snippet| Document { max_snippet, ..page("http://a.example/", "", text, None) };
    for (max_snippet, expected) in
        [(None, text), (Some(500), text), (Some(11), "the tallest"), (Some(0), "")]
    {
        let (_dir, index) = index_of(&[of(max_snippet)]);
        let hits = search(&index, "oak", 0, 10).hits;
        let shown = hits[0].snippet.iter().map(|fragment| fragment.text.as_str());
        assert_eq!(shown.collect::<String>(), expected);
    }
}

#[test]
fn markup_of_pages_is_shown_as_text() {
    let text = "a\u{202E}b <script>alert(1)</script> tree &amp; \u{0}more";
    let (_dir, index) = index_of(&[page("http://a.example/", "<b>\ntree", text, None)]);
    let hit = search(&index, "tree", 0, 1).hits.remove(0);
    assert_eq!(hit.title, "<b> tree");
    let shown: String = hit.snippet.iter().map(|fragment| fragment.text.as_str()).collect();
    assert_eq!(shown, "ab <script>alert(1)</script> tree &amp; more");
}
