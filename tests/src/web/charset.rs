//! Encodings of pages, and how a page declares its own.

use std::borrow::Cow;

use encoding_rs::Encoding;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Charset {
    #[default]
    Utf8,
    Latin1,
    Latin2,
    Latin5,
    Greek,
    Windows1251,
    Windows1256,
    Koi8R,
    ShiftJis,
    EucJp,
    EucKr,
    Gb18030,
}

impl Charset {
    /// The name that pages use.
    pub(super) fn label(self) -> &'static str {
        match self {
            Self::Utf8 => "utf-8",
            Self::Latin1 => "iso-8859-1",
            Self::Latin2 => "iso-8859-2",
            Self::Latin5 => "iso-8859-9",
            Self::Greek => "iso-8859-7",
            Self::Windows1251 => "windows-1251",
            Self::Windows1256 => "windows-1256",
            Self::Koi8R => "koi8-r",
            Self::ShiftJis => "shift_jis",
            Self::EucJp => "euc-jp",
            Self::EucKr => "euc-kr",
            Self::Gb18030 => "gb18030",
        }
    }

    /// The bytes of an HTML text; what the encoding lacks becomes a numeric character reference.
    pub(super) fn encode(self, html: &str) -> Vec<u8> {
        let encoding = Encoding::for_label(self.label().as_bytes()).unwrap_or(encoding_rs::UTF_8);
        let (bytes, _, _): (Cow<'_, [u8]>, _, _) = encoding.encode(html);
        bytes.into_owned()
    }
}

/// Where a page says its encoding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum CharsetLocation {
    /// In the Content-Type header.
    #[default]
    Header,
    /// By `<meta charset>` only.
    Meta,
    /// By `<meta http-equiv>` only.
    HttpEquiv,
    /// In both the header and the document.
    Both,
}

impl CharsetLocation {
    pub(super) const ALL: [Self; 4] = [Self::Header, Self::Meta, Self::HttpEquiv, Self::Both];

    pub(super) fn in_header(self) -> bool {
        matches!(self, Self::Header | Self::Both)
    }

    /// The element that says it; empty when only the header does.
    pub(super) fn element(self, charset: Charset) -> String {
        let label = charset.label();
        match self {
            Self::Header => String::new(),
            Self::Meta | Self::Both => format!("<meta charset=\"{label}\">\n"),
            Self::HttpEquiv => {
                format!(
                    "<meta http-equiv=\"Content-Type\" content=\"text/html; charset={label}\">\n"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_encoding_lacks_becomes_a_reference() {
        assert_eq!(Charset::Greek.encode("α漢"), b"\xe1&#28450;");
        assert_eq!(Charset::ShiftJis.encode("日本"), b"\x93\xfa\x96{");
    }
}
