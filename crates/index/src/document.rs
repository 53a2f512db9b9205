//! Translation of a fetched page into a document of the index.

use model::url::{Fingerprint, fingerprint};
use model::{AgentId, UnixMillis};
use percent_encoding::percent_decode_str;
use tantivy::collector::TopDocs;
use tantivy::query::Query;
use tantivy::schema::Value as _;
use tantivy::{Searcher, TantivyDocument};
use url::Url;

use crate::copies::{content_number, preference};
use crate::sanitize::sanitize;
use crate::schema::Fields;
use crate::segmentation::words;
use crate::stemmer::{LanguageStemmer, primary_language};

/// Agent number of documents that record a removal. Numbers of agents are larger.
pub(crate) const NO_AGENT: AgentId = AgentId::new(0);

/// Limit of a stored title, in bytes.
const TITLE_MAX_BYTES: usize = 512;
/// Limit of the headings of a page, in bytes.
const HEADINGS_MAX_BYTES: usize = 4 << 10;
/// Limit of a page's text that is indexed and stored, in bytes; the rest cannot be found.
const TEXT_MAX_BYTES: usize = 256 << 10;

/// A page to be indexed.
#[derive(Clone, Copy, Debug)]
pub struct Document<'a> {
    /// The agent that fetched it.
    pub agent: AgentId,
    /// Absolute, normalised http or https URL. Its fingerprint is the key.
    pub url: &'a str,
    /// URL that the page names as its canonical one, absolute and normalised.
    pub canonical: Option<&'a str>,
    /// Title; may be empty.
    pub title: &'a str,
    /// Headings; may be empty. The text has them, too.
    pub headings: &'a str,
    /// Text as a reader sees it, without markup.
    pub text: &'a str,
    /// Most characters of the text that a result may show; none without a limit.
    pub max_snippet: Option<u32>,
    /// Language tag such as `en` or `pt-BR`.
    pub lang: Option<&'a str>,
    /// Time of the fetch. An earlier fetch never replaces a later one.
    pub fetched_at: UnixMillis,
    /// Time at which it is written. A page in the index with a later time of fetch is replaced,
    /// because that time must be wrong.
    pub now: UnixMillis,
}

/// A fetch that brought no page: its URL moved, is gone, or must not be shown.
#[derive(Clone, Copy, Debug)]
pub struct FetchWithoutPage<'a> {
    /// Absolute, normalised http or https URL.
    pub url: &'a str,
    /// Time of the fetch. A page that was fetched later is not removed.
    pub fetched_at: UnixMillis,
    /// Time at which it is noted. Times of pages after it cannot be true.
    pub now: UnixMillis,
}

/// The document of a page; `None` when its URL has no host.
pub(crate) fn tantivy_document(
    page: &Document<'_>,
    key: &Fingerprint,
    fields: &Fields,
) -> Option<TantivyDocument> {
    let url = Url::parse(page.url).ok()?;
    let host = url.host_str()?;
    let mut document = TantivyDocument::default();
    document.add_bytes(fields.key, key);
    document.add_text(fields.url, page.url);
    document.add_i64(fields.agent, page.agent.get());
    for domain in domains(host) {
        document.add_text(fields.site, domain);
    }
    document.add_i64(fields.fetched_at, page.fetched_at.0);
    document.add_text(fields.url_words, url_words(&url, host));
    let title = sanitize(page.title, TITLE_MAX_BYTES);
    let text = sanitize(page.text, TEXT_MAX_BYTES);
    if let Some(content) = content_number(host, &title, &text) {
        document.add_u64(fields.content, content);
        // By fingerprints, in which parameters for campaigns, for example, are left out.
        let names_itself = page.canonical.map(|canonical| fingerprint(canonical) == *key);
        document.add_u64(fields.preference, preference(page.url, names_itself));
    }
    document.add_text(fields.letters, letters(&title, &text));
    if let Some(lang) = page.lang.and_then(primary_language) {
        if let Some(stemmer) = LanguageStemmer::of(&lang) {
            document.add_text(fields.stems, stems(&stemmer, &title, &text));
        }
        document.add_text(fields.lang, lang);
    }
    if let Some(most) = page.max_snippet {
        document.add_u64(fields.max_snippet, most.into());
    }
    document.add_text(fields.title, title);
    document.add_text(fields.headings, sanitize(page.headings, HEADINGS_MAX_BYTES));
    document.add_text(fields.body, text);
    Some(document)
}

/// The document that takes the place of a page that was removed. Only its key and URL find it.
pub(crate) fn removal(
    fetch: &FetchWithoutPage<'_>,
    key: &Fingerprint,
    fields: &Fields,
) -> TantivyDocument {
    let mut document = TantivyDocument::default();
    document.add_bytes(fields.key, key);
    document.add_text(fields.url, fetch.url);
    document.add_i64(fields.agent, NO_AGENT.get());
    document.add_i64(fields.fetched_at, fetch.fetched_at.0);
    document
}

/// Time of the fetch of the document that matches; none without one.
pub(crate) fn first_fetched_at(
    searcher: &Searcher,
    query: &dyn Query,
    fields: &Fields,
) -> tantivy::Result<Option<UnixMillis>> {
    let found = searcher.search(query, &TopDocs::with_limit(1).order_by_score())?;
    let Some((_, address)) = found.first() else { return Ok(None) };
    let document: TantivyDocument = searcher.doc(*address)?;
    let fetched_at = document.get_first(fields.fetched_at);
    Ok(fetched_at.and_then(|value| value.as_i64()).map(UnixMillis))
}

/// The host and each domain that contains it, up to the top-level domain: `site:` may name any of
/// them.
fn domains(host: &str) -> impl Iterator<Item = &str> {
    // A URL may spell the name of its host with a dot at the end.
    let host = host.trim_end_matches('.');
    let numeric = host.starts_with('[') || host.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    let parents =
        host.match_indices('.').map(|(dot, _)| &host[dot + 1..]).filter(move |_| !numeric);
    std::iter::once(host).chain(parents)
}

/// What people read in the address bar, in their scripts. With scheme and `www.`, so that a pasted
/// address finds its page.
fn url_words(url: &Url, host: &str) -> String {
    let (readable_host, _) = idna::domain_to_unicode(host);
    let path = percent_decode_str(url.path()).decode_utf8_lossy();
    let query = percent_decode_str(url.query().unwrap_or_default()).decode_utf8_lossy();
    format!("{} {readable_host} {path} {query}", url.scheme())
}

/// The letters of unspaced scripts, separated by spaces.
fn letters(title: &str, text: &str) -> String {
    let mut letters = String::new();
    for letter in words(title).chain(words(text)).filter_map(|word| word.letter()) {
        letters.push_str(&letter);
        letters.push(' ');
    }
    letters
}

/// The terms of all stems, separated by spaces.
fn stems(stemmer: &LanguageStemmer, title: &str, text: &str) -> String {
    let words = words(title).chain(words(text));
    let terms: Vec<String> =
        words.filter_map(|word| Some(stemmer.term(&word.stemmer_input()?))).collect();
    terms.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_found_as_people_read_it() {
        let url = Url::parse("https://www.bücher.example/wiki/Präsident?q=a+b").unwrap();
        let words = url_words(&url, url.host_str().unwrap());
        assert_eq!(words, "https www.bücher.example /wiki/Präsident q=a+b");
    }

    #[test]
    fn a_site_is_the_host_and_each_domain_that_contains_it() {
        assert_eq!(
            domains("a.b.example").collect::<Vec<_>>(),
            ["a.b.example", "b.example", "example"]
        );
        assert_eq!(domains("b.example.").collect::<Vec<_>>(), ["b.example", "example"]);
        assert_eq!(domains("192.0.2.1").collect::<Vec<_>>(), ["192.0.2.1"]);
        assert_eq!(domains("[2001:db8::1]").collect::<Vec<_>>(), ["[2001:db8::1]"]);
    }
}
