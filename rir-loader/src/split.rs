//! Cutting short texts.

/// What is before and behind the first of these ASCII characters. For texts so short that the
/// standard library's search for a character begins with more than there is to search.
pub(crate) fn split_at(text: &str, character: u8) -> Option<(&str, &str)> {
    debug_assert!(character.is_ascii());
    let at = text.bytes().position(|byte| byte == character)?;
    Some((&text[..at], &text[at + 1..]))
}
