//! Bytes that a signature covers: fields in a fixed order, each behind its length, so that no two
//! messages have the same bytes.

/// Fields of a message to be signed.
#[derive(Debug, Default)]
pub(crate) struct SignedFields(Vec<u8>);

impl SignedFields {
    /// Adds any bytes.
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(&(bytes.len() as u64).to_be_bytes());
        self.0.extend_from_slice(bytes);
        self
    }

    /// Adds a text.
    pub(crate) fn text(self, text: &str) -> Self {
        self.bytes(text.as_bytes())
    }

    /// Adds a number.
    pub(crate) fn number(self, number: i64) -> Self {
        self.bytes(&number.to_be_bytes())
    }

    /// Adds a list of texts, with its length.
    pub(crate) fn texts(self, texts: &[String]) -> Self {
        let counted = self.bytes(&(texts.len() as u64).to_be_bytes());
        texts.iter().fold(counted, |fields, text| fields.text(text))
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cannot_be_shifted() {
        let of = |a: &str, b: &str| SignedFields::default().text(a).text(b).0;
        assert_ne!(of("ab", "c"), of("a", "bc"));
        assert_ne!(of("a", ""), of("", "a"));
        let list = |texts: &[&str], more: &str| {
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            SignedFields::default().texts(&texts).text(more).0
        };
        assert_ne!(list(&["a"], "b"), list(&["a", "b"], ""));
        assert_ne!(list(&[], "a"), list(&["a"], ""));
    }
}
