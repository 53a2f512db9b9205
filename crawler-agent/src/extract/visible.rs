//! Visible text of a page, its title and headings, and the texts of its links, from tokens.

use std::mem;

use htmlize::unescape;
use memchr::memchr;

use super::{
    TEXT_BYTES, TEXT_COPIES,
    elements::{Name, OpenElements, TextKind},
    text::CollapsedText,
    tokenizer::Token,
};

/// Longest title, in bytes.
const TITLE_BYTES: usize = 1_024;

/// Longest text of a link that is taken, in bytes.
const ANCHOR_BYTES: usize = 200;

/// Longest text of a heading that is taken, in bytes.
const HEADING_BYTES: usize = 200;

/// Longest text of all headings of a page, in bytes; later ones are left out.
const HEADINGS_BYTES: usize = 4 << 10;

/// Most bytes of the elements for readers without scripts that are taken.
const NOSCRIPT_BYTES: usize = 64 << 10;

/// Text of a page so far.
#[derive(Debug)]
pub(super) struct VisibleText {
    /// Text of the page's subject.
    pub(super) main: CollapsedText,
    /// Text of navigation and other boilerplate.
    pub(super) boilerplate: CollapsedText,
    pub(super) title: CollapsedText,
    /// Headings that have ended, a line each.
    pub(super) headings: String,
    /// What is in elements for readers without scripts, as it is written.
    pub(super) noscript: String,
    heading: CollapsedText,
    /// Text of the last link; none when it was not taken, or has ended.
    anchor: Option<CollapsedText>,
    open: OpenElements,
    /// The current text node from its first entity on. Entities are decoded only when the node is
    /// complete, because a piece may end inside one.
    node: String,
}

impl Default for VisibleText {
    fn default() -> Self {
        Self {
            main: CollapsedText::new(TEXT_BYTES),
            boilerplate: CollapsedText::new(TEXT_BYTES),
            title: CollapsedText::new(TITLE_BYTES),
            headings: String::new(),
            noscript: String::new(),
            heading: CollapsedText::new(HEADING_BYTES),
            anchor: None,
            open: OpenElements::default(),
            node: String::new(),
        }
    }
}

impl VisibleText {
    /// The text of a page that is plain text.
    pub(super) fn of_text(text: CollapsedText) -> Self {
        Self { main: text, ..Self::default() }
    }

    /// Takes the next token; returns whether the text after it is raw.
    pub(super) fn take(&mut self, token: Token<'_>) -> bool {
        match token {
            Token::Text(text) => self.piece(text),
            Token::Comment => self.end_node(),
            Token::End(name) => self.end(name),
            Token::Start { name, self_closing } => return self.start(name, self_closing),
        }
        false
    }

    /// Ends the page.
    pub(super) fn finish(&mut self) {
        self.end_node();
        self.end_heading();
    }

    /// Starts the text of a link.
    pub(super) fn start_anchor(&mut self) {
        self.anchor = Some(CollapsedText::new(ANCHOR_BYTES));
    }

    /// Ends the text of the last link; none when there is no link, or when it has ended.
    pub(super) fn end_anchor(&mut self) -> Option<CollapsedText> {
        // The parser reports a link before its tag arrives here.
        self.end_node();
        self.anchor.take()
    }

    /// Elements that were opened so far.
    pub(super) fn opened(&self) -> usize {
        self.open.opened()
    }

    /// Memory of the text and of the document that becomes of it, in bytes.
    pub(super) fn held(&self) -> usize {
        let text = self.main.capacity() + self.boilerplate.capacity();
        let written = self.noscript.capacity() + self.node.capacity();
        TEXT_COPIES * (text + self.headings.capacity()) + written
    }

    /// Opens an element; returns whether its text is raw.
    fn start(&mut self, name: Name, self_closing: bool) -> bool {
        self.end_text(name);
        // A heading ends where another one begins.
        if name.is_heading() {
            self.end_heading();
        }
        self.open.start(name, self_closing)
    }

    fn end(&mut self, name: Name) {
        self.end_text(name);
        self.open.end(name);
        if !self.open.is_in_heading() {
            self.end_heading();
        }
    }

    /// Ends the text before a tag of this name.
    fn end_text(&mut self, name: Name) {
        self.end_node();
        if name.separates_words() {
            self.break_word();
        }
    }

    fn end_heading(&mut self) {
        if self.heading.is_empty() {
            return;
        }
        let heading = mem::replace(&mut self.heading, CollapsedText::new(HEADING_BYTES));
        let heading = heading.as_str();
        if self.headings.len() + heading.len() < HEADINGS_BYTES {
            if !self.headings.is_empty() {
                self.headings.push('\n');
            }
            self.headings.push_str(heading);
        }
    }

    fn piece(&mut self, text: &str) {
        let kind = self.open.text_kind();
        if kind == TextKind::Hidden {
            if self.open.is_in_noscript() {
                self.noscript(text);
            }
            return;
        }
        // A title is taken when it is complete, so that a second one cannot extend it.
        let at_once = kind != TextKind::Title && self.node.is_empty();
        if at_once && memchr(b'&', text.as_bytes()).is_none() {
            self.add(kind, text);
        } else if self.node.len() < TEXT_BYTES {
            self.node.push_str(text);
        }
    }

    fn noscript(&mut self, html: &str) {
        let room = NOSCRIPT_BYTES - self.noscript.len();
        self.noscript.push_str(&html[..html.floor_char_boundary(room)]);
    }

    fn end_node(&mut self) {
        if self.node.is_empty() {
            return;
        }
        let node = mem::take(&mut self.node);
        let kind = self.open.text_kind();
        // Only the first title counts.
        if kind != TextKind::Title || self.title.is_empty() {
            self.add(kind, &unescape(node.as_str()));
        }
        // The node keeps its memory for the next one.
        self.node = node;
        self.node.clear();
    }

    fn add(&mut self, kind: TextKind, text: &str) {
        match kind {
            TextKind::Main => self.main.push(text),
            TextKind::Boilerplate => self.boilerplate.push(text),
            TextKind::Title => self.title.push(text),
            TextKind::Hidden => return,
        }
        if self.open.is_in_heading() {
            self.heading.push(text);
        }
        if let Some(anchor) = self.anchor.as_mut().filter(|_| self.open.is_in_anchor()) {
            anchor.push(text);
        }
    }

    fn break_word(&mut self) {
        self.main.break_word();
        self.boilerplate.break_word();
        self.heading.break_word();
        self.anchor.iter_mut().for_each(CollapsedText::break_word);
    }
}

#[cfg(test)]
mod tests {
    use crate::extract::tests::extract;

    #[test]
    fn headings_are_those_of_the_subject() {
        let headings = |html: &str| extract(html.as_bytes()).headings;
        assert_eq!(headings("<h1>The <b>f</b>irst</h1>text<h6>and\n last"), "The first\nand last");
        assert_eq!(headings("<nav><h2>Menu</h2></nav><h2>A &amp; <a href=/>B</a></h2>c"), "A & B");
        assert_eq!(
            headings("<h2>forgotten<h3>next</h3>text<div><h2>in</div>text"),
            "forgotten\nnext\nin"
        );
        assert_eq!(headings("<h2>wrong end</h3>text<h2>right</h2>"), "wrong end\nright");
        assert_eq!(headings("<h1><img></h1><h2> </h2>text"), "");
        let many = (0..9_000).map(|n| format!("<h2>{n}</h2>")).collect::<Vec<_>>().concat();
        assert!((3 << 10..=4 << 10).contains(&headings(&many).len()));
        assert!(headings(&format!("<h1>{}", "long ".repeat(9_000))).len() <= 200);
    }
}
