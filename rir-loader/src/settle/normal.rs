//! When two texts name the same company.
//!
//! Registrants write their name anew for every range: "Example Ltd.", "EXAMPLE LTD", "Example,
//! Ltd". Letters of either case are the same, and what is neither letter nor digit only separates
//! words. Handles ("ORG-EX1-RIPE") come out right as well.

/// Calls back for every letter of the text as it is compared: lower case, one blank between words,
/// none at the ends.
pub fn each_letter(text: &str, mut take: impl FnMut(u8)) {
    let (mut begun, mut gap) = (false, false);
    for letter in text.chars() {
        if !is_part_of_word(letter) {
            gap = begun;
            continue;
        }
        if std::mem::take(&mut gap) {
            take(b' ');
        }
        begun = true;
        if letter.is_ascii() {
            take(letter.to_ascii_lowercase() as u8);
        } else {
            for lower in letter.to_lowercase() {
                lower.encode_utf8(&mut [0; 4]).bytes().for_each(&mut take);
            }
        }
    }
}

/// Blanks and punctuation are written or left out as it pleases; a hyphen and a colon are not.
fn is_part_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | ':' | '&' | '_' | '+' | '/' | '@')
}

/// The text as it is compared.
pub fn normal(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    each_letter(text, |letter| bytes.push(letter));
    String::from_utf8(bytes).unwrap_or_default()
}

/// Whether two texts name the same company.
pub fn same(one: &str, other: &str) -> bool {
    one == other || normal(one) == normal(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_name_in_other_letters_is_the_same() {
        for other in ["EXAMPLE LTD", "Example, Ltd", "  example   ltd. ", "\"Example\" Ltd"] {
            assert!(same("Example Ltd.", other), "{other}");
        }
        assert_eq!(normal("São Paulo S.A."), "são paulo s a");
        assert!(same("ÅNGSTRÖM AB", "Ångström AB"));
    }

    #[test]
    fn other_names_are_other_companies() {
        for other in ["Example Inc", "Examples Ltd", "Example-Ltd", ""] {
            assert!(!same("Example Ltd.", other), "{other}");
        }
        assert!(!same("ORG-EX1-RIPE", "ORG-EX-1-RIPE"));
    }
}
