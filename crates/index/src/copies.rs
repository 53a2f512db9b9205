//! Copies: pages of one site with the same title and text, such as those of http and https, and of
//! URLs whose parameters change nothing. Results show only one of several copies.

use std::collections::HashMap;
use std::mem;

use sha2::{Digest as _, Sha256};

/// Least length of a text that is compared, in bytes. Many different pages have almost no text.
const TEXT_MIN_BYTES: usize = 200;

/// A page of the results, by its place in the index.
#[derive(Debug, PartialEq)]
pub(crate) struct RankedPage<A> {
    pub(crate) score: f32,
    /// [`preference`] for its URL.
    pub(crate) preference: u64,
    pub(crate) address: A,
}

/// A page of the results with its copies.
#[derive(Debug, PartialEq)]
pub(crate) struct Group<A> {
    pub(crate) shown: RankedPage<A>,
    pub(crate) copies: Vec<RankedPage<A>>,
}

/// Number shared by all copies of a page; none for a page with little text. Pages of other sites
/// have another one: a site must not take the place of one from which it copies.
pub(crate) fn content_number(host: &str, title: &str, text: &str) -> Option<u64> {
    if text.len() < TEXT_MIN_BYTES {
        return None;
    }
    let mut hasher = Sha256::new();
    for part in [host.strip_prefix("www.").unwrap_or(host), title, text] {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let digest: [u8; 32] = hasher.finalize().into();
    digest.first_chunk().copied().map(u64::from_le_bytes)
}

/// Larger for the URL that is rather shown than others: one that its page names as the canonical
/// one, last one whose page names another; among these one with https, then the shorter one.
pub(crate) fn preference(url: &str, names_itself: Option<bool>) -> u64 {
    let named = names_itself.map_or(1, |itself| if itself { 2 } else { 0 });
    let length = u32::try_from(url.len()).unwrap_or(u32::MAX);
    named << 33 | u64::from(url.starts_with("https:")) << 32 | u64::from(u32::MAX - length)
}

/// Pages in the order of their ranks, each with its content number → groups in the order of their
/// best pages. Of the best pages of a group the preferred one is shown.
pub(crate) fn grouped<A>(
    ranked: impl IntoIterator<Item = (Option<u64>, RankedPage<A>)>,
) -> Vec<Group<A>> {
    let mut groups: Vec<Group<A>> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for (content, page) in ranked {
        let place = content.and_then(|content| places.get(&content).copied());
        if let Some(place) = place {
            groups[place].add(page);
            continue;
        }
        if let Some(content) = content {
            places.insert(content, groups.len());
        }
        groups.push(Group { shown: page, copies: Vec::new() });
    }
    groups
}

impl<A> Group<A> {
    /// Adds a page that ranks below those before it.
    fn add(&mut self, mut page: RankedPage<A>) {
        if page.score >= self.shown.score && page.preference > self.shown.preference {
            mem::swap(&mut page, &mut self.shown);
        }
        self.copies.push(page);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_pages_of_one_site_with_the_same_title_and_text() {
        let text = "word ".repeat(40);
        let number = |host, title, text: &str| content_number(host, title, text);
        let of = number("a.example", "t", &text);
        assert!(of.is_some());
        assert_eq!(number("www.a.example", "t", &text), of);
        for (host, title, text) in [
            ("b.example", "t", text.as_str()),
            ("a.example", "u", &text),
            ("a.example", "", &format!("t{text}")),
            ("a.example", "t", &format!("{text}x")),
        ] {
            assert_ne!(number(host, title, text), of, "{host} {title}");
        }
        assert_eq!(number("a.example", "t", "word"), None);
    }

    fn ranked(score: f32, url: &str) -> RankedPage<&str> {
        RankedPage { score, preference: preference(url, None), address: url }
    }

    #[test]
    fn the_preferred_one_of_the_best_is_shown() {
        let preferred = [
            ("http://a/?b", Some(true)),
            ("https://a/", None),
            ("https://a/?b", None),
            ("http://a/", None),
            ("http://a/?b", None),
            ("https://a/", Some(false)),
            ("http://a/", Some(false)),
        ];
        let descending = |&(url, itself): &_| std::cmp::Reverse(preference(url, itself));
        assert!(preferred.is_sorted_by_key(descending));
        let pages = [(2.0, "http://a/"), (2.0, "https://a/?b"), (2.0, "https://a/")];
        let pages = pages.map(|(score, url)| (Some(1), ranked(score, url)));
        let groups = grouped(pages);
        assert_eq!((groups.len(), groups[0].shown.address), (1, "https://a/"));
        let groups = grouped(
            [(2.0, "http://a/long"), (1.0, "https://a/")]
                .map(|(score, url)| (Some(1), ranked(score, url))),
        );
        assert_eq!(groups[0].shown.address, "http://a/long", "it fits the query better");
    }

    #[test]
    fn groups_keep_the_order_of_their_best_pages() {
        let pages = [(Some(1), "a"), (None, "b"), (Some(2), "c"), (Some(1), "d"), (None, "e")];
        let groups = grouped(pages.map(|(content, url)| (content, ranked(1.0, url))));
        let seen: Vec<(&str, usize)> =
            groups.iter().map(|group| (group.shown.address, group.copies.len())).collect();
        assert_eq!(seen, [("a", 1), ("b", 0), ("c", 0), ("e", 0)]);
    }
}
