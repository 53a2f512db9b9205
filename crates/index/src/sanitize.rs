//! Sanitising of text from pages before it is stored and shown.
//!
//! White space is collapsed. Control characters and marks of text direction are removed, because
//! they could make a search result read as something else. Markup stays: everything is shown as
//! plain text.

/// `text` on one line without invisible characters, cut to at most `max_bytes` between two
/// characters.
pub(crate) fn sanitize(text: &str, max_bytes: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max_bytes));
    let mut pending_space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            pending_space = !out.is_empty();
        } else if !is_invisible(c) {
            if out.len() + usize::from(pending_space) + c.len_utf8() > max_bytes {
                break;
            }
            if std::mem::take(&mut pending_space) {
                out.push(' ');
            }
            out.push(c);
        }
    }
    out
}

fn is_invisible(c: char) -> bool {
    // Zero-width joiners stay: they belong to the spelling of Persian and of Indic scripts.
    c.is_control()
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}')
        || matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn white_space_is_collapsed_and_invisible_characters_are_removed() {
        assert_eq!(sanitize("  a\n\t b\u{0}c \u{202E}d\u{2028} ", 100), "a bc d");
        assert_eq!(sanitize("<b>&amp;</b>", 100), "<b>&amp;</b>");
    }

    proptest! {
        #[test]
        fn the_result_is_never_longer_than_the_limit(text in ".{0,60}", max in 0_usize..40) {
            prop_assert!(sanitize(&text, max).len() <= max);
        }

        #[test]
        fn sanitised_text_is_unchanged(text in ".{0,60}") {
            let once = sanitize(&text, 1_000);
            prop_assert_eq!(&sanitize(&once, 1_000), &once);
        }
    }
}
