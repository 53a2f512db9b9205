//! Here is text from a stranger's page: what of it may be shown?
//!
//! White space is folded; control characters and the marks that turn the direction of what follows
//! go, since they could make an answer read as something else. Markup is not looked for: nobody
//! renders it.

/// `text` on one line without invisible characters, cut at a letter's edge to at most `max_bytes`.
pub(crate) fn cleaned(text: &str, max_bytes: usize) -> String {
    let mut out = String::with_capacity(text.len().min(max_bytes));
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() {
            gap = !out.is_empty();
        } else if !is_unseen(c) {
            if out.len() + usize::from(gap) + c.len_utf8() > max_bytes {
                break;
            }
            if std::mem::take(&mut gap) {
                out.push(' ');
            }
            out.push(c);
        }
    }
    out
}

fn is_unseen(c: char) -> bool {
    // Zero-width joiners are spelling in Persian and in Indic scripts, and stay.
    c.is_control()
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn white_space_folds_and_tricks_go() {
        assert_eq!(cleaned("  a\n\t b\u{0}c \u{202E}d\u{2028} ", 100), "a bc d");
        assert_eq!(cleaned("<b>&amp;</b>", 100), "<b>&amp;</b>");
    }

    proptest! {
        #[test]
        fn never_longer_than_told(text in ".{0,60}", max in 0_usize..40) {
            prop_assert!(cleaned(&text, max).len() <= max);
        }

        #[test]
        fn clean_text_stays(text in ".{0,60}") {
            let once = cleaned(&text, 1_000);
            prop_assert_eq!(&cleaned(&once, 1_000), &once);
        }
    }
}
