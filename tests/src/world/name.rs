//! Names of hosts: an invented word, the city, and the country's top-level domain.

use crate::web::word;

/// Numbers of words for host names: below those of paths.
const FIRST_WORD: usize = 350_000;

/// The name of a host, unique by its number.
pub(super) fn host(number: usize, city: &str, country: &str, seed: u64) -> String {
    let letters =
        city.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
    let word = word(FIRST_WORD + number, seed);
    let ending = match country {
        "GB" => "uk".to_owned(),
        other => other.to_ascii_lowercase(),
    };
    let front = if number.is_multiple_of(4) { "www." } else { "" };
    match letters.as_str() {
        "" => format!("{front}{word}.{ending}"),
        city => format!("{front}{word}-{city}.{ending}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_ascii_labels() {
        let name = host(1, "São Paulo", "BR", 3);
        assert!(name.ends_with("k-sopaulo.br"), "{name}");
        assert!(host(4, "東京", "GB", 3).starts_with("www."));
        assert!(host(4, "東京", "GB", 3).ends_with("k.uk"));
    }
}
