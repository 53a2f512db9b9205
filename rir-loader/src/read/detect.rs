//! Recognises the format of a text by its first bytes.

use crate::format::{Format, UnknownFormat};
use crate::routing;

/// Recognises the format of a text by its first bytes.
pub fn detect_format(head: &[u8]) -> Result<Format, UnknownFormat> {
    reject_binary(head)?;
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let first = lines
        .find(|line| !matches!(line.first(), None | Some(b'#' | b'%')))
        .ok_or(UnknownFormat::Empty)?;
    if first.starts_with(b"<") {
        return detect_xml(head);
    }
    if first.split(|byte| *byte == b'|').count() >= 4 {
        return Ok(Format::Delegated);
    }
    if routing::is_first_line(first) {
        return Ok(Format::Routing);
    }
    let key = attribute_key(first).ok_or(UnknownFormat::OtherText)?;
    Ok(detect_objects(key, head))
}

fn reject_binary(head: &[u8]) -> Result<(), UnknownFormat> {
    const COMPRESSED: [(&[u8], &str); 4] = [
        (b"BZh", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\x04\x22\x4d\x18", "lz4"),
    ];
    if let Some((_, program)) = COMPRESSED.into_iter().find(|(magic, _)| head.starts_with(magic)) {
        return Err(UnknownFormat::Compressed(program));
    }
    if head.starts_with(b"\xff\xfe") || head.starts_with(b"\xfe\xff") {
        return Err(UnknownFormat::WideText);
    }
    let start = &head[..head.len().min(512)];
    let [even, odd] =
        [0, 1].map(|parity| start.iter().skip(parity).step_by(2).filter(|b| **b == 0).count());
    // In UTF-16, every other byte of an ASCII letter is zero.
    match (even, odd) {
        (0, 0) => Ok(()),
        (0, zeros) | (zeros, 0) if zeros * 3 > start.len() => Err(UnknownFormat::WideText),
        _ => Err(UnknownFormat::Binary),
    }
}

fn detect_xml(head: &[u8]) -> Result<Format, UnknownFormat> {
    let text = String::from_utf8_lossy(head).to_ascii_lowercase();
    if text.contains("<bulkwhois") || text.contains(":bulkwhois") {
        Ok(Format::ArinXml)
    } else if text.contains("<html") || text.contains("<!doctype html") {
        Err(UnknownFormat::WebPage)
    } else {
        Err(UnknownFormat::OtherXml)
    }
}

/// The key before the colon, where the line can be an attribute.
fn attribute_key(line: &[u8]) -> Option<&[u8]> {
    let colon = line.iter().position(|byte| *byte == b':')?;
    let key = &line[..colon];
    let is_key_byte = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_/*".contains(byte);
    (!key.is_empty() && key.len() <= 32 && key.iter().all(is_key_byte)).then_some(key)
}

/// ARIN writes `NetHandle:`, the others `inetnum:`. Only LACNIC names the range above
/// (`inetnum-up:`).
fn detect_objects(first_key: &[u8], head: &[u8]) -> Format {
    if first_key[0].is_ascii_uppercase() && first_key.iter().any(u8::is_ascii_lowercase) {
        return Format::ArinText;
    }
    let is_lacnic = |line: &[u8]| {
        let source = line.strip_prefix(b"source:");
        line.starts_with(b"inetnum-up:")
            || source.is_some_and(|source| source.trim_ascii().starts_with(b"LACNIC"))
    };
    let mut lines = head.split(|byte| *byte == b'\n');
    if lines.any(is_lacnic) { Format::Lacnic } else { Format::Rpsl }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_format_is_recognised_by_the_first_lines() {
        for (head, format) in [
            ("2|ripencc|1|1|||\n", Format::Delegated),
            ("# a comment\n\n2.3|apnic|1|1|||\n", Format::Delegated),
            ("% terms\n\ninetnum: 192.0.2.0 - 192.0.2.9\nsource: RIPE\n", Format::Rpsl),
            ("person: A\n", Format::Rpsl),
            ("inetnum: 192.0.2/24\ninetnum-up: 192.0/16\n", Format::Lacnic),
            ("aut-num: 1\nsource:  LACNIC\n", Format::Lacnic),
            ("\n\nASHandle:       AS0\n", Format::ArinText),
            ("<?xml version=\"1.0\"?><bulkwhois xmlns=\"http://www.arin.net/\">", Format::ArinXml),
            ("192.0.2.0,192.0.2.255,64496,EXAMPLE\n", Format::Routing),
        ] {
            assert_eq!(detect_format(head.as_bytes()), Ok(format), "{head}");
        }
    }

    #[test]
    fn an_unknown_format_is_named() {
        for (head, why) in [
            (&b""[..], UnknownFormat::Empty),
            (b"# nothing\n\n", UnknownFormat::Empty),
            (b"<!DOCTYPE html>\n<title>404</title>", UnknownFormat::WebPage),
            (b"<?xml version=\"1.0\"?><rss/>", UnknownFormat::OtherXml),
            (b"\xff\xfei\0n\0e\0t\0", UnknownFormat::WideText),
            (b"i\0n\0e\0t\0n\0u\0m\0:\0", UnknownFormat::WideText),
            (b"BZh91AY", UnknownFormat::Compressed("bzip2")),
            (b"abc\0\0\0", UnknownFormat::Binary),
            (b"hello world\n", UnknownFormat::OtherText),
            (b"some sentence: with a colon\n", UnknownFormat::OtherText),
        ] {
            assert_eq!(detect_format(head), Err(why), "{head:?}");
        }
    }
}
