//! Titles and texts of documents.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use super::language::Language;
use super::random_streams::{Topic, pick, stream};
use super::site::{PageId, Web};
use super::word::word;

/// The words of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Prose {
    pub(super) title: String,
    /// An invented word that only this document has.
    pub(super) mark: String,
    pub(super) paragraphs: Vec<String>,
}

/// Numbers of words for marks start here, above those of paths.
const FIRST_MARK: usize = 700_000;

/// Writes a document; another version has another text, but the same title and mark.
pub(super) fn write(web: &Web, id: PageId, version: u32) -> Prose {
    let host = &web.hosts[id.host];
    let mut fixed = stream(web.seed, Topic::Words, id.host as u64, id.page as u64);
    let mark = word(FIRST_MARK + host.first + id.page, web.seed);
    let title =
        format!("{} · {} · {mark}", pick(&host.language.titles, &mut fixed), host.plan.city);
    let page = id.page as u64 | u64::from(version) << 32;
    let mut random_streams = stream(web.seed, Topic::Prose, id.host as u64, page);
    let count = random_streams.random_range(3..8);
    let mut paragraphs: Vec<_> =
        (0..count).map(|_| paragraph(host.language, &mut random_streams)).collect();
    paragraphs.insert(
        1,
        format!("{} ({}), {mark}{}", host.plan.city, host.plan.country, host.language.stop),
    );
    Prose { title, mark, paragraphs }
}

fn paragraph(language: &Language, random_streams: &mut ChaCha8Rng) -> String {
    let count = random_streams.random_range(3..8);
    (0..count).map(|_| sentence(language, random_streams)).collect::<Vec<_>>().join(language.gap)
}

fn sentence(language: &Language, random_streams: &mut ChaCha8Rng) -> String {
    let parts: Vec<_> =
        language.order.iter().map(|part| pick(language.words(*part), random_streams)).collect();
    capitalised(&parts.join(language.gap)) + language.stop
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// One word of a document's language that many of its documents have: the last word of a place.
pub(super) fn common_word(language: &Language, random_streams: &mut ChaCha8Rng) -> String {
    let title = pick(&language.titles, random_streams);
    title.split(' ').max_by_key(|word| word.chars().count()).unwrap_or(title).to_owned()
}
