//! Bytes of a value to text: UTF-8 where it is that, else ISO 8859-1.
//!
//! The registries do not say which it is: RIPE's plain dumps are ISO 8859-1 and their `.utf8` twins
//! UTF-8, APNIC's, AFRINIC's and ARIN's are UTF-8, LACNIC's ISO 8859-1. A value with an umlaut in
//! ISO 8859-1 is hardly ever valid UTF-8 by chance, so that each value tells by itself. In ISO
//! 8859-1 every byte is the character of that number.

use std::borrow::Cow;

/// Text of a value, and whether it was ISO 8859-1.
pub fn decode(bytes: &[u8]) -> (Cow<'_, str>, bool) {
    match str::from_utf8(bytes) {
        Ok(text) => (Cow::Borrowed(text), false),
        Err(_) => (Cow::Owned(bytes.iter().copied().map(char::from).collect()), true),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_encodings_say_the_same() {
        assert_eq!(decode("São Paulo".as_bytes()), (Cow::Borrowed("São Paulo"), false));
        assert_eq!(decode(b"S\xe3o Paulo").0, "São Paulo");
        assert!(decode(b"S\xe3o Paulo").1);
    }
}
