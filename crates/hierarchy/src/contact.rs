//! Contact of an operator, as the servers of the registries receive it.

/// A text that cannot be sent as a contact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("expected a mail address or a URL without blanks and parentheses")]
pub struct InvalidContact;

/// Accepts what can stand in parentheses in an HTTP header.
pub fn check_contact(text: &str) -> Result<(), InvalidContact> {
    let is_allowed = |letter: char| letter.is_ascii_graphic() && !"()\\".contains(letter);
    let is_valid = !text.is_empty() && text.chars().all(is_allowed);
    if is_valid { Ok(()) } else { Err(InvalidContact) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_fits_into_a_comment_of_a_header() {
        assert_eq!(check_contact("mailto:noc@example.org"), Ok(()));
        for wrong in ["", "a b", "(a)", "a\\b", "ä@example.org", "a\n"] {
            assert_eq!(check_contact(wrong), Err(InvalidContact), "{wrong}");
        }
    }
}
