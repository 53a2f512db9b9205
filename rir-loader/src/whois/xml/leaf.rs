//! Elements with a plain text in them and nothing else, without the parser.

use memchr::memchr2;

/// An element that has no attributes, a name of ASCII letters, digits and hyphens, and holds ASCII
/// text without references.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Leaf<'t> {
    pub(super) name: &'t [u8],
    pub(super) text: &'t [u8],
    /// What comes after it.
    pub(super) behind: &'t [u8],
}

impl<'t> Leaf<'t> {
    /// The leaf that a text begins with, blanks aside. Where there is none, or only a part of one,
    /// the parser is to find out what there is.
    pub(super) fn at_start(text: &'t [u8]) -> Option<Self> {
        let tag = text.trim_ascii_start().strip_prefix(b"<")?;
        let end = tag
            .iter()
            .position(|byte| !byte.is_ascii_alphanumeric() && *byte != b'-')
            .filter(|end| *end > 0)?;
        let (name, content) = (&tag[..end], tag[end..].strip_prefix(b">")?);
        let (text, end_tag) = content.split_at(memchr2(b'<', b'&', content)?);
        let behind = end_tag.strip_prefix(b"</")?.strip_prefix(name)?.strip_prefix(b">")?;
        text.is_ascii().then_some(Self { name, text, behind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leaf_is_found_behind_blanks() {
        let leaf = Leaf::at_start(b"\n\t<iso3166-1> N L\n</iso3166-1><net>").unwrap();
        assert_eq!(
            (leaf.name, leaf.text, leaf.behind),
            (&b"iso3166-1"[..], &b" N L\n"[..], &b"<net>"[..])
        );
        assert_eq!(Leaf::at_start(b"<a></a>").unwrap().text, b"");
        assert_eq!(Leaf::at_start(b"<a>></a>").unwrap().text, b">");
    }

    #[test]
    fn what_is_more_than_a_leaf_is_left_to_the_parser() {
        for text in [
            "",
            "text<a></a>",
            "<",
            "<>x</>",
            "</a>",
            "<a",
            "<a>",
            "<a>text",
            "<a>text<",
            "<a>text</a",
            "<a>text</b>",
            "<a>text</ab>",
            "<a>text</a >",
            "<a >text</a>",
            "<a b='c'>text</a>",
            "<a/>",
            "<p:a>text</p:a>",
            "<a><b></b></a>",
            "<a>&amp;</a>",
            "<a>caf\u{e9}</a>",
            "<a><!-- text --></a>",
            "<!-- a --><a></a>",
            "<?a?>",
            "<a><![CDATA[text]]></a>",
        ] {
            assert_eq!(Leaf::at_start(text.as_bytes()), None, "{text}");
        }
    }
}
