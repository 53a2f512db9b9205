use super::*;
use crate::extract::tests::{extract, links};

#[test]
fn robots_meta_elements_are_obeyed() {
    let noted = |html: &str| extract(html.as_bytes()).directives;
    assert_eq!(
        noted("<meta name=ROBOTS content='NoIndex, follow'>"),
        Directives { noindex: true, ..Directives::default() }
    );
    assert_eq!(
        noted("<meta name=nearcrawl content=none>"),
        Directives { noindex: true, nofollow: true, ..Directives::default() }
    );
    assert_eq!(noted("<meta name=otherbot content=none>"), Directives::default());
    for separator in [" ", "; ", ";", "\n", " , "] {
        let html = format!("<meta name=robots content='noindex{separator}NOFOLLOW'>");
        let Directives { noindex, nofollow, .. } = noted(&html);
        assert!(noindex && nofollow, "{html}");
    }
    assert_eq!(links("<a href=a><meta name=robots content=nofollow>"), Vec::<String>::new());
}

#[test]
fn header_directives_may_be_for_one_robot_only() {
    let of = |value: &str| {
        let mut directives = Directives::default();
        directives.add_header(value);
        (directives.noindex, directives.nofollow)
    };
    assert_eq!(of("noindex"), (true, false));
    assert_eq!(of("otherbot: noindex, nofollow"), (false, false));
    assert_eq!(of("otherbot: noindex, nearcrawl: nofollow"), (false, true));
    assert_eq!(of("NearCrawl: none"), (true, true));
    assert_eq!(of("unavailable_after: 25 Jun 2027 15:00:00 PST, noindex"), (true, false));
    let date = "unavailable_after: Wed, 21 Oct 2026 07:28:00 GMT";
    assert_eq!(of(&format!("{date}, noindex")), (true, false));
    assert_eq!(of(&format!("otherbot: {date}, noindex")), (false, false));
    assert_eq!(of("max-snippet:5, nofollow"), (false, true));
    assert_eq!(of("noindex nofollow"), (true, true));
    assert_eq!(of("otherbot: noindex; nearcrawl: nofollow"), (false, true));
}

#[test]
fn the_limit_of_a_snippet_is_the_lowest_that_is_stated() {
    let limit = |list: &str| {
        let mut of_meta = Directives::default();
        of_meta.add(list);
        let mut of_header = Directives::default();
        of_header.add_header(list);
        assert_eq!(of_meta, of_header);
        of_meta.max_snippet
    };
    for none in ["all", "max-snippet:-1", "max-snippet: -1", "max-snippet", "max-snippet:x", ""] {
        assert_eq!(limit(none), None, "{none}");
    }
    for nothing in ["nosnippet", "noarchive, NoSnippet", "max-snippet:0", "max-snippet:9 nosnippet"]
    {
        assert_eq!(limit(nothing), Some(0), "{nothing}");
    }
    for some in ["max-snippet:50", "Max-Snippet: 50, nofollow", "max-snippet:50;max-snippet:80"] {
        assert_eq!(limit(some), Some(50), "{some}");
    }
    assert_eq!(limit("max-snippet:99999999999"), Some(u32::MAX));
    let mut of_header = Directives::default();
    of_header.add_header("otherbot: nosnippet, nearcrawl: max-snippet: 7");
    assert_eq!(of_header.max_snippet, Some(7));
}

#[test]
fn the_value_of_another_directive_is_no_directive() {
    for list in ["max-image-preview: none", "max-video-preview: none", "max-image-preview:none"] {
        let mut of_meta = Directives::default();
        of_meta.add(list);
        let mut of_header = Directives::default();
        of_header.add_header(list);
        assert_eq!((of_meta, of_header), Default::default(), "{list}");
    }
    let mut both = Directives::default();
    both.add("max-image-preview: large, noindex");
    assert!(both.noindex);
}
