//! Collector: builds title, text, links and directives from the events of the parser.

use std::mem;

use htmlize::{unescape, unescape_attribute};
use lol_html::{
    html_content::{TextChunk, TextType},
    send::Element,
};
use memchr::memchr;

use super::{
    LINK_BYTES, MAX_LINKS, TEXT_BYTES, TEXT_COPIES, directives::Directives, references::Bound,
    references::References, references::Rel, tags, text::CollapsedText,
};

/// Longest title, in bytes.
const TITLE_BYTES: usize = 1_024;

/// Longest text of a link that is taken, in bytes.
const ANCHOR_BYTES: usize = 200;

/// Longest attribute value that is used, in bytes: several times the longest URL.
const VALUE_BYTES: usize = 8 << 10;

/// What was collected so far.
#[derive(Debug)]
pub(super) struct Collector {
    /// Text of the page's subject.
    pub(super) main: CollapsedText,
    /// Text of navigation and other boilerplate.
    pub(super) boilerplate: CollapsedText,
    pub(super) title: CollapsedText,
    pub(super) lang: Option<String>,
    pub(super) base: Option<String>,
    /// The URL that the page itself should have, as it is written.
    pub(super) canonical: Option<String>,
    pub(super) references: References,
    pub(super) directives: Directives,
    /// The current text node from its first entity on. Entities are decoded only when the node is
    /// complete, because a chunk may end inside one.
    node: String,
    /// Kind of the next chunk of text.
    kind: TextKind,
    /// Whether the next chunk of text is part of a link.
    is_anchor: bool,
    /// Text of the last link; none when it was not taken, or has ended.
    anchor: Option<CollapsedText>,
    /// Bytes of text that were taken and are still to come in the output of the parser.
    text_in_output: usize,
    /// Bytes that the parser has put out.
    passed: usize,
    /// Start tags in them.
    tags: usize,
}

/// Kind of a text node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum TextKind {
    #[default]
    Main,
    Boilerplate,
    Title,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            main: CollapsedText::new(TEXT_BYTES),
            boilerplate: CollapsedText::new(TEXT_BYTES),
            title: CollapsedText::new(TITLE_BYTES),
            lang: None,
            base: None,
            canonical: None,
            references: References::new(Bound { count: MAX_LINKS, bytes: LINK_BYTES }),
            directives: Directives::default(),
            node: String::new(),
            kind: TextKind::Main,
            is_anchor: false,
            anchor: None,
            text_in_output: 0,
            passed: 0,
            tags: 0,
        }
    }
}

impl Collector {
    /// The collection of a plain text.
    pub(super) fn of_text(text: CollapsedText) -> Self {
        Self { main: text, ..Self::default() }
    }

    /// Handles the start tag of an element with links or directives.
    pub(super) fn element(&mut self, element: &Element<'_, '_>) {
        match element.tag_name().as_str() {
            "html" => self.lang = self.lang.take().or_else(|| value(element, "lang")),
            "base" => self.base = self.base.take().or_else(|| value(element, "href")),
            "a" => self.link(element),
            "area" => self.reference(value(element, "href"), rel(element)),
            "frame" | "iframe" => self.reference(value(element, "src"), rel(element)),
            "link" if has_word(element, "rel", "canonical") => {
                self.canonical = self.canonical.take().or_else(|| value(element, "href"));
            }
            "meta" => self.meta(element),
            _ => {}
        }
    }

    /// Marks the next chunk of text as part of a title.
    pub(super) fn mark_title(&mut self) {
        self.kind = TextKind::Title;
    }

    /// Marks the next chunk of text as boilerplate.
    pub(super) fn mark_boilerplate(&mut self) {
        self.kind = TextKind::Boilerplate;
    }

    /// Marks the next chunk of text as part of a link.
    pub(super) fn mark_anchor(&mut self) {
        self.is_anchor = true;
    }

    /// Handles a chunk of a text node, after it was marked.
    pub(super) fn text(&mut self, chunk: &TextChunk<'_>) {
        let kind = mem::take(&mut self.kind);
        let is_anchor = mem::take(&mut self.is_anchor);
        self.text_in_output += chunk.as_str().len();
        // Skips scripts and styles, which the parser reports as other types of text.
        let wanted = match kind {
            TextKind::Title => chunk.text_type() == TextType::RCData,
            TextKind::Main | TextKind::Boilerplate => chunk.text_type() == TextType::Data,
        };
        if wanted {
            self.piece(kind, is_anchor, chunk.as_str());
        }
        if chunk.last_in_text_node() {
            self.end_node(kind, is_anchor);
        }
    }

    fn piece(&mut self, kind: TextKind, is_anchor: bool, text: &str) {
        // A title is taken as a whole, so that a second one cannot extend the first.
        let at_once = kind != TextKind::Title && self.node.is_empty();
        if at_once && memchr(b'&', text.as_bytes()).is_none() {
            self.take(kind, is_anchor, text);
        } else if self.node.len() < TEXT_BYTES {
            self.node.push_str(text);
        }
    }

    fn end_node(&mut self, kind: TextKind, is_anchor: bool) {
        let node = mem::take(&mut self.node);
        // Only the first title counts.
        if kind != TextKind::Title || self.title.is_empty() {
            self.take(kind, is_anchor, &unescape(node.as_str()));
        }
        // The node keeps its memory for the next one.
        self.node = node;
        self.node.clear();
    }

    fn take(&mut self, kind: TextKind, is_anchor: bool, text: &str) {
        let target = match kind {
            TextKind::Main => &mut self.main,
            TextKind::Boilerplate => &mut self.boilerplate,
            TextKind::Title => &mut self.title,
        };
        target.push(text);
        if let Some(anchor) = self.anchor.as_mut().filter(|_| is_anchor) {
            anchor.push(text);
        }
    }

    /// Handles the output of the parser: the text that was taken, and all markup between.
    pub(super) fn output(&mut self, document: &[u8]) {
        let text = self.text_in_output.min(document.len());
        self.text_in_output -= text;
        self.passed += document.len();
        let markup = &document[text..];
        self.tags += tags::start_tags(markup);
        if tags::separate_words(markup) {
            self.main.break_word();
            self.boilerplate.break_word();
            self.anchor.iter_mut().for_each(CollapsedText::break_word);
        }
    }

    /// Bytes that the parser is done with.
    pub(super) fn passed(&self) -> usize {
        self.passed
    }

    /// Elements so far.
    pub(super) fn tags(&self) -> usize {
        self.tags
    }

    /// Memory of the collection and of the document that becomes of it, in bytes.
    pub(super) fn held(&self) -> usize {
        let text = self.main.capacity() + self.boilerplate.capacity();
        TEXT_COPIES * text + self.node.capacity() + self.references.held()
    }

    fn link(&mut self, element: &Element<'_, '_>) {
        self.end_anchor();
        let target = value(element, "href");
        let is_taken = target.is_some_and(|target| self.references.add(target, rel(element)));
        self.anchor = is_taken.then(|| CollapsedText::new(ANCHOR_BYTES));
    }

    fn reference(&mut self, target: Option<String>, rel: Rel) {
        // Its text must not become that of the new reference.
        self.end_anchor();
        if let Some(target) = target {
            self.references.add(target, rel);
        }
    }

    /// Gives the last link the text that was collected for it.
    pub(super) fn end_anchor(&mut self) {
        if let Some(anchor) = self.anchor.take() {
            self.references.set_anchor(anchor.as_str());
        }
    }

    fn meta(&mut self, element: &Element<'_, '_>) {
        let Some(content) = value(element, "content") else { return };
        let is = |attribute: &str, word: &str| {
            value(element, attribute).is_some_and(|v| v.trim().eq_ignore_ascii_case(word))
        };
        if is("name", "robots") || is("name", crate::robots::TOKEN) {
            self.directives.add(&content);
        } else if is("http-equiv", "refresh") {
            self.reference(refresh_target(&content), Rel::default());
        } else if is("http-equiv", "content-language") {
            self.lang.get_or_insert(content);
        }
    }
}

/// The URL in a refresh directive like `3; url=next.html`.
fn refresh_target(content: &str) -> Option<String> {
    let (_, rest) = content.split_once([';', ','])?;
    let rest = rest.trim_start();
    let target = match rest.get(..3) {
        Some(word) if word.eq_ignore_ascii_case("url") => {
            rest[3..].trim_start().strip_prefix('=')?
        }
        _ => rest,
    };
    let target = target.trim().trim_matches(['"', '\'']);
    (!target.is_empty()).then(|| target.to_owned())
}

fn value(element: &Element<'_, '_>, attribute: &str) -> Option<String> {
    let raw = element.get_attribute(attribute).filter(|raw| raw.len() <= VALUE_BYTES)?;
    Some(unescape_attribute(raw).into_owned())
}

fn rel(element: &Element<'_, '_>) -> Rel {
    value(element, "rel").map_or_else(Rel::default, |words| Rel::of_words(&words))
}

fn has_word(element: &Element<'_, '_>, attribute: &str, word: &str) -> bool {
    value(element, attribute)
        .is_some_and(|v| v.split_ascii_whitespace().any(|w| w.eq_ignore_ascii_case(word)))
}
