//! Comparison of company names.
//!
//! Registrants enter their name again for every range: "Example Ltd.", "EXAMPLE LTD", "Example,
//! Ltd". Case does not matter, and what is neither letter nor digit only separates words. Legal
//! forms do matter: "Example Ltd" and "Example Inc" are two companies.

/// The text as it is compared: lower case, one blank between words.
pub(crate) fn normalize(text: &str) -> String {
    let lower = text.to_lowercase();
    let words = lower.split(|letter| !is_part_of_word(letter)).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Blanks and most punctuation differ between spellings of a name; characters that handles contain
/// do not.
fn is_part_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | ':' | '&' | '_' | '+' | '/' | '@')
}

/// Whether two texts name the same company.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    one == other || normalize(one) == normalize(other)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_normalized_name_is_the_same_name(name in ".{0,40}") {
            prop_assert!(is_same_name(&name, &normalize(&name)));
        }
    }

    #[test]
    fn case_blanks_and_punctuation_do_not_matter() {
        for other in ["EXAMPLE LTD", "Example, Ltd", "  example   ltd. ", "\"Example\" Ltd"] {
            assert!(is_same_name("Example Ltd.", other), "{other}");
        }
        assert_eq!(normalize("São Paulo S.A."), "são paulo s a");
        assert!(is_same_name("ÅNGSTRÖM AB", "Ångström AB"));
    }

    #[test]
    fn different_names_are_different_companies() {
        for other in ["Example Inc", "Examples Ltd", "Example-Ltd", ""] {
            assert!(!is_same_name("Example Ltd.", other), "{other}");
        }
        assert!(!is_same_name("ORG-EX1-RIPE", "ORG-EX-1-RIPE"));
    }
}
