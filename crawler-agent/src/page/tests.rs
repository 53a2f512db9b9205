use super::*;
use crate::extract::directives::Directives;

const NOW: UnixMillis = UnixMillis(1_796_040_000_000);

fn html(status: u16) -> Head {
    Head { status, media_type: Some("text/html".into()), ..Head::default() }
}

fn read(head: Head, body: &str) -> (Outcome, Vec<String>) {
    let url = CrawlUrl::parse("http://e.org/dir/page").unwrap();
    let mut sink = PageSink::open(&url, &head);
    if let Some(sink) = &mut sink {
        sink.write(body.as_bytes());
    }
    let Content { outcome, links, .. } = content(&url, head, sink, NOW);
    (outcome, links.iter().map(ToString::to_string).collect())
}

#[test]
fn a_page_is_reported_with_its_hash_and_links() {
    let body = "<title>T</title><a href=x>y</a><a href=z rel=nofollow></a>";
    let (outcome, links) = read(html(200), body);
    let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
    assert_eq!((page.title.as_str(), page.text.as_str()), ("T", "y"));
    let link = |path: &str, anchor: &str, nofollow| Link {
        url: format!("http://e.org/dir/{path}"),
        anchor: anchor.into(),
        nofollow,
        ..Link::default()
    };
    assert_eq!(page.links, [link("x", "y", false), link("z", "", true)]);
    assert_eq!(links, ["http://e.org/dir/x"]);
}

#[test]
fn the_hash_of_a_page_is_that_of_its_bytes_and_of_how_they_are_read() {
    let hash = |head: Head, body: &str| {
        let Outcome::Page(page) = read(head, body).0 else { panic!("{body}") };
        page.sha256
    };
    let usual = hash(html(200), "<p>text");
    assert_eq!(usual, hash(html(200), "<p>text"));
    let other_charset = Head { charset: Some("koi8-r".into()), ..html(200) };
    let other_type = Head { media_type: Some("text/plain".into()), ..html(200) };
    let with = |directives| Head { directives, ..html(200) };
    let nofollow = with(Directives { nofollow: true, ..Directives::default() });
    let nosnippet = with(Directives { max_snippet: Some(0), ..Directives::default() });
    for head in [other_charset, other_type, nofollow, nosnippet] {
        assert_ne!(usual, hash(head.clone(), "<p>text"), "{head:?}");
    }
    assert_ne!(usual, hash(html(200), "<p>text "));
}

#[test]
fn redirects_are_made_absolute() {
    let to = |location: &str| read(Head { location: Some(location.into()), ..html(302) }, "").0;
    assert_eq!(to("../a#b"), Outcome::Redirect { status: 302, location: "http://e.org/a".into() });
    assert_eq!(to("//o.org"), Outcome::Redirect { status: 302, location: "http://o.org/".into() });
    assert!(matches!(to("mailto:x@e.org"), Outcome::Other { status: 302, .. }));
    assert!(matches!(read(html(302), "").0, Outcome::Other { status: 302, .. }));
    assert!(matches!(read(html(304), "").0, Outcome::Other { status: 304, .. }));
}

#[test]
fn other_answers_are_reported_by_status_and_type() {
    assert_eq!(
        read(html(404), "<a href=x>").0,
        Outcome::Other { status: 404, media_type: Some("text/html".into()) }
    );
    // A guard against crawlers asks for a proof with it.
    assert!(matches!(read(html(202), "<p>text").0, Outcome::Other { status: 202, .. }));
    let image = Head { media_type: Some("image/png".into()), ..html(200) };
    assert_eq!(
        read(image, "").0,
        Outcome::Other { status: 200, media_type: Some("image/png".into()) }
    );
    let untyped = Head { media_type: None, ..html(200) };
    for body in ["<p>", "", "{\"a\": 1}"] {
        let outcome = read(untyped.clone(), body);
        assert_eq!(outcome, (Outcome::Other { status: 200, media_type: None }, Vec::new()));
    }
}

#[test]
fn pages_and_sitemaps_without_a_type_are_read() {
    let untyped = Head { media_type: None, ..html(200) };
    let page = "<!doctype html><title>T</title><a href=x>y</a>";
    let (outcome, links) = read(untyped.clone(), page);
    let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
    assert_eq!((page.media_type.as_str(), page.title.as_str()), ("text/html", "T"));
    assert_eq!(links, ["http://e.org/dir/x"]);
    let (outcome, links) = read(untyped, "<urlset><url><loc>/a</loc></url></urlset>");
    assert_eq!(outcome, Outcome::Other { status: 200, media_type: None });
    assert_eq!(links, ["http://e.org/a"]);
}

#[test]
fn of_sitemaps_and_feeds_only_links_are_taken() {
    let xml = |media_type: &str| Head { media_type: Some(media_type.into()), ..html(200) };
    let outcome =
        |media_type: &str| Outcome::Other { status: 200, media_type: Some(media_type.to_owned()) };
    let sitemap = "<urlset><url><loc>/a</loc></url><url><loc>b</loc></url></urlset>";
    let links = vec!["http://e.org/a".to_owned(), "http://e.org/dir/b".to_owned()];
    for media_type in ["text/xml", "application/xml", "application/rss+xml"] {
        assert_eq!(read(xml(media_type), sitemap), (outcome(media_type), links.clone()));
    }
    let other = "<page><loc>/a</loc></page>";
    assert_eq!(read(xml("text/xml"), other), (outcome("text/xml"), Vec::new()));
    let open = |url: &str, media_type: &str| {
        PageSink::open(&CrawlUrl::parse(url).unwrap(), &xml(media_type))
            .map(|sink| sink.is_gzip_file())
    };
    assert_eq!(open("http://e.org/1.xml.gz?x", "application/gzip"), Some(true));
    assert_eq!(open("http://e.org/1.xml", "application/xml"), Some(false));
    assert_eq!(open("http://e.org/1.tar.gz", "application/gzip"), None);
}

#[test]
fn xhtml_that_is_sent_as_xml_is_a_page() {
    let page = "<html xmlns='http://www.w3.org/1999/xhtml'><title>T</title><script src='x'/>\
        <p>ä <a href='x'>y</a></p></html>";
    let declared = format!("<?xml version='1.0'?>\n<!DOCTYPE html PUBLIC '-//W3C//DTD'>\n{page}");
    for (media_type, body) in [
        ("text/xml", page),
        ("application/xml", declared.as_str()),
        ("text/xml", declared.as_str()),
    ] {
        let head = Head { media_type: Some(media_type.into()), ..html(200) };
        let (outcome, links) = read(head, body);
        let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
        assert_eq!((page.title.as_str(), page.text.as_str()), ("T", "ä y"));
        assert_eq!(page.media_type, media_type);
        assert_eq!(links, ["http://e.org/dir/x"]);
    }
    for body in ["<htmlx><p>no</p></htmlx>", "<!DOCTYPE book><book/>", "<svg><title>no</title>"] {
        let head = Head { media_type: Some("text/xml".into()), ..html(200) };
        assert!(matches!(read(head, body).0, Outcome::Other { .. }), "{body}");
    }
}

#[test]
fn files_that_are_sent_as_text_are_not_indexed() {
    let is_page = |media_type: &str, charset: Option<&str>, body: &[u8]| {
        let charset = charset.map(ToOwned::to_owned);
        let head = Head { media_type: Some(media_type.into()), charset, ..html(200) };
        let url = CrawlUrl::parse("http://e.org/file").unwrap();
        let pages = [1, 100, body.len()].map(|size| {
            let mut sink = PageSink::open(&url, &head).unwrap();
            for piece in body.chunks(size) {
                if sink.write(piece) == Flow::Enough {
                    break;
                }
            }
            let outcome = content(&url, head.clone(), Some(sink), NOW).outcome;
            matches!(outcome, Outcome::Page(_))
        });
        assert!(pages == [pages[0]; 3], "{pages:?} {media_type}");
        pages[0]
    };
    let gzip = [&b"\x1f\x8b\x08\0"[..], &[b'a'; 5_000]].concat();
    let late = [&[b'a'; 1_444][..], b"\x02", &[b'a'; 5_000]].concat();
    let later = [&[b'a'; 1_445][..], b"\x02", &[b'a'; 5_000]].concat();
    for binary in [&gzip[..], b"%PDF-1.7\n\0", b"PK\x03\x04text", b"MZ\x90\0\x03", &late[..]] {
        assert!(!is_page("text/plain", None, binary), "{:?}", &binary[..4]);
    }
    for text in [&b"a\tb\r\n\x0c\x1b(B caf\xe9"[..], b"\xff\xfea\0b\0", &later[..]] {
        assert!(is_page("text/plain", None, text), "{:?}", &text[..4]);
    }
    assert!(is_page("text/plain", Some("utf-16le"), b"a\0b\0"));
    for file in [&gzip[..], b"%PDF-1.7\n", b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0"]
    {
        assert!(!is_page("text/html", None, file), "{:?}", &file[..4]);
    }
    assert!(is_page("text/html", None, b"<p>a\0b"), "pages have stray bytes");
}

#[test]
fn lists_say_when_pages_of_their_host_changed() {
    let list = |body: &str| {
        let url = CrawlUrl::parse("http://e.org/sitemap.xml").unwrap();
        let head = Head { media_type: Some("text/xml".into()), ..html(200) };
        let mut sink = PageSink::open(&url, &head).unwrap();
        sink.write(body.as_bytes());
        content(&url, head, Some(sink), NOW).list.unwrap()
    };
    let entry = |url: &str, second: u8| {
        let time = format!("1970-01-01T00:00:0{second}Z");
        format!("<url><loc>{url}</loc><lastmod>{time}</lastmod></url>")
    };
    let sitemap = |second| {
        let entries = [entry("/a", second), entry("http://o.org/", 5), "<url/>".into()];
        format!("<urlset>{}</urlset>", entries.concat())
    };
    let found = list(&sitemap(1));
    let page = CrawlUrl::parse("http://e.org/a").unwrap().fingerprint();
    assert_eq!(found.modified, [(page, UnixMillis(1_000))]);
    assert_eq!(found.hash, list(&sitemap(1).replace("urlset", "urlset ")).hash);
    assert_ne!(found.hash, list(&sitemap(2)).hash);
    assert_ne!(found.hash, list(&sitemap(1).replace("/a", "/b")).hash);
}

#[test]
fn sitemaps_that_are_gzip_files_are_read_whatever_their_type() {
    let url = CrawlUrl::parse("http://e.org/sitemap.xml.gz").unwrap();
    for media_type in [
        Some("application/octet-stream"),
        Some("binary/octet-stream"),
        Some("text/plain"),
        Some("text/xml"),
        Some("application/x-gzip"),
        None,
    ] {
        let head = Head { media_type: media_type.map(Into::into), ..html(200) };
        let mut sink = PageSink::open(&url, &head).unwrap();
        assert!(sink.is_gzip_file(), "{media_type:?}");
        sink.write(b"<urlset><url><loc>/a</loc></url></urlset>");
        let Content { outcome, links, .. } = content(&url, head, Some(sink), NOW);
        let media_type = media_type.map(Into::into);
        assert_eq!(outcome, Outcome::Other { status: 200, media_type });
        assert_eq!(links, [CrawlUrl::parse("http://e.org/a").unwrap()]);
    }
    assert!(PageSink::open(&url, &html(200)).is_some_and(|sink| !sink.is_gzip_file()));
    let image = Head { media_type: Some("image/png".into()), ..html(200) };
    assert!(PageSink::open(&url, &image).is_none());
}

#[test]
fn sitemaps_are_read_though_their_type_is_that_of_a_page() {
    let read = |path: &str, media_type: &str, body: &str| {
        let url = CrawlUrl::parse(&format!("http://e.org{path}")).unwrap();
        let head = Head { media_type: Some(media_type.into()), ..html(200) };
        let mut sink = PageSink::open(&url, &head).unwrap();
        body.as_bytes().chunks(100).for_each(|bytes| _ = sink.write(bytes));
        let Content { outcome, links, .. } = content(&url, head, Some(sink), NOW);
        (matches!(outcome, Outcome::Other { status: 200, .. }), links.len())
    };
    let urls = "<url><loc>http://e.org/a</loc></url>".repeat(3_000);
    let sitemap = format!("<?xml version='1.0'?>\n<urlset>{urls}</urlset>");
    for media_type in ["text/html", "text/plain", "application/xhtml+xml"] {
        assert_eq!(read("/sitemap.xml", media_type, &sitemap), (true, 1), "{media_type}");
    }
    let lines = "http://e.org/a\r\nhttp://e.org/b\r\n";
    assert_eq!(read("/Sitemap-1.txt", "text/plain", lines), (true, 2));
    assert_eq!(read("/sitemap.txt", "text/plain", "About us\n"), (false, 0));
    assert_eq!(read("/blocked.txt", "text/plain", lines), (false, 0));
    assert_eq!(read("/sitemap.html", "text/html", "<a href=x>y</a>"), (false, 1));
}

#[test]
fn noindex_of_an_unchanged_page_counts() {
    let directives = Directives { noindex: true, ..Directives::default() };
    let (outcome, links) = read(Head { directives, ..html(304) }, "");
    assert_eq!(outcome, Outcome::Disallowed { by: DisallowedBy::NoIndex });
    assert!(links.is_empty());
}

#[test]
fn a_page_limits_its_snippets_by_header_and_meta_element() {
    let limit = |header, body| {
        let directives = Directives { max_snippet: header, ..Directives::default() };
        let (outcome, _) = read(Head { directives, ..html(200) }, body);
        let Outcome::Page(page) = outcome else { panic!("{outcome:?}") };
        page.max_snippet
    };
    let meta = "<meta name=robots content='max-snippet:20'><p>text";
    assert_eq!(limit(None, "<p>text"), None);
    assert_eq!(limit(None, meta), Some(20));
    assert_eq!(limit(Some(0), meta), Some(0));
    assert_eq!(limit(Some(40), meta), Some(20));
}

#[test]
fn a_page_is_not_indexed_after_it_became_unavailable() {
    let indexed = |status, value: &str| {
        let mut directives = Directives::default();
        directives.add_header(value);
        let (outcome, _) = read(Head { directives, ..html(status) }, "<p>text");
        outcome != Outcome::Disallowed { by: DisallowedBy::NoIndex }
    };
    for status in [200, 304] {
        assert!(!indexed(status, "unavailable_after: Mon, 30 Nov 2026 12:00:00 GMT"));
        assert!(indexed(status, "unavailable_after: Mon, 30 Nov 2026 12:00:01 GMT"));
        assert!(indexed(status, "otherbot: unavailable_after: 2020-01-01"));
    }
    let (outcome, links) =
        read(html(200), "<meta name=robots content='unavailable_after: 2020-01-01'><a href=x>");
    assert_eq!(outcome, Outcome::Disallowed { by: DisallowedBy::NoIndex });
    assert_eq!(links.len(), 1);
}

#[test]
fn noindex_withholds_the_text_and_still_follows_links() {
    let noindex = Outcome::Disallowed { by: DisallowedBy::NoIndex };
    let (outcome, links) = read(html(200), "<meta name=robots content=noindex><a href=x>y</a>");
    assert_eq!((outcome, links.len()), (noindex.clone(), 1));
    let directives = Directives { noindex: true, nofollow: true, ..Directives::default() };
    let (outcome, links) = read(Head { directives, ..html(200) }, "<a href=x>y</a>");
    assert_eq!((outcome, links.len()), (noindex, 0));
}
