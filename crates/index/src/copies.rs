//! Copies: pages of one site with the same title and text, such as those of http and https, and of
//! URLs whose parameters change nothing. Of several copies, results have the best alone.

use std::collections::HashMap;

use sha2::{Digest as _, Sha256};

/// Least length of a text that is compared, in bytes. Many different pages have next to none.
const TEXT_MIN_BYTES: usize = 200;

/// A page of the results with its copies, in their order.
#[derive(Debug, PartialEq)]
pub(crate) struct Group<P> {
    pub(crate) best: P,
    pub(crate) copies: Vec<P>,
}

/// Number that all copies of a page have; none for a page with little text. Pages of other sites
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

/// Pages in the order of their ranks, each with its content number → groups in the order of their
/// best pages.
pub(crate) fn grouped<P>(ranked: impl IntoIterator<Item = (Option<u64>, P)>) -> Vec<Group<P>> {
    let mut groups: Vec<Group<P>> = Vec::new();
    let mut places: HashMap<u64, usize> = HashMap::new();
    for (content, page) in ranked {
        let place = content.and_then(|content| places.get(&content).copied());
        if let Some(place) = place {
            groups[place].copies.push(page);
            continue;
        }
        if let Some(content) = content {
            places.insert(content, groups.len());
        }
        groups.push(Group { best: page, copies: Vec::new() });
    }
    groups
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

    #[test]
    fn groups_keep_the_order_of_their_best_pages() {
        let ranked = [(Some(1), 'a'), (None, 'b'), (Some(2), 'c'), (Some(1), 'd'), (None, 'e')];
        let groups = grouped(ranked);
        let seen: Vec<(char, Vec<char>)> =
            groups.into_iter().map(|group| (group.best, group.copies)).collect();
        assert_eq!(seen, [('a', vec!['d']), ('b', vec![]), ('c', vec![]), ('e', vec![])]);
    }
}
