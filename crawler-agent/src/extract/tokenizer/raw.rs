//! Raw text: text in which only the end tag of its element is markup.

use memchr::{memchr, memchr2};

use super::{super::elements::Name, NAME_BYTES, ends_name};

/// Place inside of raw text.
#[derive(Debug, Clone, Copy)]
pub(super) struct RawText {
    /// Name of the element.
    name: Name,
    escape: Escape,
}

/// Whether a script is inside of a comment of its own, where another script may begin and end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Escape {
    None,
    Comment,
    ScriptInComment,
}

/// What was read.
pub(super) enum RawStep {
    /// So many bytes of text.
    Text { bytes: usize, next: RawText },
    /// The end tag of the element up to the end of its name.
    EndTag { bytes: usize },
}

impl RawText {
    /// The beginning of the text of an element.
    pub(super) fn of(name: Name) -> Self {
        Self { name, escape: Escape::None }
    }

    pub(super) fn name(self) -> Name {
        self.name
    }

    /// The next step in `html`; none when more input is needed.
    pub(super) fn step(self, html: &str) -> Option<RawStep> {
        let bytes = html.as_bytes();
        let mark = match self.escape {
            Escape::None => memchr(b'<', bytes),
            Escape::Comment | Escape::ScriptInComment => memchr2(b'<', b'-', bytes),
        };
        match mark {
            None => Some(self.text(html.len())),
            Some(0) if bytes[0] == b'-' => self.at_dash(html),
            Some(0) => self.at_tag(html),
            Some(end) => Some(self.text(end)),
        }
    }

    /// Reads `html`, which begins with `<`.
    fn at_tag(self, html: &str) -> Option<RawStep> {
        let bytes = html.as_bytes();
        let is_end = *bytes.get(1)? == b'/';
        let start = 1 + usize::from(is_end);
        let name = bytes[start..].iter().take(NAME_BYTES);
        let length = name.take_while(|byte| byte.is_ascii_alphabetic()).count();
        let end = start + length;
        if end == bytes.len() && length < NAME_BYTES {
            // More of the name may follow.
            return None;
        }
        let is_whole = bytes.get(end).is_some_and(|byte| ends_name(*byte));
        if is_whole && Name::of(&bytes[start..end]) == self.name {
            Some(self.own_tag(is_end, end))
        } else if self.name == Name::SCRIPT && self.escape == Escape::None {
            self.at_comment(html)
        } else {
            Some(self.text(1))
        }
    }

    /// Reads a tag with the name of the element itself.
    fn own_tag(self, is_end: bool, bytes: usize) -> RawStep {
        match (self.escape, is_end) {
            (Escape::None | Escape::Comment, true) => RawStep::EndTag { bytes },
            (Escape::Comment, false) => self.escaped(Escape::ScriptInComment, bytes),
            (Escape::ScriptInComment, true) => self.escaped(Escape::Comment, bytes),
            (Escape::None | Escape::ScriptInComment, false) => self.text(bytes),
        }
    }

    /// Reads what may be the start of a comment in a script.
    fn at_comment(self, html: &str) -> Option<RawStep> {
        if html.starts_with("<!--") {
            // The dashes may be those of the end, too.
            return Some(self.escaped(Escape::Comment, 2));
        }
        (!"<!--".starts_with(html)).then(|| self.text(1))
    }

    /// Reads what may be the end of a comment in a script.
    fn at_dash(self, html: &str) -> Option<RawStep> {
        if html.starts_with("-->") {
            return Some(self.escaped(Escape::None, 3));
        }
        (!"-->".starts_with(html)).then(|| self.text(1))
    }

    fn text(self, bytes: usize) -> RawStep {
        RawStep::Text { bytes, next: self }
    }

    fn escaped(self, escape: Escape, bytes: usize) -> RawStep {
        RawStep::Text { bytes, next: Self { escape, ..self } }
    }
}
