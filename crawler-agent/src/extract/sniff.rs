//! What a body is where its type does not say so: servers send many sitemaps as HTML or plain text,
//! some pages without a type, and files of unknown types as text. The beginning decides, as in
//! browsers.

use encoding_rs::Encoding;

use super::url_list::is_absolute;

/// Bytes of text that are looked at. The document must not depend on the pieces in which it
/// arrives.
const BEGINNING: usize = super::PIECE_BYTES;

/// Bytes of a body by which a file is told from text (WHATWG MIME Sniffing, section 5.2).
pub(super) const RESOURCE_HEADER: usize = 1_445;

/// First bytes of files that are no text: PDF, gzip, zip, PNG, JPEG and GIF.
const FILES: [&[u8]; 6] =
    [b"%PDF-", b"\x1f\x8b\x08", b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF8"];

/// First elements of sitemaps and feeds.
const LISTS: [&str; 5] = ["urlset", "sitemapindex", "rss", "feed", "rdf:RDF"];

/// Elements with which pages begin. Other markup may be part of a text.
const PAGES: [&str; 6] = ["!doctype", "html", "head", "title", "script", "body"];

/// Whether a body begins as a file that is no text.
pub(super) fn is_file(bytes: &[u8]) -> bool {
    FILES.iter().any(|magic| bytes.starts_with(magic))
}

/// Whether a body that should be plain text has bytes that no text has (WHATWG MIME Sniffing,
/// section 7.2). Text in UTF-16 has them, and is known by its byte order mark.
pub(super) fn is_binary(bytes: &[u8]) -> bool {
    let has_mark = Encoding::for_bom(bytes).is_some();
    let is_binary = |byte: u8| matches!(byte, 0..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f);
    !has_mark && bytes.iter().any(|byte| is_binary(*byte))
}

/// Whether a text is a sitemap or a feed in XML.
pub(super) fn is_xml_list(text: &str) -> bool {
    LISTS.contains(&first_name(text))
}

/// Whether a text is a page of HTML.
pub(super) fn is_html(text: &str) -> bool {
    let name = first_name(text);
    PAGES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Whether a text in XML is a page of XHTML.
pub(super) fn is_xhtml(text: &str) -> bool {
    let element = first_element(beginning(text));
    let doctype = element.get(..9).filter(|start| start.eq_ignore_ascii_case("<!doctype"));
    match doctype {
        Some(_) => {
            let mut words = element[9..].split(|c: char| c.is_ascii_whitespace() || c == '>');
            words.find(|word| !word.is_empty()).is_some_and(|name| name == "html")
        }
        None => first_name(text) == "html",
    }
}

/// The name of the first element; empty where it is cut or there is none.
fn first_name(text: &str) -> &str {
    let tag = first_element(beginning(text)).strip_prefix('<').unwrap_or_default();
    let end = tag.find(|c: char| c.is_ascii_whitespace() || "/>".contains(c));
    end.map_or("", |end| &tag[..end])
}

/// Whether every line of a text is a URL.
pub(super) fn is_lines_of_urls(text: &str) -> bool {
    let beginning = beginning(text);
    // The last line may be cut.
    let whole = match beginning.rfind('\n') {
        Some(end) if text.len() >= BEGINNING => &beginning[..end],
        None if text.len() >= BEGINNING => "",
        _ => beginning,
    };
    let mut lines = whole.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    lines.peek().is_some() && lines.all(|line| is_absolute(line) && !line.contains(' '))
}

fn beginning(text: &str) -> &str {
    text[..text.floor_char_boundary(BEGINNING)].trim_start_matches('\u{feff}')
}

/// The text from its first element on, after declarations and comments.
fn first_element(text: &str) -> &str {
    let mut rest = text.trim_ascii_start();
    loop {
        let (opened, end) = match rest {
            _ if rest.starts_with("<?") => (2, "?>"),
            _ if rest.starts_with("<!--") => (4, "-->"),
            _ => return rest,
        };
        let Some((_, after)) = rest[opened..].split_once(end) else { return "" };
        rest = after.trim_ascii_start();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sitemaps_and_feeds_are_recognised_by_their_first_element() {
        for text in [
            "<urlset>",
            "\u{feff}\n<?xml version='1.0'?>\n<!-- by > x --><?xml-stylesheet?><sitemapindex a=",
            "<rss version='2.0'>",
            "<feed\nxmlns=''>",
            "<rdf:RDF/>",
        ] {
            assert!(is_xml_list(text), "{text}");
        }
        let far = format!("<!--{}--><urlset>", " ".repeat(BEGINNING));
        for text in
            ["", "<html>", "<!doctype html><rss>", "<feedback>", "<!-- <urlset>", "x<rss>", &far]
        {
            assert!(!is_xml_list(text), "{text}");
        }
    }

    #[test]
    fn pages_are_recognised_by_their_first_element() {
        for text in ["<!DOCTYPE html>", " <!-- x --><HTML lang=en>", "<?xml?><html>", "<head><p>"] {
            assert!(is_html(text), "{text}");
        }
        for text in ["", "<p>", "<header>", "<!doc", "{}", "html", "<svg>", "<rss>"] {
            assert!(!is_html(text), "{text}");
        }
    }

    #[test]
    fn a_list_has_a_url_in_every_line() {
        let long = format!("http://e.org/{}", "a".repeat(BEGINNING));
        let cut = format!("http://e.org/a\n{long} and more");
        for text in
            ["http://e.org/a", "\u{feff}\n HTTPS://e.org/a \r\n\r\nhttp://e.org/b\r\n", &cut]
        {
            assert!(is_lines_of_urls(text), "{text}");
        }
        for text in
            ["", "\n\n", "http://e.org/a\nabout us", "http://e.org/ is our site", "/a", &long]
        {
            assert!(!is_lines_of_urls(text), "{text}");
        }
    }
}
