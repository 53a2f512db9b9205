//! Collector: builds title, text, links and directives from the events of the parser.

use htmlize::{unescape, unescape_attribute};
use lol_html::{
    html_content::{TextChunk, TextType},
    send::Element,
};

use super::{LINK_BYTES, MAX_LINKS, TEXT_BYTES, directives::Directives, text::Folded};

/// Longest title, in bytes.
const TITLE_BYTES: usize = 1_024;

/// Longest attribute value that is used, in bytes: several times the longest URL.
const VALUE_BYTES: usize = 8 << 10;

/// Inline elements: their tags do not separate words, as in `T<b>w</b>o`.
const INLINE: &[&str] = &[
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em",
    "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "s", "samp", "small", "span",
    "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
];

/// What was collected so far.
#[derive(Debug)]
pub(super) struct Collector {
    /// Text of the page's subject.
    pub(super) main: Folded,
    /// Text of navigation and other boilerplate.
    pub(super) boilerplate: Folded,
    pub(super) title: Folded,
    pub(super) lang: Option<String>,
    pub(super) base: Option<String>,
    pub(super) references: Vec<String>,
    /// Bytes of all references.
    reference_bytes: usize,
    pub(super) directives: Directives,
    /// The current text node, with its entities. They are decoded only when the node is complete,
    /// because a chunk may end inside one.
    node: String,
    kind: TextKind,
}

/// Kind of the current text node.
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
            main: Folded::new(TEXT_BYTES),
            boilerplate: Folded::new(TEXT_BYTES),
            title: Folded::new(TITLE_BYTES),
            lang: None,
            base: None,
            references: Vec::new(),
            reference_bytes: 0,
            directives: Directives::default(),
            node: String::new(),
            kind: TextKind::Main,
        }
    }
}

impl Collector {
    /// The collection of a plain text.
    pub(super) fn of_text(text: Folded) -> Self {
        Self { main: text, ..Self::default() }
    }

    /// Handles a start tag; returns whether the element separates words.
    pub(super) fn element(&mut self, element: &Element<'_, '_>) -> bool {
        let name = element.tag_name();
        match name.as_str() {
            "html" => self.lang = self.lang.take().or_else(|| value(element, "lang")),
            "base" => self.base = self.base.take().or_else(|| value(element, "href")),
            "a" | "area" => self.link(element, "href"),
            "frame" | "iframe" => self.link(element, "src"),
            "link" if has_word(element, "rel", "canonical") => self.link(element, "href"),
            "meta" => self.meta(element),
            _ => {}
        }
        let apart = !INLINE.contains(&name.as_str());
        if apart {
            self.break_word();
        }
        apart
    }

    pub(super) fn break_word(&mut self) {
        self.main.break_word();
        self.boilerplate.break_word();
    }

    pub(super) fn mark_title(&mut self) {
        self.kind = TextKind::Title;
    }

    pub(super) fn mark_boilerplate(&mut self) {
        self.kind = TextKind::Boilerplate;
    }

    /// Handles a chunk of a text node, after the node was marked.
    pub(super) fn text(&mut self, chunk: &TextChunk<'_>) {
        // Skips scripts, styles and comments, which the parser reports as other types of text.
        let wanted = match self.kind {
            TextKind::Title => chunk.text_type() == TextType::RCData,
            TextKind::Main | TextKind::Boilerplate => chunk.text_type() == TextType::Data,
        };
        if wanted && self.node.len() < TEXT_BYTES {
            self.node.push_str(chunk.as_str());
        }
        if chunk.last_in_text_node() {
            self.end_node();
        }
    }

    fn end_node(&mut self) {
        let text = unescape(self.node.as_str());
        match std::mem::take(&mut self.kind) {
            TextKind::Main => self.main.push(&text),
            TextKind::Boilerplate => self.boilerplate.push(&text),
            // Only the first title counts, so that later ones cannot extend it.
            TextKind::Title if self.title.is_empty() => self.title.push(&text),
            TextKind::Title => {}
        }
        self.node.clear();
    }

    fn link(&mut self, element: &Element<'_, '_>, attribute: &str) {
        if !has_word(element, "rel", "nofollow") {
            self.reference(value(element, attribute));
        }
    }

    fn reference(&mut self, reference: Option<String>) {
        let Some(reference) = reference else { return };
        let bytes = self.reference_bytes + reference.len();
        if self.references.len() < MAX_LINKS && bytes <= LINK_BYTES {
            self.reference_bytes = bytes;
            self.references.push(reference);
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
            self.reference(refresh_target(&content));
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

fn has_word(element: &Element<'_, '_>, attribute: &str, word: &str) -> bool {
    value(element, attribute)
        .is_some_and(|v| v.split_ascii_whitespace().any(|w| w.eq_ignore_ascii_case(word)))
}
