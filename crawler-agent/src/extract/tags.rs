//! Tags between two pieces of text: whether they separate words.

use memchr::{memchr, memchr_iter, memchr3, memmem};

/// Inline elements: their tags do not separate words, as in `T<b>w</b>o`.
const INLINE: [&str; 33] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var",
];

/// The inline elements and `wbr`, as [`key`] writes them.
const INLINE_KEYS: [u64; INLINE.len() + 1] = {
    let mut keys = [key(b"wbr"); INLINE.len() + 1];
    let mut at = 0;
    while at < INLINE.len() {
        keys[at] = key(INLINE[at].as_bytes());
        at += 1;
    }
    keys
};

/// Whether `markup`, which holds whole tags and comments, has the start or end tag of an element
/// that is not inline.
pub(super) fn separate_words(markup: &[u8]) -> bool {
    let mut rest = markup;
    while let Some(at) = memchr(b'<', rest) {
        rest = &rest[at + 1..];
        let name = rest.strip_prefix(b"/").unwrap_or(rest);
        if name.first().is_some_and(u8::is_ascii_alphabetic) {
            let end = name.iter().position(|b| b" \t\r\n\x0c/>".contains(b)).unwrap_or(name.len());
            if !INLINE_KEYS.contains(&key(&name[..end])) {
                return true;
            }
            rest = after_attributes(&name[end..]);
        } else {
            rest = after_comment(rest);
        }
    }
    false
}

/// Most start tags that may be in `markup`.
pub(super) fn start_tags(markup: &[u8]) -> usize {
    memchr_iter(b'<', markup).filter(|at| markup.get(at + 1) != Some(&b'/')).count()
}

/// What follows a tag whose attributes are at the start of `rest`. An attribute may contain `<`.
fn after_attributes(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = memchr3(b'>', b'"', b'\'', rest) {
        let mark = rest[at];
        let quotes = rest[..at].trim_ascii_end().ends_with(b"=");
        rest = &rest[at + 1..];
        if mark == b'>' {
            return rest;
        }
        // Elsewhere a quotation mark is a part of a name or of a value without quotes.
        if quotes {
            rest = memchr(mark, rest).map_or(&[], |end| &rest[end + 1..]);
        }
    }
    &[]
}

/// What follows a comment or another declaration of which `rest` begins after `<`.
fn after_comment(rest: &[u8]) -> &[u8] {
    let end: &[u8] = if rest.starts_with(b"!--") { b"-->" } else { b">" };
    memmem::find(rest, end).map_or(&[], |at| &rest[at + end.len()..])
}

/// The name in lower case as one number, so that it is compared at once; zero if it is too long.
const fn key(name: &[u8]) -> u64 {
    if name.len() > 8 {
        return 0;
    }
    let mut key = 0;
    let mut at = 0;
    while at < name.len() {
        key = key << 8 | name[at].to_ascii_lowercase() as u64;
        at += 1;
    }
    key
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_tags_of_other_elements_separate_words() {
        for markup in [
            "",
            "<b>",
            "</b>",
            "<SPAN class=x>",
            "</a ><a href='/'>",
            "<!-- <p> -->",
            "<!-->",
            "<b title='<p>'>",
            "<b title = \"><p>\">",
            "<wbr>",
            "<wbr/>",
            "<!doctype html>",
            "<?xml version=1?>",
            "</ p>",
            "<b",
            "<b title='<p>",
            "<3",
            "]]>",
            "<a b'<p>",
        ] {
            assert!(!separate_words(markup.as_bytes()), "{markup}");
        }
        for markup in [
            "<p>",
            "</p>",
            "<P\n>",
            "<br/>",
            "</b></div>",
            "<!-- x --><p>",
            "<b a=x><p>",
            "<b title='x'></p>",
            "<b a='><'><p>",
            "<b a=x'><p><b b='>",
            "<blockquote>",
            "<blockquotation>",
            "<abcdefgh>",
            "<b!>",
        ] {
            assert!(separate_words(markup.as_bytes()), "{markup}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(
            markup in any::<Vec<u8>>(),
            tags in "(<|>|/|!|-|p|b|=|'|\"| ){0,60}",
        ) {
            separate_words(&markup);
            separate_words(tags.as_bytes());
        }
    }
}
