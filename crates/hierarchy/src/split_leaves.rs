//! How large leaves are split into virtual subnets.

/// Leaves larger than a prefix of one length are split into prefixes of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SplitLeaves {
    /// A leaf with more addresses than a prefix of this length is split.
    pub above: u8,
    /// Length of the prefixes it is split into.
    pub into: u8,
}

/// A text that is not `ABOVE/INTO`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{text}` is not ABOVE/INTO, two prefix lengths up to {longest} of which the second is longer, \
     for example 16/22"
)]
pub struct InvalidSplit {
    text: String,
    longest: u8,
}

impl SplitLeaves {
    /// Parses a text such as `16/22` about IPv4.
    pub fn parse_v4(text: &str) -> Result<Self, InvalidSplit> {
        Self::parse(text, 32)
    }

    /// Parses a text such as `32/40` about IPv6.
    pub fn parse_v6(text: &str) -> Result<Self, InvalidSplit> {
        Self::parse(text, 128)
    }

    fn parse(text: &str, longest: u8) -> Result<Self, InvalidSplit> {
        let parts = text
            .split_once('/')
            .and_then(|(above, into)| Some((above.parse().ok()?, into.parse().ok()?)));
        let valid = parts.filter(|(above, into): &(u8, u8)| above < into && *into <= longest);
        let invalid = || InvalidSplit { text: text.to_owned(), longest };
        valid.map(|(above, into)| Self { above, into }).ok_or_else(invalid)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_two_lengths_of_the_family() {
        assert_eq!(SplitLeaves::parse_v4("16/22"), Ok(SplitLeaves { above: 16, into: 22 }));
        assert_eq!(SplitLeaves::parse_v6("32/128"), Ok(SplitLeaves { above: 32, into: 128 }));
        for wrong in ["16", "22/16", "16/16", "16/33", "16/129", "/", "a/b", ""] {
            assert!(SplitLeaves::parse_v4(wrong).is_err(), "{wrong}");
        }
        assert!(SplitLeaves::parse_v6("16/129").is_err());
    }
}
