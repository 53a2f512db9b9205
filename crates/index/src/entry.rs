//! Here is a fetched page: what is written of it?

use model::UnixMillis;
use protocol::package::PackageName;
use tantivy::TantivyDocument;
use url::Url;

use crate::clean::cleaned;
use crate::schema::Fields;
use crate::stem::{Stems, language};
use crate::words::words;

/// Longest title that is kept, in bytes.
const TITLE_BYTES: usize = 512;
/// How much of a page's text is indexed and kept, in bytes; what follows cannot be found.
const TEXT_BYTES: usize = 256 << 10;

/// A page to be found.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// Its absolute, normalised http or https URL.
    pub url: &'a str,
    /// Its title; may be empty.
    pub title: &'a str,
    /// Its text as a reader would see it.
    pub text: &'a str,
    /// Its language, as a tag such as `en` or `pt-BR`.
    pub lang: Option<&'a str>,
    /// When it was fetched.
    pub fetched_at: UnixMillis,
    /// The package that brought it.
    pub package: PackageName,
}

/// How a package is named in the index.
pub(crate) fn package_term(name: &PackageName) -> String {
    format!("{}/{}/{}", name.agent, name.epoch, name.seq)
}

/// The entry of a page; none when its URL is no URL with a host.
pub(crate) fn entry(page: &Document<'_>, fields: &Fields) -> Option<TantivyDocument> {
    let url = Url::parse(page.url).ok()?;
    let host = url.host_str()?;
    let mut entry = TantivyDocument::default();
    entry.add_text(fields.url, page.url);
    for domain in domains(host) {
        entry.add_text(fields.site, domain);
    }
    entry.add_text(fields.package, package_term(&page.package));
    entry.add_i64(fields.fetched_at, page.fetched_at.0);
    entry.add_text(fields.place, place(&url, host));
    let (title, text) = (cleaned(page.title, TITLE_BYTES), cleaned(page.text, TEXT_BYTES));
    if let Some(lang) = page.lang.and_then(language) {
        if let Some(stems) = Stems::of(&lang) {
            entry.add_text(fields.stems, stemmed(&stems, &title, &text));
        }
        entry.add_text(fields.lang, lang);
    }
    entry.add_text(fields.title, title);
    entry.add_text(fields.body, text);
    Some(entry)
}

/// The host and each domain around it, the top-level one included: `site:` may name any of them.
fn domains(host: &str) -> impl Iterator<Item = &str> {
    let numeric = host.starts_with('[') || host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let parents =
        host.match_indices('.').map(|(dot, _)| &host[dot + 1..]).filter(move |_| !numeric);
    std::iter::once(host).chain(parents).filter(|domain| !domain.is_empty())
}

fn place(url: &Url, host: &str) -> String {
    format!("{} {}", host.strip_prefix("www.").unwrap_or(host), url.path())
}

fn stemmed(stems: &Stems, title: &str, text: &str) -> String {
    let words = words(title).chain(words(text));
    let terms: Vec<String> =
        words.filter_map(|word| Some(stems.term(&word.stemmable()?))).collect();
    terms.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_the_host_and_what_it_lies_in() {
        assert_eq!(
            domains("a.b.example").collect::<Vec<_>>(),
            ["a.b.example", "b.example", "example"]
        );
        assert_eq!(domains("192.0.2.1").collect::<Vec<_>>(), ["192.0.2.1"]);
        assert_eq!(domains("[2001:db8::1]").collect::<Vec<_>>(), ["[2001:db8::1]"]);
    }
}
