//! The contact of an agent, which is sent to every site that the agent visits.

use url::Url;

/// Longest contact, in bytes.
const MAX_BYTES: usize = 500;

/// Whether a text is a web page or a mail address (`mailto:…`) that can be part of a header: it has
/// neither spaces nor characters outside of ASCII.
pub fn is_contact(text: &str) -> bool {
    let leads_somewhere = Url::parse(text).is_ok_and(|url| match url.scheme() {
        "http" | "https" => url.has_host(),
        "mailto" => url.path().contains('@'),
        _ => false,
    });
    leads_somewhere && text.len() <= MAX_BYTES && text.bytes().all(|b| b.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_contact_is_a_page_or_a_mail_address_in_ascii() {
        for contact in ["https://o.example/bot", "http://o.example", "mailto:me@o.example"] {
            assert!(is_contact(contact), "{contact}");
        }
        let long = format!("https://o.example/{}", "x".repeat(500));
        for contact in [
            "",
            "me@o.example",
            "mailto:me",
            "ftp://o.example",
            "https://",
            "https://o.example/a b",
            "mailto:info@münchen.example",
            "https://münchen.example/",
            &long,
        ] {
            assert!(!is_contact(contact), "{contact}");
        }
    }
}
