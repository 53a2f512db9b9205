//! Character encoding: from the byte order mark, else the Content-Type header, else a meta element
//! or the XML declaration in the first kilobyte, else detected from up to 64 KiB (the order of the
//! WHATWG HTML standard, section 13.2.3.2).

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{
    CoderResult, Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED,
};

/// Bytes in which a meta element may name the encoding.
const PRESCAN_BYTES: usize = 1_024;
/// Bytes from which the encoding is detected.
const DETECT_BYTES: usize = 64 << 10;

/// Decoder that holds bytes back until the encoding is decided.
pub(super) struct CharsetDecoder {
    named: Option<&'static Encoding>,
    declared: CharsetDeclaration,
    /// Top-level domain of the document, which says what is likely; empty when unknown.
    domain: String,
    state: State,
}

/// Where a document may name its encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CharsetDeclaration {
    Nowhere,
    /// In a meta element or, of XHTML, in the XML declaration; else it is detected.
    InMeta,
    /// In the XML declaration; else it is UTF-8.
    InXml,
}

enum State {
    /// The bytes so far.
    Undecided(Vec<u8>),
    Decided(Decoder),
}

impl CharsetDecoder {
    /// `named` is the encoding of the header; `declared` says where the document may name one.
    pub(super) fn new(named: Option<&'static Encoding>, declared: CharsetDeclaration) -> Self {
        Self { named, declared, domain: String::new(), state: State::Undecided(Vec::new()) }
    }

    /// Takes the host of the document, by whose top-level domain the encoding is detected.
    pub(super) fn set_host(&mut self, host: &str) {
        let domain = host.trim_end_matches('.').rsplit('.').next().unwrap_or_default();
        // Addresses have none, and the detector demands lower case.
        let is_domain = domain.starts_with(|c: char| c.is_ascii_lowercase());
        let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        if is_domain && domain.bytes().all(is_plain) {
            domain.clone_into(&mut self.domain);
        }
    }

    /// Whether the header names an encoding in which text has bytes of zero.
    pub(super) fn is_wide(&self) -> bool {
        self.named.is_some_and(|encoding| !encoding.is_ascii_compatible())
    }

    pub(super) fn push(&mut self, bytes: &[u8], out: &mut String) {
        match &mut self.state {
            State::Decided(decoder) => decode(decoder, bytes, false, out),
            State::Undecided(head) => {
                head.extend_from_slice(bytes);
                if let Some(encoding) = decide(head, self.named, self.declared, &self.domain, false)
                {
                    self.start(encoding, out);
                }
            }
        }
    }

    /// Memory of what is held back, in bytes.
    pub(super) fn held(&self) -> usize {
        match &self.state {
            State::Undecided(head) => head.capacity(),
            State::Decided(_) => 0,
        }
    }

    /// Ends the text and returns its encoding.
    pub(super) fn finish(&mut self, out: &mut String) -> &'static Encoding {
        if let State::Undecided(head) = &self.state {
            let encoding =
                decide(head, self.named, self.declared, &self.domain, true).unwrap_or(WINDOWS_1252);
            self.start(encoding, out);
        }
        match &mut self.state {
            State::Decided(decoder) => {
                decode(decoder, b"", true, out);
                decoder.encoding()
            }
            State::Undecided(_) => WINDOWS_1252,
        }
    }

    fn start(&mut self, encoding: &'static Encoding, out: &mut String) {
        let decided = State::Decided(encoding.new_decoder_with_bom_removal());
        let State::Undecided(head) = std::mem::replace(&mut self.state, decided) else { return };
        if let State::Decided(decoder) = &mut self.state {
            decode(decoder, &head, false, out);
        }
    }
}

/// The encoding of a body that starts with `head`; none while more of it must be seen.
fn decide(
    head: &[u8],
    named: Option<&'static Encoding>,
    declared: CharsetDeclaration,
    domain: &str,
    ended: bool,
) -> Option<&'static Encoding> {
    if let Some((encoding, _)) = Encoding::for_bom(head) {
        return Some(encoding);
    }
    // The longest byte order mark has three bytes; only then can it be ruled out.
    if named.is_some() && (head.len() >= 3 || ended) {
        return named;
    }
    if head.len() < PRESCAN_BYTES && !ended {
        return None;
    }
    let start = &head[..head.len().min(PRESCAN_BYTES)];
    let found = match declared {
        CharsetDeclaration::Nowhere => None,
        CharsetDeclaration::InMeta => meta_charset(start).or_else(|| xml_charset(start)),
        CharsetDeclaration::InXml => Some(xml_charset(start).unwrap_or(UTF_8)),
    };
    found.or_else(|| (head.len() >= DETECT_BYTES || ended).then(|| detect(head, domain, ended)))
}

/// The encoding that an XML declaration names.
fn xml_charset(head: &[u8]) -> Option<&'static Encoding> {
    let declaration = head.strip_prefix(b"<?xml")?.split(|b| *b == b'>').next()?;
    let at = declaration.windows(8).position(|w| w == b"encoding")?;
    let value = declaration[at + 8..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
    let mark = value.first().filter(|mark| matches!(mark, b'"' | b'\''))?;
    let name = value[1..].split(|b| b == mark).next()?;
    // A declaration that was found by its ASCII bytes cannot be in UTF-16.
    Encoding::for_label(name).filter(|encoding| encoding.is_ascii_compatible())
}

fn detect(head: &[u8], domain: &str, ended: bool) -> &'static Encoding {
    // The detector would find the same, at a tenth of the speed of the whole extraction.
    if is_utf8(head, ended) {
        return UTF_8;
    }
    // ISO-2022-JP is refused, because its escape sequences can hide markup (as the detector
    // advises).
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(head, ended);
    let domain = (!domain.is_empty()).then_some(domain.as_bytes());
    detector.guess(domain, Utf8Detection::Allow)
}

/// Whether the bytes are UTF-8, except for a character that is cut at the end.
fn is_utf8(head: &[u8], ended: bool) -> bool {
    match std::str::from_utf8(head) {
        Ok(_) => true,
        Err(error) => error.error_len().is_none() && !ended,
    }
}

/// The encoding that a meta element names. The search is slightly more lenient than the prescan of
/// the standard.
fn meta_charset(head: &[u8]) -> Option<&'static Encoding> {
    let head = head.to_ascii_lowercase();
    let tags = head.split(|b| *b == b'<').filter(|tag| tag.starts_with(b"meta"));
    let mut declared = tags.filter_map(|tag| {
        let tag = tag.split(|b| *b == b'>').next()?;
        let at = tag.windows(7).position(|w| w == b"charset")?;
        let value = tag[at + 7..].trim_ascii_start().strip_prefix(b"=")?.trim_ascii_start();
        let value = value.strip_prefix(b"\"").or(value.strip_prefix(b"'")).unwrap_or(value);
        let end = value.iter().position(|b| b" \t\r\n\x0c\"';/".contains(b)).unwrap_or(value.len());
        Encoding::for_label(&value[..end])
    });
    // A meta element that was found by its ASCII bytes cannot be in UTF-16 (section 13.2.3.2).
    declared.next().map(|encoding| match encoding {
        e if e == UTF_16BE || e == UTF_16LE => UTF_8,
        e if e == X_USER_DEFINED => WINDOWS_1252,
        e => e,
    })
}

fn decode(decoder: &mut Decoder, mut bytes: &[u8], last: bool, out: &mut String) {
    loop {
        out.reserve(
            decoder.max_utf8_buffer_length(bytes.len()).unwrap_or(bytes.len() + 64).max(16),
        );
        let (result, read, _) = decoder.decode_to_string(bytes, out, last);
        bytes = &bytes[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn by_detector(head: &[u8], ended: bool) -> &'static Encoding {
        let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
        detector.feed(head, ended);
        detector.guess(None, Utf8Detection::Allow)
    }

    #[test]
    fn the_top_level_domain_decides_what_the_text_leaves_open() {
        let found = |host: &str| {
            let mut decoder = CharsetDecoder::new(None, CharsetDeclaration::InMeta);
            decoder.set_host(host);
            let mut text = String::new();
            decoder.push(b"\xf0\xf2\xe9", &mut text);
            decoder.finish(&mut text).name()
        };
        assert_eq!(found("www.e.ru"), "KOI8-U");
        for host in ["", "192.0.2.1", "[2001:db8::1]", "E.RU", "\u{444}"] {
            assert_eq!(found(host), "windows-1255", "{host}");
        }
    }

    proptest! {
        /// What is found without the detector is what the detector finds.
        #[test]
        fn short_cuts_change_nothing(text in "[a-z<> ]{0,40}\\PC{0,20}", cut in 0_usize..4) {
            let head = &text.as_bytes()[..text.len().saturating_sub(cut)];
            for ended in [false, true] {
                prop_assert_eq!(detect(head, "", ended), by_detector(head, ended));
            }
        }

        #[test]
        fn neither_do_they_for_ascii(head in prop::collection::vec(0_u8..128, 0..100)) {
            prop_assert_eq!(detect(&head, "", true), by_detector(&head, true));
        }
    }
}
