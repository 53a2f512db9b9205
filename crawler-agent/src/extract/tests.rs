use std::{
    collections::HashSet,
    path::Path,
    time::{Duration, Instant},
};

use proptest::prelude::*;

use super::*;

pub(super) fn extract(html: &[u8]) -> Document {
    let mut extractor = Extractor::new(Media::Html, None);
    extractor.write(html);
    extractor.finish()
}

fn written_bytes(page: &Document) -> usize {
    page.references.iter().map(|reference| reference.target.len() + reference.anchor.len()).sum()
}

#[test]
fn links_carry_their_text_and_relation() {
    let mut page = extract(
        br#"<base href=/b/><p>before <a href=one>One <b>and</b> a&amp;half</a> after
            <a href=two rel="UGC nofollow"><img></a><a href=one>again</a>
            <nav><a href=three rel=sponsored>A<div>B</div></a></nav>
            <a name=x>no link</a><a href=two></a><iframe src=four></iframe>text
            <link rel=canonical href=self><a href=mailto:x@e.org>mail</a><a href=self>self</a>"#,
    );
    let links = page.take_links(&Url::parse("http://e.org/dir/page").unwrap());
    let shown = |link: &FoundLink| {
        let Rel { nofollow, ugc, sponsored } = link.rel;
        (link.url.path_and_query().to_owned(), link.anchor.clone(), (nofollow, ugc, sponsored))
    };
    let plain = (false, false, false);
    let expected = [
        ("/b/one", "One and a&half", plain),
        // One link without the relation is enough to follow it.
        ("/b/two", "", plain),
        ("/b/three", "A B", (false, false, true)),
        ("/b/four", "", plain),
        ("/b/self", "self", plain),
    ];
    let expected = expected.map(|(path, anchor, rel)| (path.to_owned(), anchor.to_owned(), rel));
    assert_eq!(links.found.iter().map(shown).collect::<Vec<_>>(), expected);
    let followed: Vec<_> =
        links.followed().iter().map(|url| url.path_and_query().to_owned()).collect();
    assert_eq!(followed, ["/b/self", "/b/one", "/b/two", "/b/three", "/b/four"]);
}

pub(super) fn links(html: &str) -> Vec<String> {
    let url = Url::parse("http://e.org/dir/page").unwrap();
    extract(html.as_bytes()).take_links(&url).followed().iter().map(ToString::to_string).collect()
}

#[test]
fn the_text_is_what_a_reader_sees() {
    let page = extract(
        br#"<!doctype html><html lang="en-GB"><head><title> A &amp; B
            &mdash; home </title><style>p{}</style><script>let x = "<p>no</p>";</script></head>
            <body><nav><a href="/x">Menu</a></nav><h1>One</h1><p>T<b>w</b>o<br>three</p>
            <p>f&ouml;ur&nbsp;&#x2713;</p>
            <textarea>typed</textarea><noscript>enable</noscript><!-- hidden -->
            <div>five<div>six</div>seven</div>
            <template>later</template><footer>Imprint</footer></body></html>"#,
    );
    assert_eq!(page.title, "A & B \u{2014} home");
    assert_eq!(page.text, "One Two three f\u{f6}ur \u{2713} five six seven");
    assert_eq!(page.lang.as_deref(), Some("en"));
    assert_eq!(page.charset, "UTF-8");
}

#[test]
fn text_without_markup_around_it_is_text_too() {
    assert_eq!(extract(b"just words &lt;here&gt;").text, "just words <here>");
    assert_eq!(extract(b"<p>a</p>b<p>c").text, "a b c");
    assert_eq!(
        extract(b"<nav>only a menu</nav>").text,
        "only a menu",
        "noise is better than nothing"
    );
}

#[test]
fn only_other_than_inline_tags_separate_words() {
    for (html, text) in [
        ("T<b>w</b>o", "Two"),
        ("T<B\n>w</B >o", "Two"),
        ("T<!-- <p> -->wo", "Two"),
        ("T<i title='<p>'>wo", "Two"),
        ("T<b>w</i>o", "Two"),
        ("un<wbr>broken", "unbroken"),
        ("one</p>two", "one two"),
        ("one</div></b>two", "one two"),
        ("one<b></b><p>two", "one two"),
        ("one<img src=x>two", "one two"),
        ("one<script>a<b</script>two", "one two"),
        ("one<textarea></b></textarea>two", "one two"),
        ("one<b/><hr/>two", "one two"),
        ("a &lt;p> b <b>&amp;c</b>", "a <p> b &c"),
    ] {
        assert_eq!(extract(html.as_bytes()).text, text, "{html}");
    }
}

#[test]
fn text_is_cut_at_a_whole_character() {
    let mut text = CollapsedText::new(8);
    for piece in ["ab", " cd", "ä", "ö", "e"] {
        text.push(piece);
    }
    assert_eq!(text.into_string(), "ab cdä");
    let mut full = CollapsedText::new(3);
    full.push("ab c");
    assert_eq!(full.into_string(), "ab");
}

#[test]
fn an_unclosed_menu_does_not_swallow_the_page() {
    assert_eq!(extract(b"<div><nav>menu <a href=/>x</a></div><p>the page</p>").text, "the page");
}

#[test]
fn the_title_of_a_drawing_is_not_the_pages() {
    assert_eq!(extract(b"<body><svg><title>icon</title></svg><title>real</title>").title, "real");
    assert_eq!(extract(b"<title>first</title><title>second</title>").title, "first");
}

#[test]
fn links_are_found_in_all_elements_that_hold_them() {
    let html = r#"<a href="a?x=1&amp;y=2">1</a> <area href=/b> <iframe src="//other.org/c"></iframe>
        <frameset><frame src=d></frameset> <link rel="Canonical" href="/e">
        <link rel=stylesheet href=/no.css> <meta http-equiv=Refresh content="0;URL='/f'">
        <a href="  /g  ">7</a> <a href="a?x=1&y=2#again">dup</a> <a href="mailto:x@e.org">m</a>
        <a href="javascript:void(0)">j</a> <a href="http://[">bad</a> <a name=x>no</a>
        <a href=/no rel="noopener NoFollow">n</a> <a href="">self</a>
        <a href="&#x68;ttp://h.org/%zz">8</a>"#;
    assert_eq!(
        links(html),
        [
            "http://e.org/e",
            "http://e.org/dir/a?x=1&y=2",
            "http://e.org/b",
            "http://other.org/c",
            "http://e.org/dir/d",
            "http://e.org/f",
            "http://e.org/g",
            "http://e.org/dir/page",
            "http://h.org/%zz",
        ]
    );
}

#[test]
fn links_of_the_head_to_other_pages_and_feeds_are_followed() {
    let html = r#"<link rel=alternate hreflang=de href=/de><link rel=NEXT href="?page=3">
        <link rel=prev href="?page=1"><link rel="next nofollow" href=/no>
        <link rel=alternate type=application/rss+xml href=/rss>
        <link rel=alternate type="application/atom+xml; charset=utf-8" href=/dir/page/comments>
        <link rel="alternate stylesheet" hreflang=de href=/no.css>
        <link rel=alternate type=application/json href=/wp-json/1>
        <link rel=alternate type=application/json+oembed hreflang=en href=/oembed>
        <link rel=alternate media=print href=/print><link rel="shortcut icon" href=/icon>"#;
    let paths = ["/de", "/dir/page?page=3", "/dir/page?page=1", "/rss"];
    assert_eq!(links(html), paths.map(|path| format!("http://e.org{path}")));
}

#[test]
fn of_noscript_elements_only_links_are_taken() {
    let html = r#"<head><noscript><meta http-equiv=refresh content="0;url=/no"></noscript></head>
        <p>text <a href=/first>1</a><noscript>Enable scripts
        <p><A class=x href="/a?x=1&amp;y=2">a</A><iframe src=/no></iframe>
        <meta name=robots content=noindex></noscript> more
        <noscript><abbr>no</abbr><a rel=nofollow href=/no>n</a><a href=/b></noscript>"#;
    assert_eq!(links(html), ["http://e.org/first", "http://e.org/a?x=1&y=2", "http://e.org/b"]);
    let page = extract(html.as_bytes());
    assert_eq!(page.text, "text 1 more");
    assert!(!page.directives.noindex);
    let cut = "<p>text<noscript><a href=/a>";
    assert_eq!((links(cut).len(), extract(cut.as_bytes()).text.as_str()), (1, "text"));
    let many = format!("<noscript>{}</noscript>", "<a href=/x>x</a>".repeat(1 << 20));
    assert_eq!(links(&many), ["http://e.org/x"]);
}

#[test]
fn the_canonical_url_comes_first() {
    assert_eq!(
        links("<a href=a><a href=b><link rel=canonical href=b>"),
        ["http://e.org/dir/b", "http://e.org/dir/a"]
    );
    let two = "<link rel=canonical href=/first><a href=a><link rel=canonical href=/second>";
    assert_eq!(links(two), ["http://e.org/first", "http://e.org/dir/a"]);
}

#[test]
fn the_first_base_counts_when_it_is_a_web_address() {
    assert_eq!(links("<base href=/z/><base href=/y/><a href=a>"), ["http://e.org/z/a"]);
    assert_eq!(links("<base href='data:text/plain,x'><a href=a>"), ["http://e.org/dir/a"]);
    assert_eq!(
        links("<a href=a><base href=https://o.org>"),
        ["https://o.org/a"],
        "also when it comes late"
    );
}

#[test]
fn the_encoding_is_declared_or_detected() {
    let cyrillic = encoding_rs::WINDOWS_1251
        .encode("Съешь же ещё этих мягких французских булок, да выпей чаю")
        .0;
    let japanese =
        encoding_rs::SHIFT_JIS.encode("私はガラスを食べられます。それは私を傷つけません。").0;
    let with = |charset: Option<&str>, bytes: &[u8]| {
        let mut extractor = Extractor::new(Media::Html, charset);
        bytes.chunks(7).for_each(|chunk| extractor.write(chunk));
        let page = extractor.finish();
        (page.charset, page.text)
    };
    let (header, text) = with(Some("windows-1251"), &cyrillic);
    assert_eq!(
        (header, text.as_str()),
        ("windows-1251", "Съешь же ещё этих мягких французских булок, да выпей чаю")
    );
    let (meta, text) = with(None, &[b"<META CHARSET = 'sjis' ><p>", &*japanese].concat());
    assert_eq!(
        (meta, text.as_str()),
        ("Shift_JIS", "私はガラスを食べられます。それは私を傷つけません。")
    );
    let http_equiv =
        b"<meta http-equiv=content-type content='text/html; charset=koi8-r'>\xf0\xf2\xe9";
    assert_eq!(with(None, http_equiv).1, "ПРИ");
    assert_eq!(
        with(Some("latin1"), b"\xef\xbb\xbf\xc3\xa9"),
        ("UTF-8", "\u{e9}".into()),
        "a byte order mark wins"
    );
    assert_eq!(with(None, b"\xff\xfea\0b\0").1, "ab");
    let xml = b"<?xml version='1.0' encoding='koi8-r'?><html><p>\xf0\xf2\xe9</p>";
    assert_eq!(with(None, xml), ("KOI8-R", "ПРИ".into()), "the declaration of XHTML");
    let both = b"<?xml version='1.0' encoding='koi8-r'?><meta charset=windows-1251>\xcf\xd0\xc8";
    assert_eq!(with(None, both).1, "ПРИ", "a meta element wins");
    assert_eq!(with(None, &cyrillic).0, "windows-1251", "detected");
    assert_eq!(with(None, "nur ä und ö".as_bytes()).1, "nur ä und ö", "detected");
    assert_eq!(with(Some("no-such-charset"), b"<meta charset=utf-16>\xc3\xa9").1, "\u{e9}");
    assert_eq!(
        with(Some("utf-8"), b"a\xff\xfeb").1,
        "a\u{fffd}\u{fffd}b",
        "broken bytes are shown as such"
    );
}

#[test]
fn detection_does_not_wait_for_the_end_of_a_long_page() {
    let mut extractor = Extractor::new(Media::Html, None);
    for _ in 0..2_000 {
        extractor.write(b"<p>plain ascii words in a long page</p>\n");
    }
    assert!(matches!(&extractor.reader, Reader::Html(_)));
    extractor.write("<p>später ä</p>".as_bytes());
    assert!(extractor.finish().text.starts_with("plain ascii words"));
}

#[test]
fn language_is_declared_or_detected() {
    let lang = |html: &str| extract(html.as_bytes()).lang;
    assert_eq!(
        lang("<html lang=fr><p>This is plainly English text, is it not?").as_deref(),
        Some("fr")
    );
    assert_eq!(lang("<meta http-equiv=content-language content=el>").as_deref(), Some("el"));
    let german =
        "Das ist ein ganz gewöhnlicher deutscher Satz, den man leicht als solchen erkennen kann.";
    assert_eq!(lang(german).as_deref(), Some("de"));
    assert_eq!(lang("123"), None);
}

#[test]
fn plain_text_is_taken_as_it_is() {
    let mut extractor = Extractor::new(Media::Text, None);
    extractor.write(b"a <b>  &amp;\n\n\tc\x1bd");
    let page = extractor.finish();
    assert_eq!((page.text.as_str(), page.title.as_str()), ("a <b> &amp; cd", ""));
}

#[test]
fn hostile_pages_stay_small_and_quick() {
    let started = Instant::now();
    let entities = "&amp".repeat(1 << 20);
    let deep = "<div><p>".repeat(400_000);
    let attribute = format!("<a href='{}'>x", "a".repeat(8 << 20));
    let many = (0..40_000).map(|n| format!("<a href=/{n}>{n}</a>")).collect::<Vec<_>>().concat();
    let words = "word ".repeat(1 << 20);
    let unclosed = format!("<title>{}", "t".repeat(8 << 20));
    let tags = "<".repeat(4 << 20);
    for html in [entities, deep, attribute, many, words, unclosed, tags] {
        let mut extractor = Extractor::new(Media::Html, None);
        for piece in html.as_bytes().chunks(8 << 10) {
            extractor.write(piece);
            assert!(extractor.held() <= 16 << 20, "{}", extractor.held());
        }
        let held = extractor.held();
        let page = extractor.finish();
        let taken = page.text.len() + written_bytes(&page);
        assert!(held >= taken, "{held} of {taken}");
        assert!(page.text.len() <= TEXT_BYTES);
        assert!(page.title.len() <= 1_024);
        assert!(page.references.len() <= MAX_LINKS);
    }
    assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
}

#[test]
fn the_links_of_a_page_are_bounded_in_bytes() {
    let base = format!("<base href='/{}/'>", "b".repeat(1_500));
    let short = (0..4_000).map(|n| format!("<a href={n}>{n}</a>")).collect::<Vec<_>>().concat();
    let long = format!("<a href='{}'>x</a>", "a".repeat(8 << 10)).repeat(4_000);
    let url = Url::parse("http://e.org/").unwrap();
    let resolved = extract(format!("{base}{short}").as_bytes()).take_links(&url).followed();
    let bytes: usize = resolved.iter().map(|link| link.as_str().len()).sum();
    assert!((LINK_BYTES / 2..=LINK_BYTES).contains(&bytes), "{bytes}");
    let written = extract(long.as_bytes());
    let bytes = written_bytes(&written);
    assert!((LINK_BYTES / 2..=LINK_BYTES).contains(&bytes), "{bytes}");
}

/// Text, links and title are taken on the thread that reads, wherever the rest of the page is read.
#[test]
fn pages_may_be_read_in_turns_and_on_other_threads() {
    let mut first = Extractor::new(Media::Html, Some("utf-8"));
    let mut second = Extractor::new(Media::Html, Some("utf-8"));
    first.write(b"<p>first <a href=/a>");
    second.write(b"<p>second <a href=/b>");
    let first = std::thread::spawn(move || {
        first.write(b"page");
        first.finish()
    });
    second.write(b"page");
    let pages = [first.join().unwrap(), second.finish()];
    assert_eq!(pages.each_ref().map(|page| page.text.as_str()), ["first page", "second page"]);
    assert_eq!(pages.map(|page| page.references[0].target.clone()), ["/a", "/b"]);
}

proptest! {
    /// The result does not depend on how the bytes are cut into chunks.
    #[test]
    fn chunks_do_not_matter(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "<p>", "</p>", "a", " ", "&am", "p;", "é", "<a href='x", "'>", "</a>",
            "<title>", "</title>", "<nav>", "</nav>", "<!--", "-->",
            "<script>", "</script>", "日本", "<br/>", "&#x4", "1;",
            "<h1>", "</h2>", "</h1>",
            "<b>", "</b>", "<i title='<p>", "<i title=\"<p>\">", "</i >", "<svg>", "<![CDATA[",
            "]]>", "<textarea>", "</textarea>", "<!doctype html>",
        ]), 0..40),
        size in 1usize..9,
    ) {
        let html = pieces.concat();
        let mut extractor = Extractor::new(Media::Html, Some("utf-8"));
        html.as_bytes().chunks(size).for_each(|chunk| extractor.write(chunk));
        let mut whole = Extractor::new(Media::Html, Some("utf-8"));
        whole.write(html.as_bytes());
        prop_assert_eq!(extractor.finish(), whole.finish());
    }

    #[test]
    fn no_bytes_make_it_panic(
        bytes in any::<Vec<u8>>(),
        charset in prop::option::of("[a-z0-9-]{0,12}"),
    ) {
        let mut extractor = Extractor::new(Media::Html, charset.as_deref());
        extractor.write(&bytes);
        extractor.finish();
    }
}

/// Real pages from the shared data: nearly all words of the article that a reader mode would show
/// must be in the text.
#[test]
#[ignore = "needs pages/ of ../shared/data"]
fn real_pages_keep_the_words_of_their_articles() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/pages");
    let pages = std::fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("no pages in {}: {error}", folder.display()));
    let mut recalls: Vec<(f64, String)> = Vec::new();
    for page in pages.filter_map(Result::ok).map(|entry| entry.path()).filter(|path| path.is_dir())
    {
        let source = extract(&std::fs::read(page.join("source.html")).unwrap());
        let expected = extract(&std::fs::read(page.join("expected.html")).unwrap());
        let words: HashSet<&str> = source.text.split(' ').collect();
        let wanted: Vec<&str> = expected.text.split(' ').collect();
        let found = wanted.iter().filter(|word| words.contains(*word)).count();
        recalls.push((found as f64 / wanted.len() as f64, page.display().to_string()));
    }
    recalls.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mean = recalls.iter().map(|(recall, _)| recall).sum::<f64>() / recalls.len() as f64;
    println!("mean recall {mean}, worst {:?}", &recalls[..5]);
    assert!(mean > 0.99, "mean recall {mean}, worst {:?}", &recalls[..5]);
}
