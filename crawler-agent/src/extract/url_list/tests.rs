use proptest::prelude::*;

use super::*;

fn urls_in(text: &str, size: usize) -> Vec<String> {
    let mut list = UrlList::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(size));
        list.write(piece);
        rest = after;
    }
    list.finish().into_list().into_iter().map(|reference| reference.target).collect()
}

/// The URLs that have a time, each with its time in milliseconds.
fn times_in(text: &str, size: usize) -> Vec<(String, i64)> {
    let mut list = UrlList::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(size));
        list.write(piece);
        rest = after;
    }
    let references = list.finish().into_list().into_iter();
    references.filter_map(|it| Some((it.target, it.modified?.0))).collect()
}

fn urls(text: &str) -> Vec<String> {
    urls_in(text, usize::MAX)
}

const SITEMAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
    <!-- made by a shop -->
    <?xml-stylesheet type="text/xsl" href="/sitemap.xsl"?>
    <urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
            xmlns:image="http://www.google.com/schemas/sitemap-image/1.1"
            xmlns:xhtml="http://www.w3.org/1999/xhtml">
      <url>
        <loc> https://shop.example/a?x=1&amp;y=2&#38;z </loc>
        <lastmod>2025-11-20</lastmod><changefreq>daily</changefreq>
        <image:image><image:loc>https://shop.example/a.jpg</image:loc></image:image>
        <xhtml:link rel="alternate" hreflang="de" href="https://shop.example/de/a"/>
      </url>
      <url><loc><![CDATA[https://shop.example/b?c&d]]></loc></url>
      <url><loc></loc><loc/></url>
      <url><loc>https://shop.example/größe</loc></url>
    </urlset>"#;

const RSS: &str = r#"<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel>
    <title>News</title><link>https://news.example/</link>
    <atom:link href="https://news.example/rss" rel="self" type="application/rss+xml"/>
    <item><title>One &amp; two</title><link>https://news.example/1</link>
      <guid isPermaLink="false">tag:1</guid>
      <description><![CDATA[<p>See <a href="/not-taken">this</a> & that</p>]]></description>
      <enclosure url="https://news.example/1.mp3" length="1" type="audio/mpeg"/></item>
    <item><guid>https://news.example/2</guid></item></channel></rss>"#;

const ATOM: &str = r"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>
    <link rel='self' href='/feed'/><link href='https://blog.example/?a=1&amp;b=2'/>
    <link rel='next' href='/feed?page=2'/>
    <entry><id>urn:1</id><link rel='alternate' href='/1'></link>
      <link rel='enclosure' href='/1.mp3'/>
      <content type='html'>&lt;a href='/not-taken'></content></entry></feed>";

#[test]
fn sitemaps_list_pages() {
    let pages = [
        "https://shop.example/a?x=1&y=2&z",
        "https://shop.example/b?c&d",
        "https://shop.example/größe",
    ];
    assert_eq!(urls(SITEMAP), pages);
    let index = "<sm:sitemapindex xmlns:sm='x'><sm:sitemap><sm:loc>/1.xml.gz</sm:loc>\
                 </sm:sitemap></sm:sitemapindex>";
    assert_eq!(urls(index), ["/1.xml.gz"]);
}

#[test]
fn sitemaps_state_when_their_pages_changed() {
    let end_of_day = 1_763_683_200_000;
    let shop = ("https://shop.example/a?x=1&y=2&z".to_owned(), end_of_day);
    assert_eq!(times_in(SITEMAP, usize::MAX), [shop]);
    let index = "<sm:sitemapindex xmlns:sm='x'>\
        <sm:sitemap><sm:lastmod>1970-01-01T00:00:01Z</sm:lastmod>\
        <sm:loc>/1.xml</sm:loc></sm:sitemap>\
        <sm:sitemap><sm:loc>/2.xml</sm:loc></sm:sitemap>\
        <sm:sitemap><sm:lastmod>1970-01-01</sm:lastmod><sm:loc></sm:loc></sm:sitemap>\
        <sm:sitemap><sm:loc>/3.xml</sm:loc><sm:lastmod/></sm:sitemap></sm:sitemapindex>";
    for size in [1, 7, usize::MAX] {
        assert_eq!(times_in(index, size), [("/1.xml".to_owned(), 1_000)], "pieces of {size}");
    }
}

#[test]
fn feeds_list_pages() {
    let pages = ["https://news.example/", "https://news.example/1", "https://news.example/2"];
    assert_eq!(urls(RSS), pages);
    assert_eq!(urls(ATOM), ["https://blog.example/?a=1&b=2", "/feed?page=2", "/1"]);
    let rdf = "<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel rdf:about='x'><link>/</link>\
               </channel><item rdf:about='/1'><link>/1</link></item></rdf:RDF>";
    assert_eq!(urls(rdf), ["/", "/1"]);
}

#[test]
fn identifiers_of_feeds_are_no_pages() {
    let guids = "<guid>post-17</guid><guid>urn:uuid:1</guid><guid>a/b</guid>\
                 <guid> HTTPS://news.example/3 </guid><guid>http://news.example/4</guid>";
    let feed = format!("<rss><channel><link>/relative</link><item>{guids}</item></channel></rss>");
    assert_eq!(urls(&feed), ["/relative", "HTTPS://news.example/3", "http://news.example/4"]);
}

#[test]
fn other_documents_and_broken_ones_list_what_can_be_read() {
    for text in ["", "no markup", "<html><a href=x><loc>y</loc>", "<svg><link>x</link></svg>", "<"]
    {
        assert_eq!(urls(text), Vec::<String>::new(), "{text}");
    }
    assert_eq!(urls("<urlset><loc>/a</loc><loc>/b"), ["/a"]);
    assert_eq!(urls("<urlset></x><loc>/a</url></loc><loc>/b</urlset>"), ["/a", "/b"]);
    assert_eq!(urls("<urlset><loc>/a</loc><loc x='>/b</loc>"), ["/a"]);
    assert_eq!(urls("<urlset><loc>/a?b&c&unknown;</loc>"), ["/a?b&c&unknown;"]);
}

#[test]
fn entities_of_a_document_are_not_expanded() {
    let bomb = "<!DOCTYPE u [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>\
                <urlset><loc>/x&b;&b;&b;</loc></urlset>";
    assert_eq!(urls(bomb), ["/x&b;&b;&b;"]);
}

/// Found by the fuzz target `url_list`: the parser skips a mark without counting it.
#[test]
fn byte_order_marks_mean_nothing() {
    let marked = "\u{feff}\u{feff}<urlset><loc>\u{feff}/a</loc>\u{feff}<loc>/b</loc>\u{feff}é";
    for size in [1, 4, 9, usize::MAX] {
        assert_eq!(urls_in(marked, size), ["/a", "/b"], "pieces of {size} bytes");
    }
}

#[test]
fn a_sitemap_of_as_many_urls_as_its_protocol_allows_is_taken_whole() {
    let entry = |n| format!("<url><loc>http://e.org/{n:0>150}</loc></url>");
    let entries: Vec<String> = (0..MAX_URLS).map(entry).collect();
    let mut list = UrlList::new();
    list.write(&format!("<urlset>{}</urlset>", entries.concat()));
    assert!(list.held() < 40 << 20, "{}", list.held());
    assert_eq!(list.finish().into_list().len(), MAX_URLS);
}

#[test]
fn hostile_lists_stay_small() {
    let many = format!("<urlset>{}", "<loc>/a</loc>".repeat(MAX_URLS + 1_000));
    let long = format!("<urlset>{}", format!("<loc>{}</loc>", "a".repeat(8_000)).repeat(2_000));
    let deep = format!("<urlset>{}", "<loc>".repeat(500_000));
    let tag = format!("<urlset><loc {}", "a".repeat(4 << 20));
    let text = format!("<urlset><loc>{}</loc><loc>/b</loc>", "a".repeat(200 << 10));
    let declaration = format!("<!DOCTYPE {}", "[<".repeat(1 << 20));
    for (text, most) in
        [(many, MAX_URLS), (long, 1_048), (deep, 0), (tag, 0), (text, 1), (declaration, 0)]
    {
        let mut list = UrlList::new();
        for piece in text.as_bytes().chunks(8 << 10) {
            list.write(std::str::from_utf8(piece).unwrap());
            assert!(list.held() < 20 << 20, "{}", list.held());
        }
        assert_eq!(list.finish().into_list().len(), most, "{}", &text[..60]);
    }
}

proptest! {
    /// The result does not depend on how the text is cut into pieces.
    #[test]
    fn pieces_do_not_matter(sample in 0_usize..3, size in 1_usize..40) {
        let text = [SITEMAP, RSS, ATOM][sample];
        prop_assert_eq!(urls_in(text, size), urls(text));
    }

    #[test]
    fn neither_do_they_for_other_texts(
        text in "(<urlset>|<rss>|<feed>)?(<loc>|</loc>|<link|href='|'|>|<!\\[CDATA\\[|]]>|<!--|-->\
                 |&|a|;|é|<!|<\\?|\\PC){0,40}",
        size in 1_usize..20,
    ) {
        prop_assert_eq!(urls_in(&text, size), urls(&text));
    }
}
