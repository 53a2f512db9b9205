//! Spellings of links: one URL has many, and a crawler must treat them as one.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;

use super::site::{Goal, Link, PageId, Web};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Style {
    /// With scheme and host.
    #[default]
    Absolute,
    /// With host, without scheme.
    SchemeLess,
    /// Scheme and host in capitals.
    Shouted,
    /// With the port that the scheme has anyway (or the web's own, when that is another).
    Port,
    /// From the root of the host.
    Rooted,
    /// From the root, by way of directories that are left again.
    Dotted,
    /// From the directory of the document, or of its `<base>`.
    Relative,
    /// With a fragment.
    Fragment,
    /// White space around it.
    Spaced,
    /// In the letters of its own script instead of percent-encoded.
    Readable,
}

impl Style {
    /// Spellings of links within a host.
    pub(super) const WITHIN: [Self; 12] = [
        Self::Relative,
        Self::Relative,
        Self::Relative,
        Self::Rooted,
        Self::Rooted,
        Self::Readable,
        Self::Absolute,
        Self::SchemeLess,
        Self::Shouted,
        Self::Dotted,
        Self::Fragment,
        Self::Spaced,
    ];
    /// Spellings of links to another host.
    pub(super) const ACROSS: [Self; 5] =
        [Self::Absolute, Self::Absolute, Self::SchemeLess, Self::Shouted, Self::Port];
}

/// The value of an `href` attribute, already escaped for HTML. `base` is the path that relative
/// links start from.
pub(super) fn href(web: &Web, from: PageId, base: &str, link: &Link) -> String {
    match &link.to {
        Goal::Elsewhere(text) => escape(text, false),
        Goal::Page(to) => {
            let numeric = (from.page + to.page).is_multiple_of(3);
            escape(&spell(web, base, *to, link.style), numeric)
        }
    }
}

fn spell(web: &Web, base: &str, to: PageId, style: Style) -> String {
    let path = web.page(to).map_or("/", |page| page.path.as_str());
    let origin = web.origin(to.host);
    match style {
        Style::SchemeLess => format!("{}{path}", origin.trim_start_matches("http:")),
        Style::Shouted => format!("{}{path}", origin.to_uppercase()),
        Style::Port if web.port == 80 => format!("{origin}:80{path}"),
        Style::Absolute | Style::Port => format!("{origin}{path}"),
        Style::Rooted => path.to_owned(),
        Style::Dotted => format!("/nowhere/./..{path}"),
        Style::Relative => relative(base, path),
        Style::Fragment => format!("{path}#part-{}", to.page),
        Style::Spaced => format!("\n    {path} "),
        Style::Readable => readable(path),
    }
}

/// The shortest way from a base path to a path: up to the directory that both share, then down.
pub(super) fn relative(base: &str, path: &str) -> String {
    let directory = |path: &str| {
        let place = path.split('?').next().unwrap_or("/").to_owned();
        place.rfind('/').map_or(0, |slash| slash + 1)
    };
    let base_end = directory(base);
    let path_end = directory(path);
    let same =
        base[..base_end].bytes().zip(path[..path_end].bytes()).take_while(|(a, b)| a == b).count();
    let shared =
        path.as_bytes()[..same].iter().rposition(|byte| *byte == b'/').map_or(0, |slash| slash + 1);
    let up = base[shared..base_end].matches('/').count();
    let rest = format!("{}{}", "../".repeat(up), &path[shared..]);
    if rest.is_empty() { "./".to_owned() } else { rest }
}

/// Percent-encoded UTF-8 as the text it stands for.
fn readable(path: &str) -> String {
    let decoded = percent_decode_str(path).decode_utf8();
    decoded.map_or_else(|_| path.to_owned(), Cow::into_owned)
}

/// Escapes for an attribute in double quotes; `numeric` by number instead of by name, and slashes
/// too.
fn escape(text: &str, numeric: bool) -> String {
    if numeric {
        text.replace('&', "&#38;").replace('"', "&#x22;").replacen('/', "&#x2F;", 1)
    } else {
        text.replace('&', "&amp;").replace('"', "&quot;")
    }
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn relative_links_lead_back_to_where_they_should() {
        let paths =
            ["/", "/a", "/a/", "/a/b.html", "/a/b/c?x=1/2", "/ab/", "/b/%CE%B1.html", "/a/b/"];
        for base in paths {
            for path in paths {
                let written = relative(base, path);
                let base = Url::parse("http://h.example/").unwrap().join(base).unwrap();
                let found = base.join(&written).unwrap();
                assert_eq!(
                    found.as_str(),
                    format!("http://h.example{path}"),
                    "{written:?} from {base}"
                );
            }
        }
    }

    #[test]
    fn readable_is_the_text_behind_the_encoding() {
        assert_eq!(readable("/%CE%B1%CE%B2-%zz"), "/αβ-%zz");
        assert_eq!(readable("/%FF"), "/%FF");
    }
}
