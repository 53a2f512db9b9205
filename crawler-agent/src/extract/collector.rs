//! Collector: builds title, text, links and directives from the events of the parser.

use std::borrow::Cow;
use std::mem;

use htmlize::unescape_attribute;
use lol_html::send::Element;

use super::{
    LINK_BYTES, MAX_LINKS, directives::Directives, references::Bound, references::References,
    references::Rel, references::has_word, text::CollapsedText, tokenizer::Tokenizer,
    visible::VisibleText,
};

/// Longest attribute value that is used, in bytes: several times the longest URL.
const VALUE_BYTES: usize = 8 << 10;

/// What was collected so far.
#[derive(Debug)]
pub(super) struct Collector {
    pub(super) text: VisibleText,
    pub(super) lang: Option<String>,
    pub(super) base: Option<String>,
    /// The URL that the page itself should have, as it is written.
    pub(super) canonical: Option<String>,
    pub(super) references: References,
    pub(super) directives: Directives,
    /// Whether the head named a feed.
    has_feed: bool,
    tokenizer: Tokenizer,
    /// Bytes that the parser has put out.
    passed: usize,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            text: VisibleText::default(),
            lang: None,
            base: None,
            canonical: None,
            references: References::new(Bound { count: MAX_LINKS, bytes: LINK_BYTES }),
            directives: Directives::default(),
            has_feed: false,
            tokenizer: Tokenizer::default(),
            passed: 0,
        }
    }
}

impl Collector {
    /// The collection of a plain text.
    pub(super) fn of_text(text: CollapsedText) -> Self {
        Self { text: VisibleText::of_text(text), ..Self::default() }
    }

    /// Handles the start tag of an element with links or directives.
    pub(super) fn element(&mut self, element: &Element<'_, '_>) {
        match element.tag_name().as_str() {
            "html" => self.lang = self.lang.take().or_else(|| value(element, "lang")),
            "base" => self.base = self.base.take().or_else(|| value(element, "href")),
            "a" => self.link(element),
            "area" => self.reference(value(element, "href"), rel(element)),
            "frame" | "iframe" => self.reference(value(element, "src"), rel(element)),
            "link" => self.head_link(element),
            "meta" => self.meta(element),
            _ => {}
        }
    }

    /// Handles the output of the parser, which is the page itself.
    pub(super) fn output(&mut self, html: &[u8]) {
        self.passed += html.len();
        // It is UTF-8. Checking so is several times as fast as looking for what must be replaced.
        let html =
            str::from_utf8(html).map_or_else(|_| String::from_utf8_lossy(html), Cow::Borrowed);
        self.tokenizer.read(&html, |token| self.text.take(token));
    }

    /// Ends the page.
    pub(super) fn finish(&mut self) {
        self.tokenizer.finish(|token| self.text.take(token));
        self.text.finish();
        self.end_anchor();
    }

    /// Bytes that the parser is done with.
    pub(super) fn passed(&self) -> usize {
        self.passed
    }

    /// Elements that were opened so far.
    pub(super) fn opened(&self) -> usize {
        self.text.opened()
    }

    /// Memory of the collection and of the document that becomes of it, in bytes.
    pub(super) fn held(&self) -> usize {
        self.text.held() + self.references.held()
    }

    fn link(&mut self, element: &Element<'_, '_>) {
        self.end_anchor();
        let target = value(element, "href");
        let is_taken = target.is_some_and(|target| self.references.add(target, rel(element)));
        if is_taken {
            self.text.start_anchor();
        }
    }

    /// Handles a link of the head, which leads to a page, a feed, or something else.
    fn head_link(&mut self, element: &Element<'_, '_>) {
        let Some(relation) = value(element, "rel") else { return };
        let is = |word| has_word(&relation, word);
        let is_alternate = is("alternate") && !is("stylesheet");
        if is("canonical") {
            self.canonical = self.canonical.take().or_else(|| value(element, "href"));
        } else if is("next") || is("prev") || is_alternate && self.takes_alternate(element) {
            self.reference(value(element, "href"), Rel::of_words(&relation));
        }
    }

    /// Whether an alternate is the page in another language, or the first feed, which is that of
    /// the site: many sites have a further one for the comments of each page. Other alternates are
    /// the same page for devices and programs.
    fn takes_alternate(&mut self, element: &Element<'_, '_>) -> bool {
        let media_type = value(element, "type").unwrap_or_default().to_ascii_lowercase();
        match media_type.split(';').next().map(str::trim) {
            Some("application/rss+xml" | "application/atom+xml") => {
                !mem::replace(&mut self.has_feed, true)
            }
            Some("" | "text/html" | "application/xhtml+xml") | None => {
                element.get_attribute("hreflang").is_some()
            }
            Some(_) => false,
        }
    }

    fn reference(&mut self, target: Option<String>, rel: Rel) {
        // Its text must not become that of the new reference.
        self.end_anchor();
        if let Some(target) = target {
            self.references.add(target, rel);
        }
    }

    /// Gives the last link the text that was collected for it.
    fn end_anchor(&mut self) {
        if let Some(anchor) = self.text.end_anchor() {
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
