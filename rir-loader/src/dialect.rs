//! Which way of writing a text is in, told by its beginning.

/// A way of writing who holds which addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Dialect {
    /// The statistics of a registry: fields between bars (see [`crate::delegated`]).
    Delegated,
    /// RPSL (RFC 2622), as RIPE, APNIC and AFRINIC dump their databases.
    Rpsl,
    /// The bulk WHOIS text of LACNIC: like RPSL, with attributes and ranges of its own.
    Lacnic,
    /// The bulk WHOIS text of ARIN.
    ArinText,
    /// The bulk WHOIS of ARIN as XML.
    ArinXml,
    /// A routing layer: range, AS number and name, separated by commas.
    Routing,
}

/// What a text is that nothing can be read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Foreign {
    /// No bytes but white space and comments.
    #[error("it is empty")]
    Empty,
    /// A page for a browser, often an error page that was saved under a file's name.
    #[error("it is a web page; was an error page saved instead of the file?")]
    WebPage,
    /// Some other XML.
    #[error("it is XML, but not the <bulkwhois> of ARIN")]
    OtherXml,
    /// UTF-16 or UTF-32.
    #[error("it is UTF-16 or UTF-32 text; convert it to UTF-8 first (`iconv -f UTF-16 -t UTF-8`)")]
    WideText,
    /// Packed in a way that is not unpacked here.
    #[error(
        "it is packed with {0}; unpack it first, or pipe it in: `{0} -dc FILE | rir-loader stats -`"
    )]
    Packed(&'static str),
    /// NUL bytes and the like.
    #[error("it is binary data")]
    Binary,
    /// Text of some other kind.
    #[error(
        "it is neither a delegated file, nor a WHOIS dump in RPSL, nor ARIN's or LACNIC's bulk data, nor a routing layer"
    )]
    Unknown,
}

/// The dialect of a text that begins like this.
pub fn dialect_of(head: &[u8]) -> Result<Dialect, Foreign> {
    foreign_bytes(head)?;
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let said =
        |line: &&[u8]| !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%");
    let first = lines.find(said).ok_or(Foreign::Empty)?;
    if first.starts_with(b"<") {
        return markup(head);
    }
    if first.split(|byte| *byte == b'|').count() >= 4 {
        return Ok(Dialect::Delegated);
    }
    if crate::routing::is_first_line(first) {
        return Ok(Dialect::Routing);
    }
    let key = key_of(first).ok_or(Foreign::Unknown)?;
    Ok(colon_dialect(key, head))
}

fn foreign_bytes(head: &[u8]) -> Result<(), Foreign> {
    const PACKED: [(&[u8], &str); 4] = [
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x04\x22\x4d\x18", "lz4"),
    ];
    if let Some((_, by)) = PACKED.into_iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(Foreign::Packed(by));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(Foreign::WideText);
    }
    let start = &head[..head.len().min(512)];
    let [even, odd] =
        [0, 1].map(|parity| memchr::memchr_iter(0, start).filter(|at| at % 2 == parity).count());
    // Every other byte of ASCII in UTF-16 is zero.
    match (even, odd) {
        (0, 0) => Ok(()),
        (0, zeros) | (zeros, 0) if zeros * 3 > start.len() => Err(Foreign::WideText),
        _ => Err(Foreign::Binary),
    }
}

fn markup(head: &[u8]) -> Result<Dialect, Foreign> {
    let has = |needle: &[u8]| memchr::memmem::find(head, needle).is_some();
    if has(b"<bulkwhois") || has(b":bulkwhois") {
        Ok(Dialect::ArinXml)
    } else if has(b"<html") || has(b"<HTML") || has(b"<!DOCTYPE html") || has(b"<!doctype html") {
        Err(Foreign::WebPage)
    } else {
        Err(Foreign::OtherXml)
    }
}

/// The name before the colon, when it can be one.
fn key_of(line: &[u8]) -> Option<&[u8]> {
    let key = &line[..memchr::memchr(b':', line)?];
    let letter = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_/*".contains(byte);
    (!key.is_empty() && key.len() <= 32 && key.iter().all(letter)).then_some(key)
}

/// ARIN writes `NetHandle:`, the others `inetnum:`; only LACNIC has an `owner:` and a status of one
/// word.
fn colon_dialect(first_key: &[u8], head: &[u8]) -> Dialect {
    if first_key.first().is_some_and(u8::is_ascii_uppercase)
        && first_key.iter().any(u8::is_ascii_lowercase)
    {
        return Dialect::ArinText;
    }
    let lacnic = |line: &[u8]| {
        line.starts_with(b"inetnum-up:")
            || line
                .strip_prefix(b"source:")
                .is_some_and(|source| source.trim_ascii().starts_with(b"LACNIC"))
    };
    let lines = head.split(|byte| *byte == b'\n');
    if lines.into_iter().any(lacnic) { Dialect::Lacnic } else { Dialect::Rpsl }
}

impl Dialect {
    /// A few letters for a table and for JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Delegated => "delegated",
            Self::Rpsl => "rpsl",
            Self::Lacnic => "lacnic",
            Self::ArinText => "arin",
            Self::ArinXml => "arin-xml",
            Self::Routing => "routing",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_tells_the_dialect() {
        for (head, dialect) in [
            ("2|ripencc|1|1|||\n", Dialect::Delegated),
            ("# a comment\n\n2.3|apnic|1|1|||\n", Dialect::Delegated),
            ("% terms\n\ninetnum: 192.0.2.0 - 192.0.2.9\nsource: RIPE\n", Dialect::Rpsl),
            ("person: A\n", Dialect::Rpsl),
            ("inetnum: 192.0.2/24\ninetnum-up: 192.0/16\n", Dialect::Lacnic),
            ("aut-num: 1\nsource:  LACNIC\n", Dialect::Lacnic),
            ("\n\nASHandle:       AS0\n", Dialect::ArinText),
            ("<?xml version=\"1.0\"?><bulkwhois xmlns=\"http://www.arin.net/\">", Dialect::ArinXml),
            ("192.0.2.0,192.0.2.255,64496,EXAMPLE\n", Dialect::Routing),
        ] {
            assert_eq!(dialect_of(head.as_bytes()), Ok(dialect), "{head}");
        }
    }

    #[test]
    fn what_is_foreign_is_named() {
        for (head, why) in [
            (&b""[..], Foreign::Empty),
            (b"# nothing\n\n", Foreign::Empty),
            (b"<!DOCTYPE html>\n<title>404</title>", Foreign::WebPage),
            (b"<?xml version=\"1.0\"?><rss/>", Foreign::OtherXml),
            (b"\xff\xfei\0n\0e\0t\0", Foreign::WideText),
            (b"i\0n\0e\0t\0n\0u\0m\0:\0", Foreign::WideText),
            (b"BZh91AY", Foreign::Packed("bzip2")),
            (b"abc\0\0\0", Foreign::Binary),
            (b"hello world\n", Foreign::Unknown),
            (b"some sentence: with a colon\n", Foreign::Unknown),
        ] {
            assert_eq!(dialect_of(head), Err(why), "{head:?}");
        }
    }
}
