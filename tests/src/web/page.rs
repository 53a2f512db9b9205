//! HTML of a document, with what makes parsing hard: entities, relative links and `<base>`, links
//! in other scripts, decoys in comments and scripts.

use std::fmt::Write as _;

use super::charset::Charset;
use super::href::href;
use super::prose::{self, Prose};
use super::site::{Host, Kind, Page, PageId, Web};

/// Writes a document and encodes it as its host does.
pub(super) fn bytes(web: &Web, id: PageId, version: u32) -> Vec<u8> {
    let host = &web.hosts[id.host];
    host.charset.encode(&html(web, id, version))
}

fn html(web: &Web, id: PageId, version: u32) -> String {
    let page = &web.hosts[id.host].pages[id.page];
    let host = &web.hosts[id.host];
    let prose = prose::write(web, id, version);
    let base = base(id, page);
    let mut html = String::with_capacity(8_192);
    html.push_str("<!DOCTYPE html>\n");
    html.push_str(&opening(host, id));
    html.push_str("<head>\n");
    head(&mut html, web, id, &prose, base.as_deref());
    html.push_str("</head>\n<body>\n");
    body(&mut html, web, id, &prose, base.as_deref().unwrap_or(&page.path));
    html.push_str("</body>\n</html>\n");
    html
}

/// Every fifth document leaves its language to be found out.
fn opening(host: &Host, id: PageId) -> String {
    let direction = if host.language.right_to_left() { " dir=\"rtl\"" } else { "" };
    if id.page % 5 == 4 {
        format!("<html{direction}>\n")
    } else {
        format!("<html lang=\"{}\"{direction}>\n", host.language.code)
    }
}

/// Every sixth document has relative links start from a directory that is not its own.
fn base(id: PageId, page: &Page) -> Option<String> {
    let path = page.path.split('?').next().unwrap_or("/");
    let up = path.trim_end_matches('/').rfind('/')?;
    (id.page % 6 == 5).then(|| format!("{}/archive/", &path[..up]))
}

fn head(html: &mut String, web: &Web, id: PageId, prose: &Prose, base: Option<&str>) {
    let page = &web.hosts[id.host].pages[id.page];
    let host = &web.hosts[id.host];
    // First, so that it is within the 1,024 bytes in which browsers look for it.
    html.push_str(&host.announced.element(host.charset));
    put(html, format_args!("<title>{}</title>\n", text(&prose.title)));
    if let Some(base) = base {
        put(html, format_args!("<base href=\"{}{base}\">\n", web.origin(id.host)));
    }
    if page.kind == (Kind::Document { noindex: true }) {
        html.push_str("<meta name=\"robots\" content=\"noindex\">\n");
    }
    html.push_str(
        "<style>body { font-family: serif; max-width: 40em } nav a { margin: 1em }</style>\n",
    );
    for decoy in &page.decoys {
        let url = web.url(*decoy);
        put(html, format_args!("<script>var later = '<a href=\"{url}\">later</a>';</script>\n"));
    }
}

fn body(html: &mut String, web: &Web, id: PageId, prose: &Prose, base: &str) {
    let page = &web.hosts[id.host].pages[id.page];
    let host = &web.hosts[id.host];
    put(html, format_args!("<header><p>{}</p></header>\n", text(host.language.name)));
    put(html, format_args!("<h1>{}</h1>\n", text(&prose.title)));
    for decoy in &page.decoys {
        put(html, format_args!("<!-- <a href=\"{}\">not yet</a> -->\n", web.url(*decoy)));
    }
    html.push_str("<img src=\"/picture.png\" alt=\"&copy; &eacute;tude &#8212; 1\">\n<nav>\n");
    let mut links = page.links.iter();
    for link in links.by_ref().take(page.links.len() / 2) {
        put(
            html,
            format_args!(
                "<a href=\"{}\">{}</a>\n",
                href(web, id, base, link),
                text(host.language.name)
            ),
        );
    }
    html.push_str("</nav>\n<main>\n");
    for paragraph in &prose.paragraphs {
        put(html, format_args!("<p>{}", text(paragraph)));
        if let Some(link) = links.next() {
            put(
                html,
                format_args!(" <A class=more HREF='{}'>&raquo;</A>", href(web, id, base, link)),
            );
        }
        html.push_str("</p>\n");
    }
    html.push_str("</main>\n<footer>\n");
    for link in links {
        put(
            html,
            format_args!("<a rel=\"next\" href=\"{}\">&rarr;</a>\n", href(web, id, base, link)),
        );
    }
    html.push_str("<a name=\"end\">&nbsp;</a>\n</footer>\n");
}

/// The text of a plain text file, in UTF-8.
pub(super) fn plain_text(web: &Web, id: PageId, version: u32) -> Vec<u8> {
    let prose = prose::write(web, id, version);
    Charset::Utf8.encode(&format!("{}\n\n{}\n", prose.title, prose.paragraphs.join("\n\n")))
}

fn text(plain: &str) -> String {
    plain.replace('&', "&amp;").replace('<', "&lt;")
}

fn put(html: &mut String, what: std::fmt::Arguments<'_>) {
    // Writing into a string cannot fail.
    let _ = html.write_fmt(what);
}
