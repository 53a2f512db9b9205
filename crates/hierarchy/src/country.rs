//! Two-letter country codes (ISO 3166-1 alpha-2) as registries print them.

use std::fmt;
use std::str::FromStr;

/// A two-letter code in upper case. Codes without a country are accepted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Country([u8; 2]);

/// Error for text that is not two letters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a two-letter country code")]
pub struct InvalidCountry(pub String);

const LETTERS: u16 = 26;

impl Country {
    /// The two upper-case letters.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or("??")
    }

    /// A number from 1 to 676; zero is reserved for no country.
    pub(crate) fn number(self) -> u16 {
        let [a, b] = self.0.map(|letter| u16::from(letter - b'A'));
        a * LETTERS + b + 1
    }

    pub(crate) fn from_number(number: u16) -> Option<Self> {
        let index = number.checked_sub(1).filter(|i| *i < LETTERS * LETTERS)?;
        Some(Self([index / LETTERS, index % LETTERS].map(|letter| b'A' + letter as u8)))
    }
}

/// Accepts two ASCII letters of either case.
impl FromStr for Country {
    type Err = InvalidCountry;

    fn from_str(text: &str) -> Result<Self, InvalidCountry> {
        match text.as_bytes() {
            &[a, b] if a.is_ascii_alphabetic() && b.is_ascii_alphabetic() => {
                Ok(Self([a.to_ascii_uppercase(), b.to_ascii_uppercase()]))
            }
            _ => Err(InvalidCountry(text.to_owned())),
        }
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Debug for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Country({self})")
    }
}
