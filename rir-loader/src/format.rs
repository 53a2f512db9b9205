//! Formats of registry files, recognised by how a text begins.

/// Format of a text with the holders of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// RIR statistics exchange format: fields between bars (see [`crate::delegated`]).
    Delegated,
    /// RPSL (RFC 2622): the database dumps of RIPE, APNIC and AFRINIC.
    Rpsl,
    /// Bulk WHOIS text of LACNIC: like RPSL, with attributes and ranges of its own.
    Lacnic,
    /// Bulk WHOIS text of ARIN.
    ArinText,
    /// Bulk WHOIS of ARIN as XML.
    ArinXml,
    /// Routing layer: range, AS number and name, separated by commas.
    Routing,
}

/// Why a text has none of the formats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnknownFormat {
    /// Only white space and comments.
    #[error("it is empty")]
    Empty,
    /// HTML, often an error page saved under the name of the file.
    #[error("it is a web page; was an error page saved instead of the file?")]
    WebPage,
    /// XML of another kind.
    #[error("it is XML, but not the <bulkwhois> of ARIN")]
    OtherXml,
    /// UTF-16 or UTF-32.
    #[error("it is UTF-16 or UTF-32 text; convert it to UTF-8 first (`iconv -f UTF-16 -t UTF-8`)")]
    WideText,
    /// A compression other than gzip and zip.
    #[error(
        "it is packed with {0}; unpack it first, or pipe it in: `{0} -dc FILE | rir-loader stats -`"
    )]
    Compressed(&'static str),
    /// Not a text: it contains NUL bytes.
    #[error("it is binary data")]
    Binary,
    /// Text of another kind.
    #[error(
        "it is neither a delegated file, nor a WHOIS dump in RPSL, nor ARIN's or LACNIC's bulk \
         data, nor a routing layer"
    )]
    OtherText,
}

impl Format {
    /// Name in tables and in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delegated => "delegated",
            Self::Rpsl => "rpsl",
            Self::Lacnic => "lacnic",
            Self::ArinText => "arin",
            Self::ArinXml => "arin-xml",
            Self::Routing => store::generations::Source::ROUTES,
        }
    }
}
