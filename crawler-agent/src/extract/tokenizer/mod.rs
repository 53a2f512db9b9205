//! Tokens of HTML: text and tags, the latter without their attributes.
//!
//! The rules are those of the HTML standard as far as they decide what is text. Input may end
//! anywhere; what cannot be decided yet is kept until more comes.

mod places;
mod raw;

use memchr::memchr;

use super::elements::Name;
use places::{CommentEnd, Place};
use raw::{RawStep, RawText};

/// Most bytes of a name that count. It bounds what has to be kept of a tag that is not complete.
const NAME_BYTES: usize = 64;

/// A part of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// Text, or a piece of it, with its entities.
    Text(&'t str),
    /// A start tag.
    Start {
        /// Name of the element.
        name: Name,
        /// Whether the tag ends with a slash.
        self_closing: bool,
    },
    /// An end tag.
    End(Name),
    /// A comment or another declaration.
    Comment,
}

/// Splits HTML into tokens.
#[derive(Debug, Default)]
pub(super) struct Tokenizer {
    state: State,
    /// Input that cannot be decided yet: the beginning of a tag or of a comment.
    undecided: String,
}

#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    Text,
    Raw(RawText),
    Attributes(Tag, Place),
    Comment(CommentEnd),
    Declaration,
}

#[derive(Debug, Clone, Copy)]
struct Tag {
    name: Name,
    is_end: bool,
}

/// What was read: a number of bytes, and the token that they complete.
struct Step<'t> {
    bytes: usize,
    token: Option<Token<'t>>,
}

impl Tokenizer {
    /// Reads `html` and gives its tokens to `take`, which says whether the text after the token is
    /// raw.
    pub(super) fn read(&mut self, html: &str, mut take: impl FnMut(Token<'_>) -> bool) {
        self.read_with_ends(html, |token, _| take(token));
    }

    /// Like [`Self::read`], but `take` also gets the place in `html` at which the token ends.
    pub(super) fn read_with_ends(
        &mut self,
        html: &str,
        mut take: impl FnMut(Token<'_>, usize) -> bool,
    ) {
        if self.undecided.is_empty() {
            let decided = self.read_decided(html, &mut take);
            self.undecided.push_str(&html[decided..]);
            return;
        }
        let mut joined = std::mem::take(&mut self.undecided);
        let before = joined.len();
        joined.push_str(html);
        let decided =
            self.read_decided(&joined, &mut |token, end| take(token, end.saturating_sub(before)));
        joined.drain(..decided);
        self.undecided = joined;
    }

    /// Ends the page.
    pub(super) fn finish(&mut self, mut take: impl FnMut(Token<'_>) -> bool) {
        let rest = std::mem::take(&mut self.undecided);
        let is_text = matches!(self.state, State::Raw(_)) || matches!(rest.as_str(), "<" | "</");
        if is_text && !rest.is_empty() {
            take(Token::Text(&rest));
        }
    }

    /// Returns how many bytes could be decided.
    fn read_decided(
        &mut self,
        html: &str,
        take: &mut impl FnMut(Token<'_>, usize) -> bool,
    ) -> usize {
        let mut rest = html;
        while !rest.is_empty() {
            let Some(Step { bytes, token }) = self.step(rest) else { break };
            rest = &rest[bytes..];
            let Some(token) = token else { continue };
            let is_raw = take(token, html.len() - rest.len());
            if let Token::Start { name, .. } = token
                && is_raw
            {
                self.state = State::Raw(RawText::of(name));
            }
        }
        html.len() - rest.len()
    }

    /// The next step; none when more input is needed.
    fn step<'t>(&mut self, html: &'t str) -> Option<Step<'t>> {
        match self.state {
            State::Text => self.text(html),
            State::Raw(raw) => self.raw_text(raw, html),
            State::Attributes(tag, place) => Some(self.attributes(tag, place, html)),
            State::Comment(end) => Some(self.comment(end, html)),
            State::Declaration => Some(self.declaration(html)),
        }
    }

    fn text<'t>(&mut self, html: &'t str) -> Option<Step<'t>> {
        let bytes = html.as_bytes();
        match memchr(b'<', bytes) {
            None => return Some(Step::text(html)),
            Some(0) => {}
            Some(end) => return Some(Step::text(&html[..end])),
        }
        match *bytes.get(1)? {
            b'/' => match *bytes.get(2)? {
                b'>' => Some(Step::markup(3)),
                byte if byte.is_ascii_alphabetic() => self.tag(html, 2),
                _ => Some(self.enter(State::Declaration, 2)),
            },
            b'!' if html.starts_with("<!--") => {
                Some(self.enter(State::Comment(CommentEnd::Start), 4))
            }
            b'!' if "<!--".starts_with(html) => None,
            b'!' | b'?' => Some(self.enter(State::Declaration, 2)),
            byte if byte.is_ascii_alphabetic() => self.tag(html, 1),
            _ => Some(Step::text(&html[..1])),
        }
    }

    /// Reads a tag whose name begins at `start` up to the end of the name.
    fn tag<'t>(&mut self, html: &'t str, start: usize) -> Option<Step<'t>> {
        let most = html.floor_char_boundary(start + NAME_BYTES);
        let name = &html.as_bytes()[start..most];
        let length = name.iter().position(|byte| ends_name(*byte));
        // More of the name may follow.
        let length = length.or_else(|| (html.len() >= start + NAME_BYTES).then_some(name.len()))?;
        let tag = Tag { name: Name::of(&name[..length]), is_end: start == 2 };
        Some(self.enter(State::Attributes(tag, Place::BeforeName), start + length))
    }

    fn attributes<'t>(&mut self, tag: Tag, place: Place, html: &'t str) -> Step<'t> {
        let bytes = html.as_bytes();
        let mut place = place;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if let Place::Quoted(mark) = place {
                let Some(length) = memchr(mark, &bytes[at..]) else { break };
                at += length + 1;
                place = Place::BeforeName;
                continue;
            }
            at += 1;
            if byte == b'>' {
                self.state = State::Text;
                return Step { bytes: at, token: Some(tag.token(place == Place::AfterSlash)) };
            }
            place = place.after(byte);
        }
        self.enter(State::Attributes(tag, place), bytes.len())
    }

    fn comment<'t>(&mut self, end: CommentEnd, html: &'t str) -> Step<'t> {
        let bytes = html.as_bytes();
        let mut end = end;
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            if end == CommentEnd::None {
                let Some(length) = memchr(b'-', &bytes[at..]) else { break };
                at += length + 1;
                end = CommentEnd::Dash;
                continue;
            }
            at += 1;
            if byte == b'>' && end.is_complete() {
                self.state = State::Text;
                return Step { bytes: at, token: Some(Token::Comment) };
            }
            end = end.after(byte);
        }
        self.enter(State::Comment(end), bytes.len())
    }

    fn declaration<'t>(&mut self, html: &'t str) -> Step<'t> {
        let Some(end) = memchr(b'>', html.as_bytes()) else { return Step::markup(html.len()) };
        self.state = State::Text;
        Step { bytes: end + 1, token: Some(Token::Comment) }
    }

    fn raw_text<'t>(&mut self, raw: RawText, html: &'t str) -> Option<Step<'t>> {
        match raw.step(html)? {
            RawStep::Text { bytes, next } => {
                self.state = State::Raw(next);
                Some(Step::text(&html[..bytes]))
            }
            RawStep::EndTag { bytes } => {
                let tag = Tag { name: raw.name(), is_end: true };
                Some(self.enter(State::Attributes(tag, Place::BeforeName), bytes))
            }
        }
    }

    fn enter<'t>(&mut self, state: State, bytes: usize) -> Step<'t> {
        self.state = state;
        Step::markup(bytes)
    }
}

impl<'t> Step<'t> {
    fn text(text: &'t str) -> Self {
        Self { bytes: text.len(), token: Some(Token::Text(text)) }
    }

    fn markup(bytes: usize) -> Self {
        Self { bytes, token: None }
    }
}

impl Tag {
    fn token(self, self_closing: bool) -> Token<'static> {
        let Self { name, is_end } = self;
        if is_end { Token::End(name) } else { Token::Start { name, self_closing } }
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | b'\x0c')
}

fn ends_name(byte: u8) -> bool {
    is_space(byte) || matches!(byte, b'/' | b'>')
}

#[cfg(test)]
mod tests;
